import type { Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'

/** What is wrong with the roster, for the log. */
export interface Faults {
  /** That it cannot be read. That Redis is away is the connection's to report. */
  unreadable(error: Error): void
  /** That it is older than what was in effect; times as in `Edits`. */
  older(at: number, before: number): void
  /** That it could be read: until then each fault is reported once. */
  read(): void
}

export function reportFaults(redis: Redis, logger: Logger): Faults {
  const reported = new Set<string>()
  function once(fault: string, report: () => void): void {
    if (!reported.has(fault)) report()
    reported.add(fault)
  }
  return {
    unreadable(error) {
      const isDamage = error instanceof SyntaxError
      if (!isDamage && redis.status !== 'ready') return
      const what = isDamage ? 'what Redis has of the roster is damaged' : 'the roster in Redis cannot be read'
      once(error.message, () => logger.error({ err: error }, `${what}: what was read before stays`))
    },
    older(at, before) {
      const text = ageText(at, before)
      once(text, () => logger.error(text))
    },
    read: () => reported.clear(),
  }
}

/** After a restore from a backup, a failover to a copy that had not all of it, or FLUSHALL. */
function ageText(at: number, before: number): string {
  const last = at === 0 ? 'empty' : `of ${new Date(at).toISOString()}`
  return `the roster in Redis is older than what was in effect: it is ${last}, and not of ${new Date(before).toISOString()} any more; what was put through the admin port since then is to be put again`
}
