import * as z from 'zod'

const INT64_MAX = '9223372036854775807'
const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d{0,18})$/
const INT64_FROM_0 = `expected an integer from 0 to ${INT64_MAX}`
/** The error for an integer that a number cannot hold exactly. */
const SAFE_INTEGER = `expected an integer from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`
/** A valid body of 4 MiB cannot have more objects. */
const MAX_OBJECTS = 105_000
const MAX_POSITIONS = 1_000

/** Fields whose integers may be beyond 2^53; such values are read from JSON exactly, as bigint. */
export const INT64_FIELDS: readonly string[] = ['timestamp', 'total_count', 'undelivered_count', 'item_id']

// One error for a value that is missing, repeated, wrong or of another type.
const SECONDS = 'expected unix seconds as one integer in decimal digits'
const PRICE = 'expected a decimal of at most 4 places, as text'
const PAGE_SIZE = 'expected one integer from 1 to 100'
export const NO_PAGE_TOKEN = 'expected one next_page_token of a page of this order'

/** An id as text, in canonical decimal digits: the type of every path parameter. */
export const Id = int64Text(INT64_FROM_0, 0)

/** An int64 as text, in canonical decimal digits. */
export const Int64Text = int64Text('expected an integer of 64 bits in decimal digits').meta({
  type: 'string',
  format: undefined,
  pattern: CANONICAL_INTEGER.source,
})

/** §2.2, the location of a position. */
const Point = z.object(
  { lat: degrees(90).describe('Degrees WGS 84.'), lon: degrees(180).describe('Degrees WGS 84.') },
  'expected an object with lat and lon',
)

/** §2.2, a position as sent. */
export const PositionV3 = z.object(
  {
    accuracy: z.int(SAFE_INTEGER).describe('Metres.'),
    point: Point,
    timestamp: int64From(0).describe('Unix seconds, UTC.'),
    heading: z.int(SAFE_INTEGER).describe('Degrees from true north.').optional(),
    speed: z.number('expected a number within 1.7e308').describe('Metres per second.').optional(),
  },
  'expected an object with accuracy, point and timestamp',
)
export type PositionV3 = z.infer<typeof PositionV3>

/** §4.3, the body of a push. */
export const PushPositions = z.object(
  { positions: boundedList(PositionV3, 0, MAX_POSITIONS) },
  'expected an object with positions',
)

/** §2.3, a position as returned. */
export const CourierPosition = z.object({
  lat: z.number().describe('Degrees WGS 84.'),
  lon: z.number().describe('Degrees WGS 84.'),
  timestamp: z.number().describe('Unix seconds, UTC.'),
  server_timestamp: z.number().describe('When the service received it, unix seconds.').optional(),
})
export type CourierPosition = z.infer<typeof CourierPosition>

export const CourierPositions = z.array(CourierPosition)

/** §4.4, the query; both ends included. */
export const IntervalQuery = z.object({
  from: int64Text(SECONDS).describe('Unix seconds.'),
  to: int64Text(SECONDS)
    .describe('Unix seconds, at most two hours after `from`; without it, two hours, at most until now.')
    .optional(),
})

/** §2.1, a contractor number as sent. */
export const ContractorNumber = z.object(
  { number: textOf(1, 80), name: textOf(0, 80).optional() },
  'expected an object with number',
)

/** §2.1, a contractor number as returned. */
export const StoredContractorNumber = ContractorNumber.extend({ id: int64From(0).describe('The contractor company.') })

/** §4.5, an item as sent. */
export const NewItem = z.object(
  {
    number: textOf(1, 80).describe('Unique in its order.'),
    description: textOf(0, 1_023),
    price: z
      .string(PRICE)
      .regex(/^(?:0|[1-9][0-9]*)(?:\.[0-9]{1,4})?$/, PRICE)
      .describe('A decimal of at most 4 places.'),
    total_count: int64From(1),
    code: textOf(0).optional(),
  },
  'expected an object with number, description, price and total_count',
)
export type NewItem = z.infer<typeof NewItem>

/** §4.5, the body that adds items. The interface lists no limit. */
export const NewItems = withoutRepeats(boundedList(NewItem, 1), 'number')

/** §4.5, an item as returned. */
export const Item = NewItem.extend({ id: int64From(1), undelivered_count: int64From(0), comment: textOf(0).optional() })

/** §4.5, how many of an item come back. */
export const ItemReturn = z.object(
  {
    item_id: int64From(0),
    undelivered_count: int64From(0).describe("At most the item's total_count."),
    comment: textOf(0).optional(),
  },
  'expected an object with item_id and undelivered_count',
)
export type ItemReturn = z.infer<typeof ItemReturn>

/** §4.5, the body of a return. The interface lists no limit. */
export const ItemReturns = withoutRepeats(boundedList(ItemReturn, 1), 'item_id')

/** §4.5, which page of an order's items. */
export const ItemsQuery = z.object({
  max_results: z
    .string(PAGE_SIZE)
    .refine((text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100, PAGE_SIZE)
    .transform(Number)
    .meta({ type: 'integer', minimum: 1, maximum: 100, default: 100 })
    .optional(),
  page_token: z.string(NO_PAGE_TOKEN).describe('The next_page_token of the page before.').optional(),
})

/** §4.5, a page of an order's items, in the order in which they were added. */
export const ItemsPage = z.object({ results: z.array(Item), next_page_token: z.string().optional() })

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

/** Schemas that have a name in OpenAPI documents, wherever an operation uses them. */
export const NAMED_SCHEMAS = {
  Id,
  ContractorNumber,
  StoredContractorNumber,
  Point,
  PositionV3,
  CourierPosition,
  NewItem,
  Item,
  ItemsPage,
  ItemReturn,
  Error: ErrorBody,
}

/** Well-formed text of `min` to `max` code points. */
function textOf(min: number, max?: number) {
  const mistake = max === undefined ? 'expected text' : `expected text of ${min} to ${max} characters`
  return z
    .string(mistake)
    .refine((text) => text.isWellFormed(), 'expected text without lone surrogates')
    .refine((text) => isOfLength(text, min, max ?? Infinity), mistake)
    .meta({ ...(min > 0 && { minLength: min }), ...(max !== undefined && { maxLength: max }) })
}

/** Returns whether a text has `min` to `max` code points. It counts them, which allocates memory, only if necessary. */
export function isOfLength(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > 2 * max) return false
  if (text.length <= max && min <= 1) return true
  const { length } = Array.from(text)
  return length >= min && length <= max
}

/** An int64 in a JSON body: a number, or a bigint if a number would not be exact. */
function int64From(min: number) {
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
function int64Text(mistake: string, minimum?: number) {
  const isRight = (text: string) =>
    CANONICAL_INTEGER.test(text) && isInt64(BigInt(text)) && BigInt(text) >= (minimum ?? -Infinity)
  return z.string(mistake).refine(isRight, mistake).meta({ type: 'integer', format: 'int64', minimum })
}

function degrees(most: number) {
  const mistake = `expected a number from -${most} to ${most}`
  return z.number(mistake).min(-most, mistake).max(most, mistake)
}

/** A list whose length is checked before its objects: a body can hold two million wrong ones. */
export function boundedList<Schema extends z.ZodType>(schema: Schema, min: number, max?: number) {
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
