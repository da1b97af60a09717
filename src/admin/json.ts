import * as z from 'zod'
import { LINKS } from '../diagnose/codes.ts'
import { CONDITIONS } from '../diagnose/devices.ts'
import type { Stay } from '../roster/device-entry.ts'

/** An instant as the admin port writes it, RFC 3339; undefined if there is none. */
export function instant(ms: number | undefined): string | undefined {
  return ms !== undefined && Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : undefined
}

/** The ids of a lane's name. */
export function laneIds(lane: string) {
  const [company_id, courier_id, route_id] = lane.split('/')
  return { company_id, courier_id, route_id }
}

/** The lane of a device, when the assignment holds, and what assigns it. */
export function stayJson({ lane, from, until, source }: Stay) {
  return { ...laneIds(lane.key), from_at: instant(from * 1000), until_at: instant(until * 1000), source }
}

/* The schemas of these parts of answers, for the OpenAPI document. */

// Beyond the year 9999 an instant has more digits than `z.iso.datetime` accepts.
export const Instant = z.string().meta({ format: 'date-time' })
export const Count = z.int().min(0)
export const Text = z.string()
export const LaneIds = z.object(each(Text, 'company_id', 'courier_id', 'route_id'))
export const StayJson = LaneIds.extend({ ...each(Instant.optional(), 'from_at', 'until_at'), source: Text })
/** Why a lane is parked whole. */
const ParkedJson = z.object({ status: z.int(), message: Text, tries: Count, at: Instant, since_at: Instant })

export const LaneJson = LaneIds.extend({
  waiting: Count,
  oldest_at: Instant.optional(),
  last_push: z.object({ at: Instant, status: z.union([z.int(), Text]) }).optional(),
  parked: ParkedJson.optional(),
})

/** A lane's parked positions: why it is parked whole, and what was refused, by answer. */
export const ParkedLaneJson = LaneIds.extend({
  fixes: Count,
  parked: ParkedJson.extend({ next_try_at: Instant.optional() }).optional(),
  refused: z.array(z.object({ status: z.int(), message: Text, at: Instant, first_at: Instant, count: Count })),
})

/** `device`: as the line has it. */
const LineRemarks = z.array(z.object({ line: z.int(), device: Text.optional(), message: Text }))

/** A route that a device loses; without bounds where its entry gives it the route for all times. */
export const TakenRouteJson = z.object({
  device: Text,
  name: Text.optional(),
  route_id: Text,
  ...each(Instant.optional(), 'from_at', 'until_at'),
})

/** The lines that a device loses, and those that it gets. */
export const VanChangeJson = z.object({
  device: Text,
  name: Text.optional(),
  ...each(z.array(StayJson.omit({ company_id: true, source: true })), 'before', 'after'),
})

const LineCounts = each(Count, 'added', 'changed', 'removed')

/**
 * What a put changes. `put`: its id, by which it can be taken back. `devices`: how many devices the company has.
 * `without_route`: the ids of those without a route. `takes`: the routes of devices that have none afterwards.
 * `changes`, in a dry run: the lines that differ, of the first 1,000 devices.
 */
export const RosterPutJson = z.object({
  ...LineCounts,
  put: Text.optional(),
  rejected: LineRemarks,
  warnings: LineRemarks.optional(),
  takes: z.array(TakenRouteJson).optional(),
  changes: z.array(VanChangeJson).optional(),
  without_route: z.array(Text),
  devices: Count,
})

/** What became of a file or a put; `by`: the token of a put; `undone`: it was taken back. */
export const RosterResultsJson = z.object({
  results: z.array(
    z.object({
      writer: Text,
      kind: z.enum(['file', 'put']),
      company_id: Text.optional(),
      at: Instant,
      by: Text.optional(),
      ...LineCounts,
      rejected: LineRemarks,
      warnings: LineRemarks,
      put: Text.optional(),
      undone: z.literal(true).optional(),
    }),
  ),
})

/** What an assignment changes: `text` says it in one sentence. */
export const AssignedJson = z.object({
  put: Text.optional(),
  ...each(Count, 'added', 'removed'),
  takes: z.array(TakenRouteJson),
  warnings: z.array(Text),
  text: Text,
})

