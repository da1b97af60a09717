import * as z from 'zod'

/** RFC 3339. Beyond the year 9999 an instant has more digits than `z.iso.datetime` accepts. */
export const Instant = z.string().meta({ format: 'date-time' })
/** From when until when. */
export const SpanJson = z.object({ from_at: Instant, until_at: Instant })
export const Count = z.int().min(0)
/** Whether something is wanted, in a query. */
export const Flag = z.enum(['true', 'false'], 'expected true or false').optional()

/** Returns the schema of a query parameter that must occur exactly once; `meaning`: its purpose, for the error. */
export function onceText(meaning: string) {
  return z.string({ error: ({ input }) => `${input === undefined ? 'missing' : 'needed once'}: ${meaning}` })
}

/** A query of a change with these parameters alone: a misspelt one, such as `dry-run`, must not be ignored. */
export function closedQuery<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape)
    .join(', ')
    .replace(/, (?!.*,)/, ' and ')
  return z.object(shape).catchall(z.unknown().refine(() => false, `unknown: expected ${known} alone`))
}

export const LaneIds = z.object(each(z.string(), 'company_id', 'courier_id', 'route_id'))
/** The lane of a device, when the assignment holds, and what assigns it. */
export const StayJson = LaneIds.extend({ ...each(Instant.optional(), 'from_at', 'until_at'), source: z.string() })
export type StayJson = z.infer<typeof StayJson>

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ results: z.array(item), next_page_token: z.string().optional() })
}
export type PageJson<Item> = z.infer<ReturnType<typeof pageSchema<z.ZodType<Item>>>>

/** The same schema for each name. */
export function each<Schema extends z.ZodType, Name extends string>(schema: Schema, ...names: Name[]) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>
}
