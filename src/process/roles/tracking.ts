import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { within, yieldToEventLoop } from '../../async.ts'
import { apiOfCompany } from '../../config/apis.ts'
import { problemText } from '../../config/problem.ts'
import { redisServer } from '../../config/redis.ts'
import { followTracking, loadTracking, type TrackingConfig, trackingFile } from '../../config/tracking.ts'
import { databaseReason, UserError } from '../../errors.ts'
import { createLogger, type Logger } from '../../observe/log.ts'
import { metrics } from '../../observe/metrics.ts'
import { type Lane, lanesOf } from '../../roster/device-entry.ts'
import { Replica, type RosterFollower } from '../../roster/replica.ts'
import {
  createTrackingService,
  type TrackingService,
  type TrackingServiceOptions,
} from '../../sandbox/tracking/service.ts'
import { signOn } from '../../store/index.ts'
import { type Provisioning, provisioningOf } from '../../tracking/provisioning.ts'
import { lockTracking, openDataDir } from '../data-dir.ts'
import { openStore, type Role, runRole } from '../role.ts'
import type { RoleContext } from '../role-process.ts'
import type { Live } from './live.ts'

/**
 * The tracking service beside a gateway: it takes companies and routes from the gateway's configuration, which is in
 * `configDir`, and from the roster.
 */
export async function startTracking(
  live: Live,
  configDir: string,
  { ports, redisUrl, identity }: RoleContext,
): Promise<Role> {
  const { config, logger } = live
  let provisioned = Promise.resolve()
  const server = redisServer(config.redis, redisUrl)
  const redis = server === null ? undefined : openStore(server, 'tracking', logger)
  const sharing = redis && signOn(redis, { ...identity, role: 'tracking', installation: config.data_dir })
  const joined = live.join(redis && new Replica(redis, logger))
  if (!redis) await joined
  const { listen } = config.tracking
  if (existsSync(trackingFile(configDir))) logger.warn(`${trackingFile(configDir)}: ${NOT_USED}`)
  // The gateway may apply a change of the roster before this process does.
  const inEffect = () => live.catchUp().then(() => provisioned)
  const service = await openService(config.data_dir, {
    listen: listen.port === 0 ? { ...listen, port: ports.tracking ?? 0 } : listen,
    provisioning: provisioningOf(companiesOf(live), live.directory().lanes()),
    timeLimitMs: TIME_LIMIT_MS,
    catchUp: () => within(CATCH_UP_MS, inEffect()).catch(() => {}),
    logger,
  })
  const provisionNew = newLanesProvisioner(service, live)
  const provision = (changed: Parameters<RosterFollower>[0], companies = false) => {
    provisioned = provisioned.then(() => provisionNew(changed, companies))
  }
  live.follow({ roster: (changed) => provision(changed), companies: () => provision(NO_DEVICES, true) })
  provision(undefined, true)
  await provisioned
  return {
    ports: { tracking: service.port },
    async close() {
      await live.close()
      await provisioned
      await Promise.all([service.close(), sharing?.stop()])
      redis?.disconnect()
    },
  }
}

/**
 * Runs the tracking service on tracking.yaml in this process, until the process ends; returns false if there is no such
 * file. @throws ConfigError.
 */
export async function runTrackingAlone(configDir: string): Promise<boolean> {
  const config = await loadTracking(configDir)
  if (!config) return false
  const logger = createLogger('tracking', config.log)
  runRole(logger, { ...config.monitor, metricsToken: () => null }, () => startTrackingAlone(configDir, config, logger))
  return true
}

/** Returns a function that provisions the missing lanes of changed devices, and the companies if they have changed. */
function newLanesProvisioner(service: OpenService, live: Live) {
  const provisioned = new Set<string>()
  const added = new Map<string, Lane>()
  return async (changed: ReadonlySet<string> | undefined, hasNewCompanies: boolean): Promise<void> => {
    const directory = live.directory()
    const entries = changed ? Array.from(changed, (id) => directory.find(id)) : directory.devices()
    for (const entry of entries) {
      if (entry) for (const lane of lanesOf(entry)) if (!provisioned.has(lane.key)) added.set(lane.key, lane)
      await yieldToEventLoop()
    }
    const lanes = [...added.values()]
    if (lanes.length === 0 && !hasNewCompanies) return
    if (!service.provision(provisioningOf(companiesOf(live), lanes))) return
    for (const { key } of lanes) provisioned.add(key)
    added.clear()
  }
}

/** The companies that use this service: not those with an API of their own. */
function companiesOf(live: Live) {
  return live.companies().filter((company) => {
    const api = apiOfCompany(live.config, company, THIS)
    return !api || api.base_url === THIS || api.push_url === THIS
  })
}

async function startTrackingAlone(configDir: string, config: TrackingConfig, logger: Logger): Promise<Role> {
  const service = await openService(config.data_dir, {
    listen: config.listen,
    provisioning: onlyThese(config),
    timeLimitMs: config.time_limit,
    logger,
  })
  metrics.configReloadSuccessful.set(1)
  const following = followTracking(configDir, config, ({ config: next, problems }) => {
    metrics.configReloadSuccessful.set(next ? 1 : 0)
    for (const problem of problems) logger.error(problemText(problem))
    if (!next) return logger.error(`${trackingFile(configDir)} is ignored: the previous configuration stays in effect`)
    const changed = AT_NEXT_START.filter((key) => !isDeepStrictEqual(next[key], config[key]))
    if (changed.length > 0) logger.warn(`${changed.join(', ')}: takes effect at the next start`)
    if (service.provision(onlyThese(next))) logger.info('configuration reloaded')
  })
  return {
    ports: { tracking: service.port },
    async close() {
      await following.close()
      await service.close()
    },
  }
}

function onlyThese({ companies, routes }: TrackingConfig): Provisioning {
  return { companies, routes, exhaustive: true }
}

type OpenService = Awaited<ReturnType<typeof openService>>

/** Starts the tracking service on the database of a data folder. @throws UserError if another service uses it. */
async function openService(dataDir: string, options: Omit<TrackingServiceOptions, 'databaseFile'>) {
  await openDataDir(dataDir, options.logger)
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

/** Stands for the URL of this service. */
const THIS = 'http://embedded.invalid'
const NO_DEVICES: ReadonlySet<string> = new Set()
const AT_NEXT_START = ['listen', 'data_dir', 'time_limit', 'monitor', 'log'] as const
const CATCH_UP_MS = 2000
const TIME_LIMIT_MS = 60_000
const NOT_USED =
  'only `waybridge tracking` on its own uses this file; under `start` companies and routes come from gateway.yaml and the roster'
// The time between two attempts on a database that another program has locked; each attempt blocks the process for a
// second.
const RETRY_MS = 3_000
