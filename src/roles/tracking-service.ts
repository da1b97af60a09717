import { access, constants, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
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
  return createTrackingService({ ...options, databaseFile: join(dataDir, 'tracking.sqlite') })
}
