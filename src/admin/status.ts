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
}

/** `GET /admin/status`: `oldest_at` is left out where nothing waits. */
export function statusOperations({ account, upstream, rates }: StatusSources): Operation[] {
  async function answer(): Promise<object> {
    const [{ waiting, parked, held, custody }, { state, since }] = await Promise.all([account(), upstream()])
    const { fixes, lanes, oldestAt } = waiting
    return {
      waiting: { fixes, lanes, oldest_at: instant(oldestAt) },
      parked,
      held,
      rates: rates(),
      upstream: { state, since_at: instant(since) },
      custody,
    }
  }

  return [{ method: 'GET', path: '/admin/status', answer }]
}
