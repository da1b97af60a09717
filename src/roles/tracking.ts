import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Role, RoleContext } from '../run/role.ts'
import { provisioningOf } from '../tracking/provisioning.ts'
import { createTrackingService } from '../tracking/service.ts'
import type { Live } from './live.ts'

/** The embedded tracking service, told of companies and routes by the gateway's own configuration. */
export async function startTracking(live: Live, { ports }: RoleContext): Promise<Role> {
  const { config, logger } = live
  const { host, port } = config.tracking.listen
  const provisioning = () => provisioningOf({ companies: live.companies() }, live.directory())
  await mkdir(config.data_dir, { recursive: true })
  const service = await createTrackingService({
    listen: { host, port: port === 0 ? (ports.tracking ?? 0) : port },
    databaseFile: join(config.data_dir, 'tracking.sqlite'),
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

const TIME_LIMIT_MS = 60_000
