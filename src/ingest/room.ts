import { countParked, type Part, type Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'

/** Whether there is room for more in Redis. Where there is none, nothing is acknowledged, and the devices keep their fixes. */
export interface Room {
  for(parts: readonly Part[]): boolean
  /** Why there is none, a sentence each. */
  readonly problems: readonly string[]
  stop(): void
}

export interface RoomOptions {
  /** Share of Redis' memory limit from which on nothing is taken: the rest is what delivering needs. */
  readonly stopAt: number
  /** Parked positions from which on the lanes that have parked ones get no more. */
  readonly maxParked: number
  readonly logger: Logger
}

/** Looks at Redis' memory every half second, and at what is parked every few. */
export function watchRoom(redis: Redis, { stopAt, maxParked, logger }: RoomOptions): Room {
  let full = false
  let crowded: ReadonlySet<string> = new Set()
  let looks = 0

  async function look(): Promise<void> {
    const ratio = usedShare(await redis.info('memory'))
    const next = ratio > (full ? stopAt - RESUME_BELOW : stopAt)
    if (next !== full) {
      full = next
      const share = `${Math.round(ratio * 100)} %`
      if (full) logger.error({ reason: 'memory' }, `Redis has ${share} of its memory in use: nothing is acknowledged`)
      else logger.info(`Redis has ${share} of its memory in use: fixes are acknowledged again`)
    }
    if (looks++ % 6 === 0) await lookAtParked()
  }

  async function lookAtParked(): Promise<void> {
    const { fixes, lanes } = await countParked(redis)
    const next = fixes > maxParked ? lanes : new Set<string>()
    if (next.size > 0 && crowded.size === 0)
      logger.error(
        { reason: 'parked' },
        `${fixes} positions are parked: devices on parked lanes are not acknowledged any more`,
      )
    crowded = next
  }

  const timer = setInterval(() => void look().catch(() => {}), 500).unref()
  void look().catch(() => {})
  return {
    for(parts) {
      const reason =
        full && parts.length > 0
          ? 'memory'
          : parts.some((part) => 'lane' in part && crowded.has(part.lane))
            ? 'parked'
            : undefined
      if (reason) metrics.notStored.inc({ reason })
      return reason === undefined
    },
    get problems() {
      return full ? [fullAt(stopAt)] : []
    },
    stop: () => clearInterval(timer),
  }
}

/** Why nothing would be taken now, by what `INFO memory` says. */
export function memoryProblems(info: string, stopAt: number): string[] {
  return usedShare(info) > stopAt ? [fullAt(stopAt)] : []
}

function fullAt(stopAt: number): string {
  return `Redis has more than ${Math.round(stopAt * 100)} % of its memory in use: nothing is acknowledged`
}

/** Of Redis' memory limit; 0 where there is none. */
function usedShare(info: string): number {
  const value = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  const limit = value('maxmemory')
  return limit > 0 ? value('used_memory') / limit : 0
}

const RESUME_BELOW = 0.02
