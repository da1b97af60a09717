import * as z from 'zod'

/** Most positions of one push. */
const MAX_POSITIONS = 1_000

/** Fields whose integers may lie beyond 2^53 and are read from JSON exactly, as bigint, where they do. */
export const INT64_FIELDS: readonly string[] = ['timestamp']

/** An int64 as text, in canonical decimal digits: what every id in a path is. */
export const Int64Text = z
  .string()
  .refine(isInt64Text, 'expected an integer of 64 bits in decimal digits')
  .meta({ type: 'integer', format: 'int64' })

/** An int64 in a JSON body: a number, or a bigint where a number would not be exact. */
const UnsignedInt64 = z
  .custom<number | bigint>(isUnsignedInt64, 'expected an integer from 0 to 9223372036854775807')
  .meta({ type: 'integer', format: 'int64', minimum: 0 })

/** §2.2, the location of a position, degrees WGS 84. */
const Point = z.object({ lat: z.number().min(-90).max(90), lon: z.number().min(-180).max(180) })

/** §2.2, a position as sent. */
export const PositionV3 = z.object({
  accuracy: z.int(),
  point: Point,
  timestamp: UnsignedInt64,
  heading: z.int().optional(),
  speed: z.number().optional(),
})
export type PositionV3 = z.infer<typeof PositionV3>

/** §4.3, the body of a push. Positions are counted before they are validated: 4 MiB hold 600,000 bad ones. */
export const PushPositions = z.object(
  { positions: z.array(z.unknown()).max(MAX_POSITIONS).pipe(z.array(PositionV3).max(MAX_POSITIONS)) },
  'expected an object with positions',
)

/** §2.3, a position as returned; times in unix seconds. */
export const CourierPosition = z.object({
  lat: z.number(),
  lon: z.number(),
  timestamp: z.number(),
  server_timestamp: z.number().optional(),
})
export type CourierPosition = z.infer<typeof CourierPosition>

/** §4.4, the answer. */
export const CourierPositions = z.array(CourierPosition)

function isInt64Text(text: string): boolean {
  return CANONICAL_INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

function isUnsignedInt64(value: unknown): boolean {
  if (typeof value === 'bigint') return value >= 0n && value < 2n ** 63n
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 63
}

const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d{0,18})$/
