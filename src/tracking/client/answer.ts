import { bodyOf, type Fault, type Reply } from './exchange.ts'

/**
 * The answer to a push, or why there is none. `text`: the answer's `message` where it has one, else its body; at most 2 KiB,
 * without the secret; empty for a 200.
 */
export type ApiAnswer =
  | { readonly status: number; readonly text: string; readonly retryAfterMs?: number }
  | { readonly fault: Fault }

/** The answer for callers: the server may quote the request, so the secret is masked. */
export function answerOf(reply: Reply, secret: string): ApiAnswer {
  const { status, headers } = reply
  const body = bodyOf(reply)
  const text = body.length === 0 ? '' : cut(masked(messageOf(body.toString()), secret))
  const retryAfter = headers['retry-after']
  if (retryAfter === undefined) return { status, text }
  return { status, text, retryAfterMs: retryAfterMs(String(retryAfter), Date.now()) }
}

/** Milliseconds to wait from a Retry-After header in seconds or as an HTTP date; undefined where it is neither. */
export function retryAfterMs(header: string, now: number): number | undefined {
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  const date = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function messageOf(text: string): string {
  if (!text.startsWith('{')) return text
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}

/** Cuts at the limit, before a character that the limit would split. */
function cut(text: string): string {
  const bytes = Buffer.from(text)
  return bytes.length <= MAX_TEXT_BYTES
    ? text
    : new TextDecoder().decode(bytes.subarray(0, MAX_TEXT_BYTES), { stream: true })
}

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
  if (patterns.size === MAX_SECRETS) patterns.clear()
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

/** Matches both cases. V8 ignores the flag `(?i:)` in patterns of this length. */
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
const MAX_TEXT_BYTES = 2_048
