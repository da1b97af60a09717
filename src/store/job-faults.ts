import { logFault } from '../observe/faults.ts'
import type { Logger } from '../observe/log.ts'
import { isConnectionError } from '../redis/connection.ts'

/**
 * Returns what logs the errors of repeated jobs. That Redis is away, full or a replica is a finding already; that it cannot run a
 * command or a script of ours is a fault.
 */
export function jobFaults(logger: Logger): (error: unknown, job: string) => void {
  return (error, job) => {
    const isRefusal = error instanceof Error && error.name === 'ReplyError' && !WRONG_COMMAND.test(error.message)
    if (isRefusal || (error instanceof Error && isConnectionError(error)))
      logger.debug({ err: error }, `${job}: waits for Redis`)
    else logFault(logger, error, { what: `fault in a job: ${job}` })
  }
}

const WRONG_COMMAND = /^(?:ERR|WRONGTYPE) /
