/**
 * The text with `***` wherever the secret is in it, however each of its characters is written: as it is, percent-encoded, in a
 * JSON string, in HTML, the first two also more than once. The text may be bytes read as latin1.
 */
export function masked(text: string, secret: string): string {
  // No writing is shorter than the secret: answers of two bytes need no pattern.
  return secret === '' || text.length < secret.length ? text : text.replaceAll(patternOf(secret), '***')
}

function patternOf(secret: string): RegExp {
  const known = patterns.get(secret)
  if (known) return known
  if (patterns.size === MAX_PATTERNS) patterns.clear()
  const pattern = new RegExp(Array.from(secret, writingsOf).join(''), 'g')
  patterns.set(secret, pattern)
  return pattern
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
const patterns = new Map<string, RegExp>()
const MAX_PATTERNS = 1000
