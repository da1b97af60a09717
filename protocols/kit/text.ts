import { DecodeError } from './errors.ts'

/**
 * A cursor over text fields with one separator between them, read in order.
 * @throws DecodeError `truncated` where no field is left, `malformed` where a field is not of the type that is read.
 */
export class TextReader {
  readonly #text: string
  readonly #separator: string
  #at = 0

  constructor(text: string, separator: string) {
    this.#text = text
    this.#separator = separator
  }

  /** Whether no field is left. */
  get ended(): boolean {
    return this.#at > this.#text.length
  }

  /** The next field; '' where it is empty. */
  next(): string {
    if (this.ended) throw new DecodeError('truncated')
    const at = this.#at
    const found = this.#text.indexOf(this.#separator, at)
    const end = found < 0 ? this.#text.length : found
    this.#at = end + this.#separator.length
    return this.#text.slice(at, end)
  }

  skip(n = 1): this {
    for (; n > 0; n--) this.next()
    return this
  }

  /** The fields that are left, with their separators; '' at the end. */
  rest(): string {
    const at = this.#at
    this.#at = this.#text.length + 1
    return this.#text.slice(at)
  }

  /** The next field as a finite number. */
  number(): number {
    return number(this.next())
  }

  /** The next field as a finite number; undefined where it is empty. */
  numberOrEmpty(): number | undefined {
    const field = this.next()
    return field === '' ? undefined : number(field)
  }

  /** The next field as a measurement; undefined where it is none, or absent: see `optionalNumber`. */
  optionalNumber(): number | undefined {
    return this.ended ? undefined : optionalNumber(this.next())
  }
}

/**
 * The number of blanks, a sign, digits and a point; undefined of blanks alone. Reading the characters takes a third of the time
 * of a conversion, and gives the same number: up to 15 digits and a power of ten are exact. `bad`: what becomes of any other text.
 */
export function decimal(text: string, bad: (text: string) => number | undefined): number | undefined {
  let begin = 0
  while (text.charCodeAt(begin) === BLANK) begin++
  if (begin === text.length) return undefined
  const sign = text.charCodeAt(begin)
  if (sign === PLUS || sign === MINUS) begin++
  let value = 0
  let scale = 0
  for (let i = begin; i < text.length; i++) {
    const digit = text.charCodeAt(i) - ZERO
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit
      scale *= 10
    } else if (digit === POINT && scale === 0) scale = 1
    else return bad(text)
  }
  if (text.length - begin > 15) value = +text.slice(begin)
  else if (text.length - begin === (scale === 0 ? 0 : 1)) return bad(text)
  else if (scale > 1) value /= scale
  if (!(value < Number.POSITIVE_INFINITY)) return bad(text)
  return sign === MINUS ? -value : value
}

const BLANK = 0x20
const PLUS = 0x2b
const MINUS = 0x2d
const ZERO = 0x30
/** The code of the point, relative to that of zero, as codes are compared here. */
const POINT = 0x2e - ZERO

/** The number of the hexadecimal digits of a text, from an index up to another; NaN if others or none are there. `parseInt` takes longer. */
export function hexadecimal(text: string, from = 0, to = text.length): number {
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = digitOf(text.charCodeAt(i))
    if (digit > 15) return Number.NaN
    value = value * 16 + digit
  }
  return from < to ? value : Number.NaN
}

/** The value of a hexadecimal digit, by its code; 16 of another character. */
export function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = (code | 0x20) - 0x61
  return letter >= 0 && letter < 6 ? 10 + letter : 16
}

/** @throws DecodeError `malformed`. */
export function malformed(text: string): never {
  throw new DecodeError('malformed', `"${text.slice(0, 40)}" is not a number`)
}

/** The values of text like 'A:1,B:2', by name, in any order; one without a name is left out. The last of several counts. */
export function pairs(text: string, separator: string, equals: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const pair of text.split(separator)) {
    const at = pair.indexOf(equals)
    if (at > 0) found.set(pair.slice(0, at).trim(), pair.slice(at + equals.length))
  }
  return found
}

/** The finite number that a whole text is; its decimals may stand behind a comma. @throws DecodeError `malformed`. */
export function number(text: string): number {
  const value = +text
  if (text !== '' && value - value === 0) return value
  return DECIMAL_COMMA.test(text) ? +text.replace(DECIMAL_COMMA, '$1.$2') : malformed(text)
}

const DECIMAL_COMMA = /^(\s*[-+]?\d{1,15}),(\d{1,20}\s*)$/

/**
 * A measurement beside a place (altitude, speed, course, accuracy, HDOP, satellites): a number, or the text of one. Undefined of
 * anything else, such as NaN, null, '5m': a fix is as good without it.
 */
export function optionalNumber(value: unknown, convert = (measured: number) => measured): number | undefined {
  const measured = typeof value === 'string' ? decimal(value, otherNumber) : value
  return typeof measured === 'number' && Number.isFinite(measured) ? convert(measured) : undefined
}

/** The number of text that `decimal` does not know, such as `1e3` and `2,5`; NaN of what is none. */
function otherNumber(text: string): number {
  return +text.replace(DECIMAL_COMMA, '$1.$2')
}

/** The members of a JSON object, not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The value of JSON text, in which NaN and Infinity, which Python and C write, are null. @throws DecodeError `malformed`. */
export function parseJson(text: string): unknown {
  if (!JSON_START.test(text)) throw new DecodeError('malformed', 'it is not JSON')
  const { stackTraceLimit } = Error
  // Anybody may send what is not JSON: a stack trace would cost more than the parsing.
  Error.stackTraceLimit = 0
  try {
    return JSON.parse(text)
  } catch {
    return parseWithoutNan(text)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function parseWithoutNan(text: string): unknown {
  const replaced = text.replace(STRING_OR_NAN, (token) => (token.startsWith('"') ? token : 'null'))
  try {
    if (replaced !== text) return JSON.parse(replaced)
  } catch {
    // It is not JSON in this way either.
  }
  throw new DecodeError('malformed', 'it is not JSON')
}

/** Blanks and the first character of a value, or of NaN and Infinity. */
const JSON_START = /^[ \t\r\n]*[[{"\-\dtfni]/i

const STRING_OR_NAN = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|-?\b(?:nan|infinity|inf)\b/gi

/**
 * The digits of a member that was parsed as this number, exact beyond 2^53 too: ids are longer than a number holds. The
 * text is searched because a reviver is called for every value and takes 30 times as long as the parsing.
 */
export function digitsOf(text: string, name: string, value: number): string {
  const members = text.matchAll(new RegExp(`"${name}"\\s*:\\s*(-?\\d+)`, 'g'))
  return [...members].findLast(([, digits]) => Number(digits) === value)?.[1] ?? String(value)
}

/** The value as an object. `what` names it in the error. @throws DecodeError `malformed`. */
export function objectOf(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DecodeError('malformed', `${what} is not an object`)
  return value as JsonObject
}

/** A member that must be a finite number. @throws DecodeError `malformed`. */
export function numberOf(object: JsonObject, name: string): number {
  const value = object[name]
  if (value === undefined || value === null) throw new DecodeError('malformed', `${name} is missing`)
  if (typeof value !== 'number') throw new DecodeError('malformed', `${name} is a ${typeof value}, not a number`)
  if (!Number.isFinite(value)) throw new DecodeError('malformed', `${name} is not finite`)
  return value
}

/** A member that is a measurement; undefined where it is none: see `optionalNumber`. */
export function optionalNumberOf(object: JsonObject, name: string): number | undefined {
  return optionalNumber(object[name])
}
