/**
 * Returns the text with `mask` in place of each occurrence of the secret, whether its characters are plain, percent-encoded,
 * or escaped for JSON or HTML; the first two also if encoded several times. The text may be bytes read as latin1. Of a secret
 * with more than 500 characters, only these are searched for; it then ends at the next space, quotation mark or angle
 * bracket.
 */
export function masked(text: string, secret: string, mask: (found: string) => string = () => '***'): string {
  // No encoding is shorter than the secret itself: a short text needs no pattern.
  if (secret === '' || text.length < secret.length) return text
  return text.replace(patternOf(secret), mask)
}

/** Returns what a receiver answers without what it may quote: these secrets, and the parts of its URL that may be secret. */
export function withoutSecrets(text: string, url: string, secrets: readonly string[]): string {
  const { pathname, search, searchParams } = new URL(url)
  const parts = [...secrets, pathname, search, ...pathname.split('/'), ...searchParams.values()]
  return parts.filter(({ length }) => length >= SHORTEST_PART).reduce((shown, part) => masked(shown, part), text)
}

/**
 * Returns the text with `mask` in place of the value after a word that names a secret: `token=…`, `"pwd": "…"`,
 * `Authorization: …`, `<password>…`. `isNumber`: the value is a number, and must stay one to keep the JSON valid. All
 * repetitions are bounded, so it runs in linear time.
 */
export function maskedBehindNames(text: string, mask: (found: string, isNumber: boolean) => string): string {
  return text.replace(NAMED, (_, name: string, quote: string | undefined, quoted: string, plain: string) => {
    if (quote !== undefined) return name + quote + mask(quoted, false)
    // A secret may be masked already that was a number in JSON.
    return name + mask(plain, (name.includes('"') ? MASKED_NUMBER : NUMBER).test(plain))
  })
}

/**
 * Returns the words of a text (bytes read as latin1) that may be a secret: with and without punctuation that may belong to
 * one, and decoded from percent-encoding or JSON. Looks at the first 4 KB only; a word has at most 256 characters, and there
 * are at most a few hundred.
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
      // Positions after a name, or after another word.
      for (const { index } of each.slice(0, MOST_CHARACTERS).matchAll(MARKS)) add(each.slice(index + 1))
      for (const part of each.split(MARKS)) add(part)
    }
    // A length of one byte may look like a character.
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
 * Returns a pattern for all encodings of one character. Repetitions are bounded and no two alternatives match the same text,
 * so that a page of backslashes, or of the secret's first half, takes linear time.
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
/** Characters that no secret contains, or that are encoded there. */
// oxlint-disable-next-line no-control-regex
const SPACES = /[\s,;&"'<>\0-\x1f\x7f\ufffd]+/
const MARKS = /[:=#*$|(){}[\]/?@!]/g
/** A truncated string extends to the end: otherwise each quotation mark in it would be tried as another beginning. */
const JSON_STRING = /"(?:[^"\\]|\\[^]?)*(?:"|$)/g
const LOOKED_AT = 4096
/** A shorter part of a URL is a word such as `hooks`. */
const SHORTEST_PART = 8
const MOST_WORDS = 300
/** Characters of a word after each of which a secret may begin. */
const MOST_CHARACTERS = 200
/** `check` asks for more of a secret. */
const SHORTEST = 4
/** Longest word: digests of all parts of a long word take too long, and a frame may have many. */
const LONGEST = 256
const ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }
const patterns = new Map<string, RegExp>()
const MAX_PATTERNS = 1000
const MAX_CHARACTERS = 500
const REST = '[^\\s"\'<>]*'
const USER = /(\/\/|^\w+:)[^/?#]*@/g
const SECRET_PARAMETER = /([?&#;](?:api_?key|(?:oauth_?|access_?)?token|secret|password)=)[^&#\s]*/gi
