import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { keys, type Lease, LOADING } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'

/** The hand-out of due lanes to worker processes. A ticket that is lost heals when the leases of its lanes end. */
export interface Tickets {
  /** How many tickets no worker has taken yet. */
  waiting(): Promise<number>
  hand(leases: readonly Lease[]): Promise<void>
  /** Begins anew with new connections. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Lanes on one ticket. */
export const LANES_PER_TICKET = 32

/** Calls `work` for each ticket that this process takes. */
export function createTickets(redisUrl: string, logger: Logger, work: (leases: Lease[]) => Promise<void>): Tickets {
  let current = open(redisUrl, logger, work)
  return {
    waiting: () => current.queue.getWaitingCount(),
    async hand(leases) {
      const tickets = []
      for (let at = 0; at < leases.length; at += LANES_PER_TICKET)
        tickets.push({ name: 'lanes', data: leases.slice(at, at + LANES_PER_TICKET), opts: TICKET })
      await current.queue.addBulk(tickets)
    },
    async restart() {
      const before = current
      current = open(redisUrl, logger, work)
      await before.close()
    },
    close: () => current.close(),
  }
}

function open(redisUrl: string, logger: Logger, work: (leases: Lease[]) => Promise<void>) {
  const quietly = (error: Error) => logger.debug({ err: error }, 'tickets')
  const producer = new Redis(redisUrl, {
    ...LOADING,
    connectionName: 'waybridge-tickets',
    maxRetriesPerRequest: 1,
    socketTimeout: 15_000,
    autoResendUnfulfilledCommands: false,
    commandTimeout: 5000,
  })
  const consumer = new Redis(redisUrl, { ...LOADING, connectionName: 'waybridge-worker', maxRetriesPerRequest: null })
  const queue = new Queue<Lease[]>(NAME, { connection: producer, prefix: keys.tickets })
  const worker = new Worker<Lease[]>(NAME, ({ data }) => work(data), {
    connection: consumer,
    prefix: keys.tickets,
    concurrency: 64,
    lockDuration: 15_000,
    stalledInterval: 5_000,
    maxStalledCount: 0,
  })
  for (const connection of [producer, consumer]) connection.on('error', quietly)
  queue.on('error', quietly)
  worker.on('error', quietly)
  return {
    queue,
    async close() {
      await worker.close(true).catch(quietly)
      await queue.close().catch(quietly)
      producer.disconnect()
      consumer.disconnect()
    },
  }
}

const NAME = 'tickets'
const TICKET = { removeOnComplete: true, removeOnFail: true }
