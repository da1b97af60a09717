import { existsSync } from 'node:fs'
import { within, yieldToEventLoop } from '../../async.ts'
import { trackingFile } from '../../config/tracking.ts'
import { connect } from '../../lanes/index.ts'
import type { Lane } from '../../roster/directory.ts'
import { followRoster } from '../../roster/index.ts'
import { provisioningOf } from '../../tracking/provisioning.ts'
import type { Role, RoleContext } from '../role.ts'
import type { Live } from './live.ts'
import { type OpenService, openService } from './tracking-service.ts'

/** The tracking service, told of companies and routes by the gateway's own configuration, which is in `dir`. */
export async function startTracking(live: Live, dir: string, { ports, redisUrl }: RoleContext): Promise<Role> {
  const { config, logger } = live
  let provisioned = Promise.resolve()
  const roster = joinRoster(live, config.redis.url ?? redisUrl, () => provisioned)
  const { listen } = config.tracking
  if (existsSync(trackingFile(dir))) logger.warn(`${trackingFile(dir)}: ${NOT_USED}`)
  const atFirst = live.loaded()
  const service = await openService(config.data_dir, {
    listen: listen.port === 0 ? { ...listen, port: ports.tracking ?? 0 } : listen,
    provisioning: provisioningOf({ companies: live.companies() }, live.directory()),
    timeLimitMs: TIME_LIMIT_MS,
    catchUp: roster?.catchUp,
    logger,
  })
  const tell = teller(service, live, atFirst.directory.lanes())
  const provision = () => void (provisioned = provisioned.then(tell))
  live.follow(provision)
  if (live.loaded() !== atFirst) provision()
  await provisioned
  return {
    ports: { tracking: service.port },
    async close() {
      await live.close()
      await provisioned
      await service.close()
      roster?.disconnect()
    },
  }
}

/** Tells the service of companies, and of lanes that it was not told of yet: of 100,000 few are new with a change. */
function teller(service: OpenService, live: Live, known: Iterable<Lane>): () => Promise<void> {
  const told = new Set(Array.from(known, ({ key }) => key))
  return async () => {
    const lanes: Lane[] = []
    for (const lane of live.directory().lanes()) {
      if (!told.has(lane.key)) lanes.push(lane)
      await yieldToEventLoop()
    }
    if (!service.provision(provisioningOf({ companies: live.companies() }, { lanes: () => lanes }))) return
    for (const { key } of lanes) told.add(key)
  }
}

/** Without a Redis, on its own, there is no roster. `provisioned`: resolves once the service was told of what is in effect. */
function joinRoster(live: Live, redisUrl: string | null, provisioned: () => Promise<void>) {
  if (redisUrl === null) return void live.join()
  const redis = connect(redisUrl, 'tracking', live.logger)
  void live.join(followRoster(redis, live.logger))
  /** The gateway may have heard of a write to the roster before this process has. */
  const catchUp = () =>
    within(
      CATCH_UP_MS,
      live
        .catchUp()
        .then(provisioned)
        .catch(() => {}),
    )
  return { catchUp, disconnect: () => redis.disconnect() }
}

const CATCH_UP_MS = 2000
const TIME_LIMIT_MS = 60_000
const NOT_USED =
  'only for `waybridge tracking` on its own; under `start` companies and routes are those of the files beside it'
