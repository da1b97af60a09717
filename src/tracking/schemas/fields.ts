import * as z from 'zod'

const INT64_MAX = '9223372036854775807'
const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d{0,18})$/

export const INT64_FROM_0 = `expected an integer from 0 to ${INT64_MAX}`

/** The error for an integer that a number cannot hold exactly. */
export const SAFE_INTEGER = `expected an integer from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`

/** Well-formed text of `min` to `max` code points. */
export function textOf(min: number, max?: number) {
  const mistake = max === undefined ? 'expected text' : `expected text of ${min} to ${max} characters`
  return z
    .string(mistake)
    .refine((text) => text.isWellFormed(), 'expected text without lone surrogates')
    .refine((text) => isOfLength(text, min, max ?? Infinity), mistake)
    .meta({ ...(min > 0 && { minLength: min }), ...(max !== undefined && { maxLength: max }) })
}

/** Whether a text has `min` to `max` code points. It counts code points, which allocates, only where code units cannot tell. */
export function isOfLength(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > 2 * max) return false
  if (text.length <= max && min <= 1) return true
  const { length } = Array.from(text)
  return length >= min && length <= max
}

/** An int64 in a JSON body: a number, or a bigint where a number would not be exact. */
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

/** An int64 as text, in canonical decimal digits; `mistake` is the error for anything else. */
export function int64Text(mistake: string, minimum?: number) {
  const isRight = (text: string) =>
    CANONICAL_INTEGER.test(text) && isInt64(BigInt(text)) && BigInt(text) >= (minimum ?? -Infinity)
  return z.string(mistake).refine(isRight, mistake).meta({ type: 'integer', format: 'int64', minimum })
}

export function degrees(most: number) {
  const mistake = `expected a number from -${most} to ${most}`
  return z.number(mistake).min(-most, mistake).max(most, mistake)
}

export const MAX_ERRORS = 20

/** A list whose length is checked before its objects: a body can hold two million wrong ones. */
export function listOf<Schema extends z.ZodType>(schema: Schema, min: number, max?: number) {
  const most = max ?? MAX_OBJECTS
  const mistake = `expected an array of ${min} or more objects`
  const tooMany = `expected at most ${most} objects: send them in parts`
  const list = z.array(schema).min(min)
  return z
    .array(z.unknown(), mistake)
    .refine(({ length }) => length >= min, { error: mistake, abort: true })
    .refine(({ length }) => length <= most, { error: tooMany, abort: true })
    .pipe(max === undefined ? list : list.max(max))
}

/** A list in which no two entries have the same value of `field`. */
export function withoutRepeats<Entry>(list: z.ZodType<Entry[]>, field: keyof Entry & string) {
  return list.superRefine((entries, context) => {
    const seen = new Set<string>()
    for (const [index, entry] of entries.entries()) {
      const value = String(entry[field])
      if (seen.has(value))
        context.addIssue({ code: 'custom', path: [index, field], message: 'it occurs twice in this body' })
      seen.add(value)
    }
  })
}

/** No body of 4 MiB has more objects that are right. */
const MAX_OBJECTS = 105_000
