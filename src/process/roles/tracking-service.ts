import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseReason, UserError } from '../../errors.ts'
import type { Logger } from '../../observe/log.ts'
import { metrics } from '../../observe/metrics.ts'
import type { Provisioning } from '../../tracking/provisioning.ts'
import { createTrackingService, type TrackingService, type TrackingServiceOptions } from '../../tracking/service.ts'
import { openDataDir } from '../data-dir.ts'
import { lockTracking } from '../lock.ts'

export type OpenService = Awaited<ReturnType<typeof openService>>

/** Starts the tracking service on the database of a data folder. @throws UserError if another service uses it. */
export async function openService(dataDir: string, options: Omit<TrackingServiceOptions, 'databaseFile'>) {
  await openDataDir(dataDir, options.logger)
  // SQLite does not report the reason.
  await access(dataDir, constants.W_OK)
  lockTracking(dataDir)
  const databaseFile = join(dataDir, 'tracking.sqlite')
  try {
    return retryingService(await createTrackingService({ ...options, databaseFile }), databaseFile, options.logger)
  } catch (error) {
    const reason = databaseReason(error, 'restore it, or move it away to start with an empty one')
    if (reason === undefined) throw error
    throw new UserError(`Cannot open ${databaseFile}: ${reason}.`)
  }
}

function retryingService(service: TrackingService, databaseFile: string, logger: Logger) {
  let retry: NodeJS.Timeout | undefined
  let hasFailed = false
  const close = () => (clearTimeout(retry), service.close())
  return { port: service.port, provision, close }

  /** Returns whether everything is in effect. If the database refuses the routes, that is logged and retried. */
  function provision(provisioning: Provisioning): boolean {
    clearTimeout(retry)
    try {
      service.provision(provisioning)
    } catch (error) {
      const reason = databaseReason(error, 'restore it')
      if (reason === undefined) throw error
      if (!hasFailed) logger.error(`the routes are not in effect, the companies are: ${databaseFile}: ${reason}`)
      hasFailed = true
      metrics.configReloadSuccessful.set(0)
      retry = setTimeout(provision, RETRY_MS, provisioning)
      return false
    }
    if (hasFailed) {
      logger.info('the routes are in effect')
      metrics.configReloadSuccessful.set(1)
    }
    hasFailed = false
    return true
  }
}

// The time between two attempts on a database that another program has locked; each attempt blocks the process for a
// second.
const RETRY_MS = 3_000
