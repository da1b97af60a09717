import * as z from 'zod'
import { CONDITIONS } from '../../diagnose/devices.ts'
import { FindingJson, LinkName, LinkHealth } from './findings.ts'
import { Count, each, Instant } from './parts.ts'
import { TrialAccountJson } from './trial.ts'

const ProcessJson = z.object({
  role: z.enum(['gateway', 'worker', 'admin', 'tracking']),
  pid: z.int(),
  host: z.string(),
  since_at: Instant,
  restarts: Count,
  last_seen_at: Instant,
})
export type ProcessJson = z.infer<typeof ProcessJson>

const LinkFiguresJson = z.object({
  link: LinkName,
  state: LinkHealth,
  count: ofWhole(Count),
  per_s: ofWhole(z.number()),
  /** The mean of each of the last 60 minutes, the oldest first. */
  hour: ofWhole(z.array(z.number())),
  findings: z.array(z.string()),
})
export type LinkFiguresJson = z.infer<typeof LinkFiguresJson>

const UpState = z.enum(['up', 'down', 'limited'])
/** The last push that failed. `not_the_api`: the message is how the page begins that came in place of an answer. */
const LastErrorJson = z.object({
  at: Instant,
  code: z.string(),
  status: z.int().optional(),
  ...each(z.string().optional(), 'message', 'content_type', 'location', 'request_id'),
  operation: z.string(),
})
const PushesJson = { last_error: ofWhole(LastErrorJson), ...each(ofWhole(Count), 'in_flight', 'slowest_ms') }

const CopyJson = z.object({
  name: z.string(),
  /** Scheme and host of its receiver. */
  to: z.string(),
  format: z.string(),
  /** `failing`: the receiver accepts nothing now; `full`: the oldest waiting fixes are discarded. */
  state: z.enum(['up', 'failing', 'full']),
  ...each(Count, 'waiting', 'delivered', 'parked', 'discarded'),
  /** Fixes that were forwarded, minus those with a known outcome; 0 while none moves. */
  difference: z.int(),
})
export type CopyJson = z.infer<typeof CopyJson>

export const StatusJson = z.object({
  /** These three are absent until Redis has answered once since the admin port was opened. */
  waiting: z.object({ fixes: Count, lanes: Count, oldest_at: Instant.optional() }).optional(),
  parked: z.object({ fixes: Count, lanes: Count }).optional(),
  held: z.object({ fixes: Count, devices: Count }).optional(),
  rates: ofWhole(z.object(each(z.number(), 'received_per_s', 'delivered_per_s'))),
  /** Of several tracking APIs the state of the worst. */
  upstream: z.object({
    state: UpState,
    since_at: Instant,
    /** When the backlog will be delivered at the present rate. */
    drained_at: ofWhole(Instant),
    /** Ids of companies whose OAuth token the tracking API refuses. */
    token_refused: z.array(z.string()),
    ...PushesJson,
  }),
  /** The tracking APIs, each with the companies that push to it. */
  apis: z.array(
    z.object({ api: z.string(), state: UpState, since_at: Instant, companies: z.array(z.string()), ...PushesJson }),
  ),
  verdict: z.string(),
  /** The same in the words of a dispatcher. */
  plain_verdict: z.string(),
  /** Those that are configured and the token sees. */
  companies: z.array(z.object({ company_id: z.string(), name: z.string().optional() })),
  processes: ofWhole(z.array(ProcessJson)),
  /** The primaries of Redis with their replicas; absent for the private Redis. */
  redis: ofWhole(
    z.array(
      z.object({
        /** `host:port`, also of a replica. */
        address: z.string(),
        shards: z.array(Count),
        /** `lag_s`: time since a replica's last confirmation; `lag_bytes`: what it has not confirmed. */
        replicas: z.array(z.object({ address: z.string(), state: z.string(), lag_s: Count, lag_bytes: Count })),
      }),
    ),
  ),
  links: z.array(LinkFiguresJson),
  /** Other receivers of the same positions; absent if none is configured. */
  copies: ofWhole(z.array(CopyJson)),
  custody: ofWhole(
    z.object({
      ...each(Count, 'received', 'filtered', 'delivered', 'redelivered', 'waiting', 'parked', 'held', 'discarded'),
      difference: z.int(),
    }),
  ),
  /** Account of frames on listeners with an old server; absent if there is no such listener. */
  trial: ofWhole(TrialAccountJson),
  /** While a listener has an old server. */
  on_trial: z.literal(true).optional(),
  findings: z.array(FindingJson),
  /** Number of configured devices in each condition. */
  vans: z.object(each(Count, ...CONDITIONS.filter((condition) => condition !== 'unknown'))),
  /** The time zone of times that are given without an offset. */
  time_zone: z.string(),
})
export type StatusJson = z.infer<typeof StatusJson>

/** Notes in the OpenAPI document what a token with `companies` does not get. */
function ofWhole<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().meta({ description: 'Of the whole system: absent for a token with companies.' })
}
