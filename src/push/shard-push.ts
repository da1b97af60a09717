import { jobFaults, type Lease, Leases, type Workers } from '../store/index.ts'
import type { PushApis } from './apis.ts'
import { type LaneOptions, LanePush } from './lane-push.ts'
import { type Ticket, Tickets } from './tickets.ts'
import { healOverdue } from './watchdog.ts'

interface ShardPushOptions extends Omit<LaneOptions, 'leases'> {
  readonly batch: LaneOptions['batch'] & { readonly max_wait: number }
  readonly apis: PushApis
  readonly workers: Workers
}

/** Pushes the lanes of one shard, or the parts of lanes that it has. */
export class ShardPush {
  readonly #options: ShardPushOptions & LaneOptions
  readonly #held = new Set<Lease>()
  readonly #tickets: Tickets
  readonly #renewing: NodeJS.Timeout
  readonly #overdue: NodeJS.Timeout
  readonly #onFault: (error: unknown, job: string) => void

  constructor(options: ShardPushOptions) {
    const { apis, batch, keep, shard, logger } = options
    const leases = new Leases(shard, {
      maxPositions: batch.max_positions,
      maxWaitMs: batch.max_wait,
      keepMs: keep.delivered,
      apis: apis.lanes,
    })
    this.#options = { ...options, leases }
    this.#onFault = jobFaults(logger)
    this.#renewing = setInterval(() => this.#renew(), RENEW_MS)
    this.#tickets = new Tickets({ ...this.#options, work: this.#work })
    this.#overdue = healOverdue(shard, {
      idle: () => this.isIdle,
      heal: () => this.#tickets.restart(),
      areSeveral: () => apis.lanes() !== undefined,
      logger,
    })
  }

  /** Whether this process pushes nothing of the shard now. */
  get isIdle(): boolean {
    return this.#held.size === 0
  }

  /** Claims no more lanes; those that are held stay leased. */
  async stop(): Promise<void> {
    clearInterval(this.#overdue)
    await this.#tickets.stop()
  }

  async close(): Promise<void> {
    clearInterval(this.#renewing)
    await this.#tickets.close()
  }

  /** Looks anew which API the lanes go to that were set aside because of these. Where Redis does not answer, they are due in a minute. */
  recall(apis: readonly string[]): void {
    this.#options.leases.recall(apis).catch((error: unknown) => this.#onFault(error, 'lanes of changed APIs'))
  }

  /** Where Redis goes away, a lane waits until its lease ends; then it is offered again. */
  readonly #work = async ({ data }: Ticket): Promise<void> => {
    const { apis } = this.#options
    const pushes = data.map(async (lease) => {
      const to = apis.of(lease.lane)
      lease.api = to.api.id
      this.#held.add(lease)
      await to.api
        .limit(() => new LanePush(lease, to, this.#options).run())
        .catch((error: unknown) => this.#onFault(error, 'push of a lane'))
      this.#held.delete(lease)
    })
    // The lanes of a ticket are of one API, unless it was changed since they were claimed.
    const { api } = apis.of(data[0]?.lane ?? '')
    api.tickets++
    await Promise.all(pushes)
    api.tickets--
  }

  #renew(): void {
    const { leases } = this.#options
    if (this.#held.size > 0)
      leases.renew([...this.#held]).catch((error: unknown) => this.#onFault(error, 'renewal of leases'))
  }
}

const RENEW_MS = 5000
