import { access, constants, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../run/errors.ts'
import { lockTracking } from '../run/lock.ts'
import { createTrackingService, type TrackingService, type TrackingServiceOptions } from '../tracking/service.ts'

/** Starts a tracking service on its database in a data folder, the only one there is. @throws UserError where there is one. */
export async function openService(
  dataDir: string,
  options: Omit<TrackingServiceOptions, 'databaseFile'>,
): Promise<TrackingService> {
  await mkdir(dataDir, { recursive: true })
  // SQLite would not say what is wrong.
  await access(dataDir, constants.W_OK)
  lockTracking(dataDir)
  const databaseFile = join(dataDir, 'tracking.sqlite')
  try {
    return await createTrackingService({ ...options, databaseFile })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_SQLITE_ERROR') throw error
    throw new UserError(`Cannot open ${databaseFile}: ${message}; restore it, or move it away to begin with nothing.`)
  }
}