export const LinkName = z.enum(LINKS)

/** One thing that is wrong. `subject` is empty if it concerns the whole system. */
export const FindingJson = z.object({
  code: Text,
  severity: z.enum(['info', 'warning', 'error']),
  link: LinkName,
  subject: z.object({
    device: Text.optional(),
    company_id: Text.optional(),
    courier_id: Text.optional(),
    route_id: Text.optional(),
    listener: Text.optional(),
    process: Text.optional(),
  }),
  since_at: Instant,
  ended_at: Instant.optional(),
  count: Count,
  evidence: z.array(Text),
  message: Text,
  action: Text,
})

export const StatusJson = z.object({
  /** These three are absent until Redis has answered for the first time since the admin port was opened. */
  waiting: z.object({ fixes: Count, lanes: Count, oldest_at: Instant.optional() }).optional(),
  parked: z.object({ fixes: Count, lanes: Count }).optional(),
  held: z.object({ fixes: Count, devices: Count }).optional(),
  rates: ofWhole(z.object(each(z.number(), 'received_per_s', 'delivered_per_s'))),
  upstream: z.object({
    state: z.enum(['up', 'down', 'limited']),
    since_at: Instant,
    /** When the backlog will be delivered at the present rate. */
    drained_at: ofWhole(Instant),
    /** Ids of companies whose OAuth token the tracking API refuses. */
    token_refused: z.array(Text),
    /** The last push that failed. `not_the_api`: the message is how the page begins that came in place of an answer. */
    last_error: ofWhole(
      z.object({
        at: Instant,
        code: Text,
        status: z.int().optional(),
        ...each(Text.optional(), 'message', 'content_type', 'location'),
        operation: Text,
      }),
    ),
    ...each(ofWhole(Count), 'in_flight', 'slowest_ms'),
  }),
  verdict: Text,
  /** Those that are configured and the token sees. */
  companies: z.array(z.object({ company_id: Text, name: Text.optional() })),
  processes: ofWhole(
    z.array(
      z.object({
        role: z.enum(['gateway', 'worker', 'admin', 'tracking']),
        pid: z.int(),
        host: Text,
        since_at: Instant,
        restarts: Count,
        last_seen_at: Instant,
      }),
    ),
  ),
  /** The primaries of Redis with their replicas; absent for the private Redis. */
  redis: ofWhole(
    z.array(
      z.object({
        /** `host:port`, also of a replica. */
        address: Text,
        shards: z.array(Count),
        /** `lag_s`: since a replica confirmed something; `lag_bytes`: what it has not confirmed. */
        replicas: z.array(z.object({ address: Text, state: Text, lag_s: Count, lag_bytes: Count })),
      }),
    ),
  ),
  links: z.array(
    z.object({
      link: LinkName,
      state: z.enum(['ok', 'broken', 'idle', 'unknown']),
      count: ofWhole(Count),
      per_s: ofWhole(z.number()),
      /** The mean of each of the last 60 minutes, the oldest first. */
      hour: ofWhole(z.array(z.number())),
      findings: z.array(Text),
    }),
  ),
  custody: ofWhole(
    z.object({
      ...each(Count, 'received', 'filtered', 'delivered', 'waiting', 'parked', 'held', 'discarded'),
      difference: z.int(),
    }),
  ),
  findings: z.array(FindingJson),
  /** Configured devices by what they do. */
  vans: z.object(each(Count, ...CONDITIONS.filter((condition) => condition !== 'unknown'))),
  /** The time zone of times that are given without an offset. */
  time_zone: Text,
})

/** Says in the OpenAPI document what a token with `companies` does not get. */
function ofWhole<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().meta({ description: 'Of the whole system: absent for a token with companies.' })
}

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ results: z.array(item), next_page_token: Text.optional() })
}

export function each<Schema extends z.ZodType, Name extends string>(schema: Schema, ...names: Name[]) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>
}

/** The last instant that a Date can hold, ms UTC. */
const LAST_MS = 8.64e15
