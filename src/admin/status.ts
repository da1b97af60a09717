import { BEHIND_MS } from '../lanes/index.ts'
import type { Account } from './account.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import type { Rates } from './rates.ts'
import type { Upstream } from './upstream.ts'

/** Where the figures of the status come from. */
export interface StatusSources {
  readonly account: () => Promise<Account>
  readonly upstream: () => Promise<Upstream>
  readonly rates: () => Rates
  /** Ids of companies whose OAuth token the tracking API refuses. */
  readonly tokensRefused: () => string[]
  /** In which a time without an offset is read. */
  readonly zone: () => string
}

/** `GET /admin/status`: `oldest_at` is left out where nothing waits, `drained_at` where no backlog drains. */
export function statusOperations({ account, upstream, rates, tokensRefused, zone }: StatusSources): Operation[] {
  async function answer(): Promise<object> {
    const [{ waiting, parked, held, custody }, api] = await Promise.all([account(), upstream()])
    const { fixes, lanes, oldestAt } = waiting
    const now = rates()
    const drained = drainedAt({ waiting, upstream: api, rates: now, now: Date.now() })
    return {
      waiting: { fixes, lanes, oldest_at: instant(oldestAt) },
      parked,
      held,
      rates: now,
      upstream: {
        state: api.state,
        since_at: instant(api.since),
        drained_at: instant(drained),
        token_refused: tokensRefused(),
      },
      custody,
      time_zone: zone(),
    }
  }

  return [{ method: 'GET', path: '/admin/status', answer }]
}

interface Backlog {
  readonly waiting: Account['waiting']
  readonly upstream: Upstream
  readonly rates: Rates
  readonly now: number
}

/** When the lanes that are behind will be empty at the present rates; undefined where none is, or it grows. ms UTC. */
export function drainedAt({ waiting, upstream, rates, now }: Backlog): number | undefined {
  const { fixes, oldestAt = now } = waiting
  const drainPerS = rates.delivered_per_s - rates.received_per_s
  if (upstream.state !== 'up' || now - oldestAt <= BEHIND_MS || drainPerS <= 0) return undefined
  return now + (fixes / drainPerS) * 1000
}
