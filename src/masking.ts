/**
 * The text with `mask` in place of each occurrence of the secret, whether its characters are written plainly, percent-encoded,
 * escaped for JSON or HTML; the first two also when encoded several times. The text may be bytes read as latin1. A secret of
 * more than 500 characters is found by these, and ends at the next space, quotation mark or angle bracket.
 */
export function masked(text: string, secret: string, mask: (found: string) => string = () => '***'): string {
  // No encoding is shorter than the secret itself: a short text needs no pattern.
  if (secret === '' || text.length < secret.length) return text
  return text.replace(patternOf(secret), mask)
}

/**
 * The text with `mask` in place of what stands behind a word that names a secret: `token=…`, `"pwd": "…"`, `Authorization: …`,
 * `<password>…`. `isNumber`: it is a number, and JSON is broken if it does not stay one. Its bounds keep it in linear time.
 */
export function maskedBehindNames(text: string, mask: (found: string, isNumber: boolean) => string): string {
  return text.replace(NAMED, (_, name: string, quote: string | undefined, quoted: string, plain: string) => {
    if (quote !== undefined) return name + quote + mask(quoted, false)
    // A secret may be masked already that was a number in JSON.
    return name + mask(plain, (name.includes('"') ? MASKED_NUMBER : NUMBER).test(plain))
  })
}

/**
 * The words of a text (bytes read as latin1) that may be a secret: with and without signs that may be part of one, and as they are
 * before percent-encoding or JSON. Only the first 4 KB are looked at; a word has at most 256 characters, and there are at most a
 * few hundred.
 */
export function wordsOf(latin1: string): ReadonlySet<string> {
  const text = Buffer.from(latin1.slice(0, LOOKED_AT), 'latin1').toString()
  const words = new Set<string>()
  const add = (word: string) => {
    if (word.length >= SHORTEST && word.length <= LONGEST && words.size < MOST_WORDS) words.add(word)
  }
  for (const word of text.split(SPACES)) {
    for (const each of [word, decoded(word)]) {
      add(each)
      // What a name, or a word before, is written in front of.
      for (const { index } of each.slice(0, MOST_CHARACTERS).matchAll(MARKS)) add(each.slice(index + 1))
      for (const part of each.split(MARKS)) add(part)
    }
    // A length of one byte may be a character.
    if (word.charCodeAt(0) === word.length - 1) add(word.slice(1))
  }
  for (const [string] of text.matchAll(JSON_STRING)) add(unescaped(string))
  return words
}

function decoded(word: string): string {
  try {
    return word.includes('%') || word.includes('+') ? decodeURIComponent(word.replaceAll('+', ' ')) : word
  } catch {
    return word
  }
}

function unescaped(string: string): string {
  try {
    return JSON.parse(string) as string
  } catch {
    return string
  }
}

function patternOf(secret: string): RegExp {
  const known = patterns.get(secret)
  if (known) return known
  const characters = Array.from(secret)
  // V8 refuses to compile a pattern of thousands of characters: of a longer secret only its beginning is looked for.
  const encodings = characters.slice(0, MAX_CHARACTERS).map(encodingsOf)
  const pattern = new RegExp(encodings.join('') + (characters.length > MAX_CHARACTERS ? REST : ''), 'g')
  if (patterns.size >= MAX_PATTERNS) patterns.clear()
  patterns.set(secret, pattern)
  return pattern
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
  return String(url).replace(USER, '$1***@').replace(SECRET_PARAMETER, '$1***')
}

/** Short words name a secret as whole words alone: others end with them, as `compass` does. */
const NAMED = new RegExp(
  String.raw`((?:pass(?:w(?:or)?d|code|phrase)|pwd|secret(?:_?key)?|authorization|` +
    String.raw`\b(?:(?:access|api|app|auth|device|refresh|user)[_-]?)?(?:pass|auth|token|key))["']?\s{0,4}` +
    String.raw`[:=>]\s{0,4}(?:(?:basic|bearer|digest)\s{1,4})?)` +
    String.raw`(?:(["'])((?:(?!\2)[^\\]|\\.)*)|(?!(?:true|false|null)\b)([^\s&"'<>,;{}[\]]+))`,
  'gi',
)
const NUMBER = /^-?\d[\d.eE+-]*$/
const MASKED_NUMBER = /^-?[\d*][\d*.eE+-]*$/
/** What is in no secret, or has other encodings there. */
// oxlint-disable-next-line no-control-regex
const SPACES = /[\s,;&"'<>\0-\x1f\x7f\ufffd]+/
const MARKS = /[:=#*$|(){}[\]/?@!]/g
/** One that is cut off goes to the end: without that, each quotation mark in it would be looked at as another beginning. */
const JSON_STRING = /"(?:[^"\\]|\\[^]?)*(?:"|$)/g
const LOOKED_AT = 4096
const MOST_WORDS = 300
/** Characters of a word behind each of which a secret may begin. */
const MOST_CHARACTERS = 200
/** `check` asks for more of a secret. */
const SHORTEST = 4
/** A digest of all of a long word takes too long, of which a frame may have many. */
const LONGEST = 256
const ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }
const patterns = new Map<string, RegExp>()
const MAX_PATTERNS = 1000
const MAX_CHARACTERS = 500
const REST = '[^\\s"\'<>]*'
const USER = /(\/\/|^\w+:)[^/?#]*@/g
const SECRET_PARAMETER = /([?&#;](?:api_?key|(?:oauth_?|access_?)?token|secret|password)=)[^&#\s]*/gi
