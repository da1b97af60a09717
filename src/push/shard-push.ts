import type { LimitFunction } from 'p-limit'
import { type Lease, Leases, type Redis } from '../lanes/index.ts'
import { type LaneOptions, LanePush } from './push-lane.ts'
import { type Ticket, Tickets } from './tickets.ts'
import { watchOverdue } from './watch.ts'

interface ShardPushOptions extends Omit<LaneOptions, 'leases'> {
  /** The connection of the shard, and its number. */
  readonly shard: Redis
  readonly number: number
  /** Limits the requests of all shards together. */
  readonly limit: LimitFunction
  /** How many worker processes live. */
  readonly workers: () => number
}

/** Pushes the lanes of one shard. */
export class ShardPush {
  readonly #options: ShardPushOptions
  readonly #leases: Leases
  readonly #lane: LaneOptions
  readonly #held = new Set<Lease>()
  readonly #tickets: Tickets
  readonly #renewing: NodeJS.Timeout
  readonly #overdue: NodeJS.Timeout

  constructor(options: ShardPushOptions) {
    const { batch, logger, shard } = options
    this.#options = options
    this.#leases = new Leases(shard, { maxPositions: batch.max_positions, maxWaitMs: batch.max_wait })
    this.#lane = { ...options, leases: this.#leases }
    this.#renewing = setInterval(() => this.#renew(), RENEW_MS)
    const idle = () => this.isIdle
    this.#tickets = new Tickets({ ...options, leases: this.#leases, idle, work: this.#work })
    this.#overdue = watchOverdue(shard, { idle, heal: () => this.#tickets.restart(), logger })
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

  /** Where Redis goes away, a lane waits until its lease ends; then it is offered again. */
  readonly #work = async ({ data }: Ticket): Promise<void> => {
    const { limit, logger } = this.#options
    const pushes = data.map(async (lease) => {
      this.#held.add(lease)
      await limit(() => new LanePush(lease, this.#lane).run()).catch((error: unknown) =>
        logger.debug({ err: error }, 'a lane waits for its lease to end'),
      )
      this.#held.delete(lease)
    })
    await Promise.all(pushes)
  }

  #renew(): void {
    if (this.#held.size > 0) this.#leases.renew([...this.#held]).catch(() => {})
  }
}

const RENEW_MS = 5000
