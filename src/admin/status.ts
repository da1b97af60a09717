import { everySecond } from '../async.ts'
import { BEHIND_MS, custodyCounters, keys, type Redis } from '../lanes/index.ts'
import type { FixAccount } from './custody.ts'
import { type Findings, findingJson } from './findings.ts'
import { instant, StatusJson } from './json.ts'
import type { Operation } from './operation.ts'

export interface StatusSources {
  readonly account: () => Promise<FixAccount>
  readonly upstream: () => Promise<Upstream>
  readonly findings: Pick<Findings, 'current'>
  readonly rates: () => Rates
  /** Ids of companies whose OAuth token the tracking API refuses. */
  readonly tokensRefused: () => string[]
  /** In which a time without an offset is read. */
  readonly zone: () => string
}

/** `GET /admin/status`: `oldest_at` is absent where nothing waits, `drained_at` where no backlog shrinks. */
export function statusOperations({
  account,
  upstream,
  findings,
  rates,
  tokensRefused,
  zone,
}: StatusSources): Operation[] {
  async function handle(): Promise<object> {
    const [{ waiting, parked, held, custody }, api] = await Promise.all([account(), upstream()])
    const { oldestAt, ...counts } = waiting
    const now = rates()
    return {
      waiting: { ...counts, oldest_at: instant(oldestAt) },
      parked,
      held,
      rates: now,
      upstream: {
        state: api.state,
        since_at: instant(api.since),
        drained_at: instant(drainedAt({ waiting, upstream: api, rates: now, now: Date.now() })),
        token_refused: tokensRefused(),
      },
      custody,
      findings: findings.current.map(findingJson),
      time_zone: zone(),
    }
  }

  const summary = 'Get how many fixes wait, are parked and held, and whether the tracking API accepts pushes'
  return [{ method: 'GET', path: '/admin/status', id: 'getStatus', summary, answer: StatusJson, handle }]
}

type Backlog = Pick<FixAccount, 'waiting'> & {
  readonly upstream: Upstream
  readonly rates: Rates
  readonly now: number
}

/** When the backlog will be delivered at the present rates, ms UTC; undefined where no lane is behind or the backlog grows. */
export function drainedAt({ waiting, upstream, rates, now }: Backlog): number | undefined {
  const { fixes, oldestAt = now } = waiting
  const drainPerS = rates.delivered_per_s - rates.received_per_s
  if (upstream.state !== 'up' || now - oldestAt <= BEHIND_MS || drainPerS <= 0) return undefined
  return now + (fixes / drainPerS) * 1000
}

/** Whether the tracking API accepts pushes. */
export interface Upstream {
  readonly state: 'up' | 'down' | 'limited'
  /** ms UTC. */
  readonly since: number
}

/** The state that the workers noted last; up since `startedAt` (ms UTC) where they noted none yet. */
export async function readUpstream(redis: Redis, startedAt: number): Promise<Upstream> {
  const { state, since } = await redis.hgetall(keys.upstream)
  if (state === undefined) return { state: 'up', since: startedAt }
  return { state: state as Upstream['state'], since: Number(since) }
}

/** Fixes per second over the last ten seconds, to a tenth. */
export interface Rates {
  readonly received_per_s: number
  readonly delivered_per_s: number
}

/** Reads the counters once a second. The rates are 0 until it has read them twice, and while Redis does not answer. */
export class RateWatch {
  readonly #reading: { stop(): Promise<void> }
  #samples: RateSample[] = []

  constructor(redis: Redis) {
    this.#reading = everySecond(() => this.#read(redis))
  }

  now(): Rates {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    return { received_per_s: rate('received', first, last), delivered_per_s: rate('delivered', first, last) }
  }

  close(): void {
    void this.#reading.stop()
  }

  async #read(redis: Redis): Promise<void> {
    const counters = await custodyCounters(redis).catch(() => undefined)
    if (!counters) return void (this.#samples = [])
    const [received = 0, delivered = 0] = [counters.get('received'), counters.get('delivered')]
    const last = this.#samples.at(-1)
    // Counters that fall: somebody emptied Redis.
    if (last && (received < last.received || delivered < last.delivered)) this.#samples = []
    this.#samples = [...this.#samples, { at: performance.now(), received, delivered }].slice(-SAMPLES)
  }
}

/** `at`: ms of the process' monotonic clock. */
type RateSample = Readonly<Record<'at' | 'received' | 'delivered', number>>

function rate(counter: 'received' | 'delivered', first?: RateSample, last?: RateSample): number {
  if (!first || !last || first === last) return 0
  return Math.round(((last[counter] - first[counter]) / (last.at - first.at)) * 10_000) / 10
}

/** One a second: the first and the last are ten seconds apart. */
const SAMPLES = 11
