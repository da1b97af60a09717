import { DecodeError } from './errors.ts'

/**
 * A cursor over text fields with one separator between them, read in order.
 * @throws DecodeError `truncated` where there is no field any more, `malformed` where one is not what was asked for.
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

  /** The next field, '' where it is empty. */
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

  /** What is left, separators and all; '' at the end. */
  rest(): string {
    const at = this.#at
    this.#at = this.#text.length + 1
    return this.#text.slice(at)
  }

  /** The next field as a finite number. */
  number(): number {
    return number(this.next())
  }

  /** The next field as a finite number, or undefined where it is empty or absent. */
  optionalNumber(): number | undefined {
    if (this.ended) return undefined
    const field = this.next()
    return field === '' ? undefined : number(field)
  }
}

/** A decimal number, whole text and finite. @throws DecodeError `malformed`. */
export function number(text: string): number {
  const value = +text
  if (text === '' || !(value - value === 0))
    throw new DecodeError('malformed', `"${text.slice(0, 40)}" is not a number`)
  return value
}
