import { say, type Text } from '../texts/text.ts'
import { isDigits, sameId, withoutZeros } from './ids.ts'

/** The largest identifier of the tracking interface. */
const INT64_MAX = '9223372036854775807'

/** Returns a duration such as `500ms`, `1.5s`, `60s`, `5m`, `24h`, `90d` in ms; undefined if the text is no duration. */
export function duration(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text)
  return match ? Math.round(Number(match[1]) * MILLISECONDS[match[2] as keyof typeof MILLISECONDS]) : undefined
}

/**
 * Returns a size such as `1048576`, `512mb`, `2gb` in bytes (units of 1,024, as Redis counts); undefined if the text is no
 * size.
 */
export function bytes(text: string): number | undefined {
  const match = /^(\d{1,15})(b|kb|mb|gb)?$/i.exec(text)
  const size = match ? Number(match[1]) * BYTES[(match[2] ?? 'b').toLowerCase() as keyof typeof BYTES] : NaN
  return Number.isSafeInteger(size) ? size : undefined
}

/** Returns an int64 identifier as canonical decimal digits, `0042` as `42`; undefined if the text is no such id. */
export function int64(text: string): string | undefined {
  if (!isDigits(text)) return undefined
  const digits = withoutZeros(text)
  return digits.length < INT64_MAX.length || (digits.length === INT64_MAX.length && digits <= INT64_MAX)
    ? digits
    : undefined
}

/** Returns what is wrong with a text that should be an int64 identifier. */
export function int64Mistake(text: string): Text {
  if (isDigits(text)) return say('expected an id of at most {}', INT64_MAX)
  return isScientific(text)
    ? say('"{}" is an id that a spreadsheet has destroyed: format the column as text and enter the id again', text)
    : say('expected an id: a whole number from 0 to {}', INT64_MAX)
}

/** Whether a text looks like `3.56307E+14`, which is what spreadsheets make of long ids. */
export function isScientific(text: string): boolean {
  return /^\d(?:[.,]\d+)?E\+\d+$/i.test(text)
}

const MILLISECONDS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const BYTES = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/**
 * Returns why a secret or token is too easy to guess, and how to make a better one; undefined if it is strong enough. `id`:
 * the id of the device that the secret is for. The text never contains the secret.
 */
export function weaknessOf(secret: string, id?: string): string | undefined {
  if (secret.length < MIN_LENGTH) return `too short: use at least ${MIN_LENGTH} characters${HOW}`
  if (new Set(secret).size < 3) return `too easily guessed: use more different characters${HOW}`
  if (id !== undefined && sameId(secret) === sameId(id)) return `too easily guessed: it is the id of the device${HOW}`
  if (isSequence(secret)) return `too easily guessed: its characters follow each other${HOW}`
  return COMMON.has(secret.toLowerCase()) ? `too easily guessed: it is a common password${HOW}` : undefined
}

/** `12345678`, `abcdefgh`, `87654321`. */
function isSequence(secret: string): boolean {
  const steps = new Set<number>()
  for (let at = 1; at < secret.length; at++) steps.add(secret.charCodeAt(at) - secret.charCodeAt(at - 1))
  return steps.size === 1
}

const MIN_LENGTH = 8
const HOW = '; make one with: openssl rand -hex 16'
const COMMON = new Set('password passw0rd password1 password123 1234567890 qwertyuiop changeme letmein1'.split(' '))
