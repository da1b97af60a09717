import * as z from 'zod'

const INT64_MAX = '9223372036854775807'

/** Most objects of one request: positions of a push, items, items to return. */
export const MAX_OBJECTS = 1_000

/** Fields whose integers may lie beyond 2^53 and are read from JSON exactly, as bigint, where they do. */
export const INT64_FIELDS: readonly string[] = ['timestamp', 'total_count', 'undelivered_count', 'item_id']

/** An id as text, in canonical decimal digits: what every parameter of a path is. */
export const Id = z
  .string()
  .refine((text) => isInt64Text(text) && !text.startsWith('-'), `expected an integer from 0 to ${INT64_MAX}`)
  .meta({ type: 'integer', format: 'int64', minimum: 0 })

/** An int64 as text, in canonical decimal digits. */
export const Int64Text = z
  .string()
  .refine(isInt64Text, 'expected an integer of 64 bits in decimal digits')
  .meta({ type: 'integer', format: 'int64' })

/** §2.2, the location of a position. */
export const Point = z.object({
  lat: z.number().min(-90).max(90).describe('Degrees WGS 84.'),
  lon: z.number().min(-180).max(180).describe('Degrees WGS 84.'),
})

/** §2.2, a position as sent. */
export const PositionV3 = z.object({
  accuracy: z.int().describe('Metres.'),
  point: Point,
  timestamp: int64From(0).describe('Unix seconds, UTC.'),
  heading: z.int().describe('Degrees from true north.').optional(),
  speed: z.number().describe('Metres per second.').optional(),
})
export type PositionV3 = z.infer<typeof PositionV3>

/** §4.3, the body of a push. Positions are counted before they are validated: 4 MiB hold 600,000 bad ones. */
export const PushPositions = z.object({ positions: listOf(PositionV3, 0) }, 'expected an object with positions')

/** §2.3, a position as returned. */
export const CourierPosition = z.object({
  lat: z.number().describe('Degrees WGS 84.'),
  lon: z.number().describe('Degrees WGS 84.'),
  timestamp: z.number().describe('Unix seconds, UTC.'),
  server_timestamp: z.number().describe('When the service received it, unix seconds.').optional(),
})
export type CourierPosition = z.infer<typeof CourierPosition>

/** §4.4, the answer. */
export const CourierPositions = z.array(CourierPosition)

/** §4.4, the query; both ends included. */
export const IntervalQuery = z.object({
  from: Int64Text.describe('Unix seconds.'),
  to: Int64Text.describe(
    'Unix seconds, at most two hours after `from`; without it, two hours, at most until now.',
  ).optional(),
})

/** §2.1, a contractor number as sent. */
export const ContractorNumber = z.object(
  { number: textOf(1, 80), name: textOf(0, 80).optional() },
  'expected an object with number',
)
export type ContractorNumber = z.infer<typeof ContractorNumber>

/** §2.1, a contractor number as returned. */
export const StoredContractorNumber = ContractorNumber.extend({ id: int64From(0).describe('The contractor company.') })
export type StoredContractorNumber = z.infer<typeof StoredContractorNumber>

/** §4.5, an item as sent. */
export const NewItem = z.object({
  number: textOf(1, 80).describe('Unique in its order.'),
  description: textOf(0, 1_023),
  price: z
    .string()
    .regex(/^(?:0|[1-9][0-9]*)(?:\.[0-9]{1,4})?$/, 'expected a decimal of at most 4 places, as text')
    .describe('A decimal of at most 4 places.'),
  total_count: int64From(1),
  code: textOf(0).optional(),
})
export type NewItem = z.infer<typeof NewItem>

/** §4.5, the body that adds items. */
export const NewItems = withoutRepeats(listOf(NewItem, 1), 'number')

/** §4.5, an item as returned. */
export const Item = NewItem.extend({ id: int64From(1), undelivered_count: int64From(0), comment: textOf(0).optional() })
export type Item = z.infer<typeof Item>

/** §4.5, how many of an item come back. */
export const ItemReturn = z.object({
  item_id: int64From(0),
  undelivered_count: int64From(0).describe("At most the item's total_count."),
  comment: textOf(0).optional(),
})
export type ItemReturn = z.infer<typeof ItemReturn>

/** §4.5, the body of a return. */
export const ItemReturns = withoutRepeats(listOf(ItemReturn, 1), 'item_id')

/** §4.5, which page of an order's items. */
export const ItemsQuery = z.object({
  max_results: z
    .string()
    .refine(
      (text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100,
      'expected an integer from 1 to 100',
    )
    .transform(Number)
    .meta({ type: 'integer', minimum: 1, maximum: 100, default: 100 })
    .optional(),
  page_token: z.string().describe('The next_page_token of the page before.').optional(),
})
export type ItemsQuery = z.infer<typeof ItemsQuery>

/** §4.5, a page of an order's items, in the order in which they were added. */
export const ItemsPage = z.object({ results: z.array(Item), next_page_token: z.string().optional() })
export type ItemsPage = z.infer<typeof ItemsPage>

/** §7, the body of every refusal. */
export const ErrorBody = z.object({
  message: z.string(),
  errors: z
    .array(
      z.object({
        path: z.string().describe('Which field, as in `positions.3.point.lat`; empty for the whole.'),
        message: z.string(),
      }),
    )
    .optional(),
})

/** Text of `min` to `max` code points that UTF-8 can hold. */
function textOf(min: number, max?: number) {
  const lengthMistake =
    max === undefined ? `expected at least ${min} characters` : `expected ${min} to ${max} characters`
  return z
    .string()
    .refine((text) => text.isWellFormed(), 'expected text without lone surrogates')
    .refine((text) => isOfLength(text, min, max ?? Infinity), lengthMistake)
    .meta({ ...(min > 0 && { minLength: min }), ...(max !== undefined && { maxLength: max }) })
}

/** Code units are looked at first: counting code points takes an array of them. */
function isOfLength(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > 2 * max) return false
  if (text.length <= max && min <= 1) return true
  const { length } = Array.from(text)
  return length >= min && length <= max
}

/** A list whose length is looked at before its objects are. */
function listOf<Schema extends z.ZodType>(schema: Schema, min: number) {
  const mistake = `expected an array of ${min} to ${MAX_OBJECTS} objects`
  const counted = z.array(z.unknown(), mistake).min(min, mistake).max(MAX_OBJECTS, mistake)
  return counted.pipe(z.array(schema).min(min).max(MAX_OBJECTS))
}

/** A list that has no value of a field twice. */
function withoutRepeats<Entry>(list: z.ZodType<Entry[]>, field: keyof Entry & string) {
  return list.superRefine((entries, context) => {
    const seen = new Set<string>()
    for (const [index, entry] of entries.entries()) {
      const value = String(entry[field])
      if (seen.has(value)) context.addIssue({ code: 'custom', path: [index, field], message: 'this body has it twice' })
      seen.add(value)
    }
  })
}

/** An int64 in a JSON body: a number, or a bigint where a number would not be exact. */
function int64From(min: number) {
  return z
    .custom<number | bigint>(
      (value) => isInt64(value) && value >= min,
      `expected an integer from ${min} to ${INT64_MAX}`,
    )
    .meta({ type: 'integer', format: 'int64', minimum: min })
}

function isInt64(value: unknown): value is number | bigint {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 63
}

function isInt64Text(text: string): boolean {
  return CANONICAL_INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d{0,18})$/
