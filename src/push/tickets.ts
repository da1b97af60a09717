import { setTimeout as sleep } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { within } from '../async.ts'
import type { Logger } from '../observe/log.ts'
import {
  isConnectionError,
  jobFaults,
  type Lease,
  type Leases,
  LOADING,
  LOOK_MS,
  type Shard,
  type Workers,
} from '../store/index.ts'
import { MOST_TICKETS, type PushApis } from './apis.ts'

export interface TicketsOptions {
  readonly leases: Leases
  readonly shard: Shard
  readonly logger: Logger
  /** They share what is due. */
  readonly workers: Pick<Workers, 'count'>
  readonly apis: Pick<PushApis, 'ids' | 'of'>
  /** Pushes leased lanes. Never rejects. */
  readonly work: (ticket: Ticket) => Promise<void>
}

/** The content of a job: leased lanes. */
export interface Ticket {
  readonly data: readonly Lease[]
}

/**
 * Hands out the due lanes of a shard as BullMQ jobs (tickets), and works on those that this process gets. Any number of
 * processes can do so at once: each lane is leased to one. A lost ticket heals when the leases of its lanes end.
 */
export class Tickets {
  readonly #options: TicketsOptions
  #isStopping = false
  #isRefused = false
  #queue: ReturnType<typeof openQueue>
  readonly #dispatching: Promise<void>

  constructor(options: TicketsOptions) {
    this.#options = options
    this.#queue = openQueue(options)
    this.#dispatching = this.#dispatch()
  }

  /** Opens new connections, unless it is stopping: nobody would close them. */
  async restart(): Promise<void> {
    if (this.#isStopping) return
    const before = this.#queue
    this.#queue = openQueue(this.#options)
    await before.close()
  }

  /** Claims no more lanes. Waits a second for Redis at most. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await within(LAST_ANSWER_MS, this.#dispatching)
  }

  async close(): Promise<void> {
    this.#isStopping = true
    await this.#queue.close()
  }

  async #dispatch(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await sleep(await this.#handOut())
      } catch (error) {
        jobFaults(this.#options.logger)(error, 'hand-out of lanes')
        await sleep(REDIS_AGAIN_MS)
      }
    }
  }

  /** Hands out the lanes that are due. Resolves to the ms until the next look. */
  async #handOut(): Promise<number> {
    const { apis, leases, logger, work } = this.#options
    const claimed = await leases.claim(LANES_PER_CLAIM)
    const againMs = leases.isMoreDue ? 0 : LOOK_MS
    if (claimed.length === 0) return againMs
    // A slow API would keep the ticket from ending for the lanes of others.
    const byApi = Map.groupBy(claimed, ({ lane }) => apis.of(lane).api)
    const tickets = [...byApi.values()].flatMap((lanes) => this.#ticketsOf(lanes))
    const { length: count } = apis.ids()
    this.#queue.setApis(count)
    try {
      await this.#queue.tickets.addBulk(tickets)
      this.#isRefused = false
    } catch (error) {
      // The memory of Redis is full: delivering makes room. Once in the log until tickets can be stored again.
      if (!this.#isRefused && !isConnectionError(error as Error))
        logger.warn({ err: error }, 'tickets cannot be stored: this process pushes the lanes that it has claimed')
      this.#isRefused = true
      const working = tickets.map(({ data }) => work({ data }))
      // A slow API must not keep the lanes of others from being handed out.
      await (count > 1 ? Promise.race(working) : Promise.all(working))
    }
    return againMs
  }

  #ticketsOf(lanes: Lease[]) {
    const share = Math.ceil(lanes.length / this.#options.workers.count)
    const size = Math.min(Math.max(share, FEWEST_LANES), MOST_LANES)
    const tickets = []
    for (let at = 0; at < lanes.length; at += size)
      tickets.push({ name: 'lanes', data: lanes.slice(at, at + size), opts: TICKET })
    return tickets
  }
}

/** BullMQ needs its own connections. */
function openQueue({ logger, work, shard }: TicketsOptions) {
  const report = (error: Error) => logger.debug({ err: error }, 'tickets')
  const producer = shard.openAnother(PRODUCER)
  const consumer = shard.openAnother(CONSUMER)
  const { tickets: prefix } = shard.keyNames
  const tickets = new Queue<Lease[]>(NAME, { connection: producer, prefix })
  const worker = new Worker<Lease[]>(NAME, work, {
    connection: consumer,
    prefix,
    concurrency: MOST_TICKETS,
    lockDuration: 15_000,
    stalledInterval: 5_000,
    maxStalledCount: 0,
  })
  for (const connection of [producer, consumer]) connection.on('error', report)
  tickets.on('error', report)
  worker.on('error', (error) => {
    report(error)
    if (!worker.isPaused()) void rest(worker)
  })
  return {
    tickets,
    /**
     * Makes room for the tickets of this many APIs, and one more: other processes may claim lanes of an API that this one has
     * no room for.
     */
    setApis(count: number) {
      worker.concurrency = count === 1 ? MOST_TICKETS : MOST_TICKETS * (count + 1)
    },
    async close() {
      await worker.close(true).catch(report)
      await tickets.close().catch(report)
      producer.disconnect()
      consumer.disconnect()
    },
  }
}

/** BullMQ itself retries without a pause if Redis refuses its script, as it does without a replica. */
async function rest(worker: Worker): Promise<void> {
  await worker.pause(true)
  await sleep(REDIS_AGAIN_MS)
  await worker.resume()
}

const NAME = 'tickets'
const PRODUCER = {
  ...LOADING,
  connectionName: 'waybridge-tickets',
  maxRetriesPerRequest: 1,
  socketTimeout: 15_000,
  autoResendUnfulfilledCommands: false,
  commandTimeout: 5000,
}
const CONSUMER = { ...LOADING, connectionName: 'waybridge-worker', maxRetriesPerRequest: null }
const TICKET = { removeOnComplete: true, removeOnFail: true }
const LANES_PER_CLAIM = 512
/** Of a ticket: a worker's share within these bounds. */
const FEWEST_LANES = 32
const MOST_LANES = 256
const REDIS_AGAIN_MS = 500
const LAST_ANSWER_MS = 1000
