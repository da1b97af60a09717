/**
 * The text with `***` in place of each occurrence of the secret, whether its characters are written plainly, percent-encoded,
 * escaped for JSON or HTML; the first two also when encoded several times. The text may be bytes read as latin1.
 */
export function masked(text: string, secret: string): string {
  // No encoding is shorter than the secret itself: a short text needs no pattern.
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

/** Where a match of `part` that begins at `from` ends; NONE where there is no match. */
function endOf(part: RegExp, text: string, from: number): number {
  if (from === NONE) return NONE
  part.lastIndex = from
  return part.test(text) ? part.lastIndex : NONE
}

/** Patterns that match the secret when one follows the other: V8 compiles no single pattern for 4,000 characters. */
function patternsOf(secret: string): readonly RegExp[] {
  const known = patterns.get(secret)
  if (known) return known
  const encodings = Array.from(secret, encodingsOf)
  const made: RegExp[] = []
  for (let at = 0; at < encodings.length; at += MAX_PART)
    made.push(new RegExp(encodings.slice(at, at + MAX_PART).join(''), at === 0 ? 'g' : 'y'))
  patterns.set(secret, made)
  return made
}

/**
 * A pattern for all encodings of one character. Repetitions are bounded and no two alternatives match the same text, so that a
 * page of backslashes, or of the secret's first half, takes linear time.
 */
function encodingsOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const utf8 = Buffer.from(character)
  const percent = Array.from(utf8, (byte) => `%(?:25){0,3}${hex(byte, 2)}`)
  const json = character.split('').map((unit) => `\\\\{1,3}u${hex(unit.charCodeAt(0), 4)}`)
  const html = [`#0{0,4}${code}`, `#[xX]0{0,4}${hex(code)}`].concat(ENTITIES[character] ?? [])
  const plain = [`\\\\{0,3}${RegExp.escape(character)}`]
  if (character === ' ') plain.push('\\+')
  if (code > 0x7f) plain.push(RegExp.escape(utf8.toString('latin1')))
  return `(?:${plain.join('|')}|${percent.join('')}|${json.join('')}|&(?:${html.join('|')});)`
}

/** Matches both cases. V8 ignores the flag `(?i:)` in patterns of this length. */
function hex(code: number, digits = 1): string {
  return code
    .toString(16)
    .padStart(digits, '0')
    .replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

/**
 * The URL without its user name, password, apikey and other secret parameters, for logs and messages.
 * Takes any text: complete URLs, paths and anything else; never throws.
 */
export function printableUrl(url: string | URL): string {
  return withoutUser(String(url)).replace(SECRET_PARAMETER, '$1***')
}

function withoutUser(url: string): string {
  if (!URL.canParse(url)) return url.replace(USER, '$1***@')
  const parsed = new URL(url)
  if (parsed.username || parsed.password) {
    parsed.username = '***'
    parsed.password = ''
  }
  return parsed.href
}

/** A pattern for a parameter's name, each letter of which may be percent-encoded. */
function encodedName(name: string): string {
  return name.replaceAll(/[a-z]/g, (letter) => {
    const [lower, upper] = [letter, letter.toUpperCase()].map((each) => each.charCodeAt(0).toString(16))
    return `(?:${letter}|%${lower}|%${upper})`
  })
}

const ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }
const patterns = new Map<string, readonly RegExp[]>()
const MAX_PART = 500
const NONE = -1
const USER = /(\/\/)[^/?#\s]*@/g
const NAMES = ['api_?key', '(?:oauth_?|access_?)?token', 'secret', 'password'].map(encodedName)
const SECRET_PARAMETER = new RegExp(`([?&#;](?:${NAMES.join('|')})=)[^&#\\s]*`, 'gi')
