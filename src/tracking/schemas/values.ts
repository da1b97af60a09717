import * as z from 'zod'

const INT64_MAX = '9223372036854775807'
const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d{0,18})$/

/** What is wrong with an id that is none. */
export const INT64_FROM_0 = `expected an integer from 0 to ${INT64_MAX}`

/** What is wrong with an integer that a number cannot hold. */
export const SAFE_INTEGER = `expected an integer from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`

/** Text of `min` to `max` code points that UTF-8 can hold. */
export function textOf(min: number, max?: number) {
  const mistake = max === undefined ? 'expected text' : `expected text of ${min} to ${max} characters`
  return z
    .string(mistake)
    .refine((text) => text.isWellFormed(), 'expected text without lone surrogates')
    .refine((text) => isOfLength(text, min, max ?? Infinity), mistake)
    .meta({ ...(min > 0 && { minLength: min }), ...(max !== undefined && { maxLength: max }) })
}

/** Whether a text has `min` to `max` code points. Code units are looked at first: counting code points takes an array of them. */
export function isOfLength(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > 2 * max) return false
  if (text.length <= max && min <= 1) return true
  const { length } = Array.from(text)
  return length >= min && length <= max
}

/** An int64 in a JSON body: a number, or a bigint where a number might not be what was written. */
export function int64From(min: number) {
  return z
    .custom<number | bigint>(
      (value) => isInt64(value) && value >= min,
      `expected an integer from ${min} to ${INT64_MAX} in plain digits`,
    )
    .meta({ type: 'integer', format: 'int64', minimum: min })
}

function isInt64(value: unknown): value is number | bigint {
  return typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)
}

/** An int64 as text, in canonical decimal digits; `mistake`: what is said of anything else. */
export function int64Text(mistake: string) {
  return z.string(mistake).refine(isInt64Text, mistake).meta({ type: 'integer', format: 'int64' })
}

export function isInt64Text(text: string): boolean {
  return CANONICAL_INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

/** A coordinate, at most `most` to either side. */
export function degrees(most: number) {
  const mistake = `expected a number from -${most} to ${most}`
  return z.number(mistake).min(-most, mistake).max(most, mistake)
}
