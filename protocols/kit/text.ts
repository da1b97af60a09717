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

  /** The next field as a finite number; undefined where it is empty or absent. */
  optionalNumber(): number | undefined {
    if (this.ended) return undefined
    const field = this.next()
    return field === '' ? undefined : number(field)
  }
}

/** The finite number that a whole text is. @throws DecodeError `malformed`. */
export function number(text: string): number {
  const value = +text
  if (text === '' || !(value - value === 0))
    throw new DecodeError('malformed', `"${text.slice(0, 40)}" is not a number`)
  return value
}

/** The members of a JSON object, not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The value of JSON text. @throws DecodeError `malformed`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new DecodeError('malformed', 'it is not JSON')
  }
}

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
  const value = optionalNumberOf(object, name)
  if (value === undefined) throw new DecodeError('malformed', `${name} is missing`)
  return value
}

/** A member that is a finite number; undefined where it is null or absent. @throws DecodeError `malformed`. */
export function optionalNumberOf(object: JsonObject, name: string): number | undefined {
  const value = object[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') throw new DecodeError('malformed', `${name} is a ${typeof value}, not a number`)
  if (!Number.isFinite(value)) throw new DecodeError('malformed', `${name} is not finite`)
  return value
}
