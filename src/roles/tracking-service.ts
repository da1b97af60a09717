import { access, constants, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createTrackingService, type TrackingService, type TrackingServiceOptions } from '../tracking/service.ts'

/** Starts a tracking service on its database in a data folder. */
export async function openService(
  dataDir: string,
  options: Omit<TrackingServiceOptions, 'databaseFile'>,
): Promise<TrackingService> {
  await mkdir(dataDir, { recursive: true })
  // SQLite would not say what is wrong.
  await access(dataDir, constants.W_OK)
  return createTrackingService({ ...options, databaseFile: join(dataDir, 'tracking.sqlite') })
}
