import type { Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'

/** What is wrong with the roster, for the log. */
export interface Faults {
  /** That it cannot be read: once, until it could be. That Redis is away is the connection's to report. */
  unreadable(error: Error): void
  read(): void
  /** That it is older than what was in effect; times as in `Edits`. */
  older(at: number, before: number): void
}

export function reportFaults(redis: Redis, logger: Logger): Faults {
  const reported = new Set<string>()
  return {
    read: () => reported.clear(),
    unreadable(error) {
      const isDamage = error instanceof SyntaxError
      if ((!isDamage && redis.status !== 'ready') || reported.has(error.message)) return
      reported.add(error.message)
      const what = isDamage ? 'what Redis has of the roster is damaged' : 'the roster in Redis cannot be read'
      logger.error({ err: error }, `${what}: what was read before stays`)
    },
    older: (at, before) => logger.error(ageText(at, before)),
  }
}

/** After a restore from a backup, a failover to a copy that had not all of it, or FLUSHALL. */
function ageText(at: number, before: number): string {
  const last = at === 0 ? 'empty' : `of ${new Date(at).toISOString()}`
  return `the roster in Redis is older than what was in effect: it is ${last}, and not of ${new Date(before).toISOString()} any more; what was put through the admin port since then is to be put again`
}
