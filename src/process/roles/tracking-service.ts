import { access, constants, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseReason, UserError } from '../../errors.ts'
import type { Logger } from '../../observe/log.ts'
import { metrics } from '../../observe/metrics.ts'
import type { Provisioning } from '../../tracking/provisioning.ts'
import { createTrackingService, type TrackingService, type TrackingServiceOptions } from '../../tracking/service.ts'
import { lockTracking } from '../lock.ts'

/** A tracking service whose database may refuse to write. */
export interface OpenService extends TrackingService {
  /** Whether all of it is in effect. Where the database does not take the routes, that is logged, and tried again. */
  provision(provisioning: Provisioning): boolean
}

/** Starts a tracking service on its database in a data folder, the only one there is. @throws UserError where there is one. */
export async function openService(
  dataDir: string,
  options: Omit<TrackingServiceOptions, 'databaseFile'>,
): Promise<OpenService> {
  await mkdir(dataDir, { recursive: true })
  // SQLite would not say what is wrong.
  await access(dataDir, constants.W_OK)
  lockTracking(dataDir)
  const databaseFile = join(dataDir, 'tracking.sqlite')
  try {
    return provisionedAtLast(await createTrackingService({ ...options, databaseFile }), databaseFile, options.logger)
  } catch (error) {
    const reason = databaseReason(error, 'restore it, or move it away to begin with nothing')
    if (reason === undefined) throw error
    throw new UserError(`Cannot open ${databaseFile}: ${reason}.`)
  }
}

function provisionedAtLast(service: TrackingService, databaseFile: string, logger: Logger): OpenService {
  let again: NodeJS.Timeout | undefined
  let failed = false

  function provision(provisioning: Provisioning): boolean {
    clearTimeout(again)
    try {
      service.provision(provisioning)
    } catch (error) {
      const reason = databaseReason(error, 'restore it')
      if (reason === undefined) throw error
      if (!failed) logger.error(`the routes are not in effect, the companies are: ${databaseFile}: ${reason}`)
      take(false)
      again = setTimeout(provision, RETRY_MS, provisioning)
      return false
    }
    if (failed) logger.info('the routes are in effect')
    if (failed) take(true)
    return true
  }

  function take(successful: boolean): void {
    failed = !successful
    metrics.configReloadSuccessful.set(successful ? 1 : 0)
  }

  async function close(): Promise<void> {
    clearTimeout(again)
    await service.close()
  }

  return { port: service.port, provision, close }
}

// A database that somebody else has locked blocks the process for a second each time.
const RETRY_MS = 3_000
