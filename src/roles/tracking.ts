import { existsSync } from 'node:fs'
import { access, constants, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { trackingFile } from '../config/tracking.ts'
import type { Logger } from '../observe/log.ts'
import type { Role, RoleContext } from '../run/role.ts'
import { type Provisioning, provisioningOf } from '../tracking/provisioning.ts'
import { createTrackingService, type TrackingService } from '../tracking/service.ts'
import type { Live } from './live.ts'

/** The tracking service, told of companies and routes by the gateway's own configuration, which is in `dir`. */
export async function startTracking(live: Live, dir: string, { ports }: RoleContext): Promise<Role> {
  const { config, logger } = live
  const { listen } = config.tracking
  if (existsSync(trackingFile(dir))) logger.warn(`${trackingFile(dir)}: ${NOT_USED}`)
  const provisioning = () => provisioningOf({ companies: live.companies() }, live.directory())
  const service = await openService({
    listen: listen.port === 0 ? { ...listen, port: ports.tracking ?? 0 } : listen,
    dataDir: config.data_dir,
    provisioning: provisioning(),
    timeLimitMs: TIME_LIMIT_MS,
    logger,
  })
  live.follow(() => service.provision(provisioning()))
  return {
    ports: { tracking: service.port },
    async close() {
      await live.close()
      await service.close()
    },
  }
}

/** What a tracking service needs to know. */
export interface ServiceOptions {
  readonly listen: { readonly host: string; readonly port: number }
  readonly dataDir: string
  readonly provisioning: Provisioning
  readonly timeLimitMs: number
  readonly logger: Logger
}

/** Starts the service on its database in the data folder. */
export async function openService({ dataDir, ...options }: ServiceOptions): Promise<TrackingService> {
  await mkdir(dataDir, { recursive: true })
  // SQLite would not say what is wrong.
  await access(dataDir, constants.W_OK)
  return createTrackingService({ ...options, databaseFile: join(dataDir, 'tracking.sqlite') })
}

const TIME_LIMIT_MS = 60_000
const NOT_USED =
  'only for `waybridge tracking` on its own; under `start` companies and routes are those of the files beside it'
