import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { keys, type Lease } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'

/** The hand-out of due lanes to worker processes. A ticket that is lost heals when the leases of its lanes end. */
export interface Tickets {
  /** How many tickets no worker has taken yet. */
  waiting(): Promise<number>
  hand(leases: readonly Lease[]): Promise<void>
  /** Calls `work` for each ticket that this process takes. */
  take(work: (leases: Lease[]) => Promise<void>): void
  close(): Promise<void>
}

/** Lanes on one ticket. */
export const LANES_PER_TICKET = 32

export function createTickets(redisUrl: string, logger: Logger): Tickets {
  const producer = new Redis(redisUrl, {
    connectionName: 'waybridge-tickets',
    maxRetriesPerRequest: 1,
    lazyConnect: true,
  })
  const consumer = new Redis(redisUrl, {
    connectionName: 'waybridge-worker',
    maxRetriesPerRequest: null,
    lazyConnect: true,
  })
  const queue = new Queue<Lease[]>(NAME, { connection: producer, prefix: keys.tickets })
  queue.on('error', (error) => logger.debug({ err: error }, 'tickets'))
  let worker: Worker<Lease[]> | undefined

  return {
    waiting: () => queue.getWaitingCount(),
    async hand(leases) {
      const tickets = []
      for (let at = 0; at < leases.length; at += LANES_PER_TICKET)
        tickets.push({ name: 'lanes', data: leases.slice(at, at + LANES_PER_TICKET), opts: TICKET })
      await queue.addBulk(tickets)
    },
    take(work) {
      worker = new Worker<Lease[]>(NAME, ({ data }) => work(data), {
        connection: consumer,
        prefix: keys.tickets,
        concurrency: 64,
        lockDuration: 15_000,
        stalledInterval: 5_000,
        maxStalledCount: 0,
      })
      worker.on('error', (error) => logger.debug({ err: error }, 'tickets'))
    },
    async close() {
      await worker?.close(true)
      await queue.close()
      producer.disconnect()
      consumer.disconnect()
    },
  }
}

const NAME = 'tickets'
const TICKET = { removeOnComplete: true, removeOnFail: true }
