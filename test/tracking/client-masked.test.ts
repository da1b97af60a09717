import { expect, it } from 'vitest'
import { masked } from '../../src/masking.ts'

const SECRET = 'y0_aB/9+=.é🚚"'
const ESCAPES: readonly (readonly [name: string, write: (character: string) => string])[] = [
  ['as it is', (character) => character],
  ['percent-encoded', percent],
  ['percent-encoded in lower case', (character) => percent(character).toLowerCase()],
  ['percent-encoded twice', (character) => percent(character).replaceAll('%', '%25')],
  ['as JSON has it', (character) => JSON.stringify(character).slice(1, -1)],
  ['as PHP writes JSON', (character) => JSON.stringify(character).slice(1, -1).replace('/', '\\/')],
  ['as a JSON string in a JSON string', (character) => JSON.stringify(JSON.stringify(character)).slice(3, -3)],
  ['by code units', units],
  [
    'by code units in upper case',
    (character) => units(character).replaceAll(/[\da-f]{4}/g, (hex) => hex.toUpperCase()),
  ],
  ['in decimal entities', (character) => `&#${character.codePointAt(0)};`],
  ['in hexadecimal entities', (character) => `&#x${character.codePointAt(0)?.toString(16)};`],
  ['in hexadecimal entities, filled', (character) => `&#X00${character.codePointAt(0)?.toString(16).toUpperCase()};`],
  ['as HTML names it', (character) => character.replace('"', '&quot;')],
  ['in bytes read as latin1', (character) => Buffer.from(character).toString('latin1')],
]

it.each(ESCAPES)('masks a secret written %s', (_, write) => {
  expect(masked(`<p>${Array.from(SECRET, write).join('')}</p>`, SECRET)).toBe('<p>***</p>')
})

it.each(ESCAPES)('masks a secret with every second character written %s', (_, write) => {
  const mixed = Array.from(SECRET, (character, index) => (index % 2 ? write(character) : character)).join('')
  expect(masked(`x=${mixed}&y`, SECRET)).toBe('x=***&y')
})

it('masks each occurrence of a secret', () => {
  expect(masked('a%2Fb, a/b, a%2fb', 'a/b')).toBe('***, ***, ***')
})

it.each(['a b', 'a+b', 'a%20b'])('masks a secret with a space written as %s', (written) => {
  expect(masked(`<${written}>`, 'a b')).toBe('<***>')
})

it.each([
  ['of another case', 'A/B'],
  ['with other characters between', 'a//b'],
  ['in part', 'a/'],
  ['of characters that a pattern has a use for', 'a.b'],
  ['and no named entity', 'a&undefined;b'],
])('masks no text %s', (_, text) => {
  expect(masked(text, 'a/b')).toBe(text)
})

it.each([500, 501, 4000, 16_000])('masks a secret of %d characters', (length) => {
  const secret = `y0_${'aB/9+=.'.repeat(length)}`.slice(0, length)
  expect(masked(`x${secret.slice(2)}<${secret}>"${encodeURIComponent(secret)}"`, secret)).toBe(
    `x${secret.slice(2)}<***>"***"`,
  )
})

it('masks nothing for an empty secret', () => {
  expect(masked('text', '')).toBe('text')
})

it.each(['\\', '%25', '&#0', 'a'])('searches a page of repeated %s in linear time', (repeated) => {
  const page = repeated.repeat(200_000)
  expect(masked(page, `${'a'.repeat(40)}/b`)).toBe(page)
})

function percent(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')
}

function units(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
