import { logFault } from '../observe/faults.ts'
import type { Logger } from '../observe/log.ts'
import { isConnectionError } from '../redis/connection.ts'

/**
 * Returns what logs the errors of repeated jobs. That Redis is away, full or a replica is a finding already; that it cannot run a
 * command or a script of ours is a fault.
 */
export function jobFaults(logger: Logger): (error: unknown, job: string) => void {
  return (error, job) => {
    if (isRedisTrouble(error)) logger.debug({ err: error }, `${job}: waits for Redis`)
    else logFault(logger, error, { what: `fault in a job: ${job}` })
  }
}

/** Returns whether Redis is away or refuses commands, rather than that it cannot run a command or a script of ours. */
export function isRedisTrouble(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return isConnectionError(error) || (error.name === 'ReplyError' && !WRONG_COMMAND.test(error.message))
}

const WRONG_COMMAND = /^(?:ERR|WRONGTYPE) /
