import { setTimeout as sleep } from 'node:timers/promises'
import type { Lease, Leases } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { LANES_PER_TICKET, type Tickets } from './tickets.ts'

export interface DispatcherOptions {
  /** Works lanes in this very process. */
  readonly work: (leases: readonly Lease[]) => Promise<void>
  readonly logger: Logger
}

/**
 * Hands out the lanes that are due as tickets. Any number of dispatchers may run at once: a lane is leased to one. While
 * workers are behind nothing is claimed, so that leases do not end in the queue; batches grow instead.
 */
export function startDispatcher(
  leases: Leases,
  tickets: Tickets,
  { work, logger }: DispatcherOptions,
): { stop(): Promise<void> } {
  const stopping = new AbortController()

  async function dispatch(): Promise<boolean> {
    const room = MAX_WAITING - (await tickets.waiting())
    if (room <= 0) return false
    const limit = Math.min(room * LANES_PER_TICKET, 1000)
    const claimed = await leases.claim(limit)
    if (claimed.length > 0) await tickets.hand(claimed).catch((error: unknown) => workHere(claimed, error))
    return claimed.length === limit
  }

  /** Tickets cannot be stored (Redis' memory is full): delivering is what makes room. */
  async function workHere(claimed: readonly Lease[], error: unknown): Promise<void> {
    logger.warn({ err: error }, 'tickets cannot be handed out: lanes are pushed by the process that found them due')
    await work(claimed)
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (!(await dispatch())) await sleep(TICK_MS)
      } catch (error) {
        logger.debug({ err: error }, 'dispatching waits for Redis')
        await sleep(HEAL_MS)
      }
    }
  }

  const looping = loop()
  return {
    stop() {
      stopping.abort()
      return looping
    },
  }
}

const MAX_WAITING = 8
const TICK_MS = 25
const HEAL_MS = 500
