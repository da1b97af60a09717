import { existsSync } from 'node:fs'
import { trackingFile } from '../config/tracking.ts'
import { connect } from '../lanes/index.ts'
import { followRoster } from '../roster/index.ts'
import type { Role, RoleContext } from '../run/role.ts'
import { within } from '../run/within.ts'
import { provisioningOf } from '../tracking/provisioning.ts'
import type { Live } from './live.ts'
import { openService } from './tracking-service.ts'

/** The tracking service, told of companies and routes by the gateway's own configuration, which is in `dir`. */
export async function startTracking(live: Live, dir: string, { ports, redisUrl }: RoleContext): Promise<Role> {
  const { config, logger } = live
  const roster = joinRoster(live, config.redis.url ?? redisUrl)
  const { listen } = config.tracking
  if (existsSync(trackingFile(dir))) logger.warn(`${trackingFile(dir)}: ${NOT_USED}`)
  const atFirst = live.loaded()
  const provisioning = () => provisioningOf({ companies: live.companies() }, live.directory())
  const service = await openService(config.data_dir, {
    listen: listen.port === 0 ? { ...listen, port: ports.tracking ?? 0 } : listen,
    provisioning: provisioning(),
    timeLimitMs: TIME_LIMIT_MS,
    catchUp: roster?.catchUp,
    logger,
  })
  const provision = () => void service.provision(provisioning())
  live.follow(provision)
  if (live.loaded() !== atFirst) provision()
  return {
    ports: { tracking: service.port },
    async close() {
      await live.close()
      await service.close()
      roster?.disconnect()
    },
  }
}

/** Without a Redis, on its own, there is no roster. */
function joinRoster(live: Live, redisUrl: string | null) {
  if (redisUrl === null) return void live.join()
  const redis = connect(redisUrl, 'tracking', live.logger)
  void live.join(followRoster(redis, live.logger))
  /** The gateway may have heard of a write to the roster before this process has. */
  const catchUp = () =>
    within(
      CATCH_UP_MS,
      live.catchUp().catch(() => {}),
    )
  return { catchUp, disconnect: () => redis.disconnect() }
}

const CATCH_UP_MS = 2000
const TIME_LIMIT_MS = 60_000
const NOT_USED =
  'only for `waybridge tracking` on its own; under `start` companies and routes are those of the files beside it'
