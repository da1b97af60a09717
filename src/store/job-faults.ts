import { logFault } from '../observe/faults.ts'
import type { Logger } from '../observe/log.ts'
import { isConnectionError } from '../redis/connection.ts'

/** Returns what logs the errors of repeated jobs. That Redis is away or refuses a command is a finding already. */
export function jobFaults(logger: Logger): (error: unknown, job: string) => void {
  return (error, job) => {
    const isOfRedis = error instanceof Error && (isConnectionError(error) || error.name === 'ReplyError')
    if (isOfRedis) logger.debug({ err: error }, `${job}: waits for Redis`)
    else logFault(logger, error, { what: `fault in a job: ${job}` })
  }
}
