/**
 * The text with `***` wherever the secret is in it, however each of its characters is written: as it is, percent-encoded, in a
 * JSON string, in HTML, the first two also more than once. The text may be bytes read as latin1.
 */
export function masked(text: string, secret: string): string {
  // No writing is shorter than the secret: answers of two bytes need no pattern.
  if (secret === '' || text.length < secret.length) return text
  const [start, ...rest] = patternsOf(secret)
  let shown = ''
  let at = 0
  start.lastIndex = 0
  for (let match = start.exec(text); match; match = start.exec(text)) {
    const end = rest.reduce((from, part) => endOf(part, text, from), start.lastIndex)
    if (end !== NONE) shown += `${text.slice(at, match.index)}***`
    start.lastIndex = end === NONE ? match.index + 1 : (at = end)
  }
  return shown + text.slice(at)
}

/** Where a part ends that begins there, if it does. */
function endOf(part: RegExp, text: string, from: number): number {
  if (from === NONE) return NONE
  part.lastIndex = from
  return part.test(text) ? part.lastIndex : NONE
}

/** One after the other they are the secret: V8 takes no pattern for 4,000 characters. */
function patternsOf(secret: string): readonly RegExp[] {
  const known = patterns.get(secret)
  if (known) return known
  if (patterns.size === MAX_SECRETS) patterns.clear()
  const writings = Array.from(secret, writingsOf)
  const made: RegExp[] = []
  for (let at = 0; at < writings.length; at += MAX_PART)
    made.push(new RegExp(writings.slice(at, at + MAX_PART).join(''), at === 0 ? 'g' : 'y'))
  patterns.set(secret, made)
  return made
}

/**
 * A pattern for one character. Repetition has a bound, and no two alternatives match the same: a page of backslashes, or of the
 * secret's first half, must not take for ever.
 */
function writingsOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const utf8 = Buffer.from(character)
  const percent = Array.from(utf8, (byte) => `%(?:25){0,3}${hex(byte, 2)}`)
  const json = units(character).map((unit) => `\\\\{1,3}u${unit}`)
  const html = [`#0{0,4}${code}`, `#[xX]0{0,4}${hex(code)}`, ...(ENTITIES.get(character) ?? [])]
  const plain = [`\\\\{0,3}${exactly(character)}`]
  if (character === ' ') plain.push('\\+')
  if (code > 0x7f) plain.push(exactly(utf8.toString('latin1')))
  return `(?:${plain.join('|')}|${percent.join('')}|${json.join('')}|&(?:${html.join('|')});)`
}

function exactly(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

function units(text: string): string[] {
  return text.split('').map((unit) => hex(unit.charCodeAt(0), 4))
}

/** In either case, without the flag: V8 forgets `(?i:)` in a pattern as long as these. */
function hex(code: number, digits = 1): string {
  return code
    .toString(16)
    .padStart(digits, '0')
    .replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

const ENTITIES = new Map([
  ['&', ['amp']],
  ['<', ['lt']],
  ['>', ['gt']],
  ['"', ['quot']],
  ["'", ['apos']],
])
const patterns = new Map<string, readonly RegExp[]>()
const MAX_SECRETS = 1000
const MAX_PART = 500
const NONE = -1
