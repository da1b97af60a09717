import { DecodeError, number } from '../kit/index.ts'

const COMMA = 0x2c
const POINT = 0x2e
const ZERO = 0x30

/** Beyond it a frame is a text message, in which nothing is looked for. */
const MAX_FIELDS = 64

/** The comma-separated fields of a line, found once and read where they stand. */
export class Fields {
  readonly #line: string
  /** Where each field begins, and one more. */
  readonly #starts: number[] = [0]

  constructor(line: string) {
    this.#line = line
    for (let at = 0; at < line.length && this.#starts.length < MAX_FIELDS; at++)
      if (line.charCodeAt(at) === COMMA) this.#starts.push(at + 1)
    this.#starts.push(line.length + 1)
  }

  get count(): number {
    return this.#starts.length - 1
  }

  /** 0 of a field beyond the last. */
  length(field: number): number {
    return field < this.count ? this.#starts[field + 1] - 1 - this.#starts[field] : 0
  }

  /** '' of a field beyond the last. */
  text(field: number): string {
    return field < this.count ? this.#line.slice(this.#starts[field], this.#starts[field + 1] - 1) : ''
  }

  /** The code of a field's only character; −1 where it has none or more. */
  letter(field: number): number {
    return this.length(field) === 1 ? this.#line.charCodeAt(this.#starts[field]) : -1
  }

  /** The code of a field's first character; of one without any, whatever follows. */
  first(field: number): number {
    return this.#line.charCodeAt(this.#starts[field])
  }

  /** A number without sign or exponent; undefined of an empty field. @throws DecodeError `malformed`. */
  decimal(field: number): number | undefined {
    const length = this.length(field)
    if (length === 0) return undefined
    if (length > 15) return number(this.text(field))
    const end = this.#starts[field] + length
    let value = 0
    let scale = 0
    for (let at = this.#starts[field]; at < end; at++) {
      const code = this.#line.charCodeAt(at)
      if (code >= ZERO && code <= ZERO + 9) {
        value = value * 10 + code - ZERO
        scale *= 10
      } else if (code === POINT && scale === 0) scale = 1
      else throw new DecodeError('malformed', `"${this.text(field)}" is not a number`)
    }
    return value / (scale || 1)
  }
}
