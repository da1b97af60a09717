import { loadProtocols } from '../../../protocols/index.ts'
import {
  adminTokens,
  apiOf,
  type FindSpoken,
  knownApis,
  openAdmin,
  portAddress,
  type Tokens,
} from '../../admin/index.ts'
import { Alerts } from '../../alerts/index.ts'
import { everySecond, inTurns, within } from '../../async.ts'
import { AUTO } from '../../config/listener.ts'
import { isPrivate } from '../../config/redis.ts'
import type { Config } from '../../config/schema.ts'
import { sameId } from '../../domain/ids.ts'
import { readPayload } from '../../gateway/mappings.ts'
import { Detector, faultLogger, likely } from '../../gateway/wire/detect.ts'
import type { Logger } from '../../observe/log.ts'
import { jobFaults, type Store, signOn } from '../../store/index.ts'
import { listenerPorts } from '../listener-ports.ts'
import { collectMetrics, type Role, type RoleAddresses } from '../role.ts'
import { ApiClients } from './api-clients.ts'
import { trackerSetups } from './tracker-setups.ts'
import { type Live, placeIn } from './live.ts'
import { redisReadiness, systemReadiness } from './readiness.ts'

/** Opens the admin port, and sends findings to the receivers of alerts. */
export async function openAdminPort(live: Live, redis: Store, at: Omit<RoleAddresses, 'redisServer'>): Promise<Role> {
  const { config, logger } = live
  const { baseUrl, ports, identity } = at
  const readiness = redisReadiness(redis, config.redis)
  const setCompanies = () => clients.use(live.companies())
  const clients = new ApiClients(
    { config, baseUrl, connections: () => CONNECTIONS, again: setCompanies, logger },
    live.companies(),
  )
  live.follow({ companies: setCompanies })
  const tokens = await followedTokens(live)
  let alerts: Alerts | undefined
  const admin = await openAdmin({
    listen: { ...config.admin, port: config.admin.port || (ports.admin ?? 0) },
    tokens: () => tokens().tokens,
    oidc: () => live.admin().oidc,
    isBehindProxy: config.admin.behind_proxy,
    logsReads: () => live.admin().log_reads,
    tls: config.admin.tls,
    page: { ...config.page, anyTrackerPort: (await listenerPorts(config))(AUTO)[0]?.[1] },
    redis,
    isVerified: !isPrivate(config.redis) && config.redis.durability === 'strict',
    redisDir: isPrivate(config.redis) ? config.data_dir : null,
    directory: () => live.directory(),
    live,
    speaks: spokenTo(config, logger),
    setups: trackerSetups(config),
    mappings: { ofFile: () => live.mappings(), read: readPayload },
    pulls: () => live.pulls(),
    copies: () => live.copies(),
    tracking: clients.of,
    api: apiOf(config, baseUrl),
    apis: () => knownApis(config, live.companies(), baseUrl),
    companies: () => live.companies(),
    place: placeIn(live),
    idleMs: config.limits.idle_timeout,
    readiness: systemReadiness(readiness, redis, config.redis.stop_at),
    metrics: collectMetrics,
    metricsToken: () => live.admin().metrics_token,
    alerts: () => alerts,
    verify: { settings: config.verify, keptMs: config.keep.delivered, batch: config.batch },
    logger,
  })
  const sharing = signOn(redis, { ...identity, role: 'admin', installation: config.data_dir })
  const address = portAddress(config.admin, admin.port)
  const nameOf = (company: string) => live.companies().find(({ company_id }) => company_id === company)?.name
  const { findings, sheets } = admin
  const opened = new Alerts({ config, findings, sheets, nameOf, redis, page: address, logger })
  alerts = opened
  const jobs = everySecond({ ...admin.jobs, ...opened.jobs }, jobFaults(logger))
  logger.info(`admin port ${address}; its tokens are in ${tokens().place}`)
  return {
    ports: { admin: admin.port },
    readiness,
    async close() {
      const ended = within(LAST_JOBS_MS, jobs.stop())
      await Promise.all([admin.close(), live.close(), sharing.stop(), ended.then(() => opened.close())])
      await clients.close()
      redis.disconnect()
    },
  }
}

/**
 * A function that returns the current tokens of the admin port. If new ones cannot be read, the previous ones stay in
 * effect.
 */
async function followedTokens(live: Live): Promise<() => Tokens> {
  let tokens: Tokens
  const inTurn = inTurns()
  const renew = () =>
    inTurn(async () => void (tokens = await adminTokens({ ...live.config, admin: live.admin() }, live.logger)))
  live.follow({
    tokens: () => renew().catch((error: Error) => live.logger.error({ reason: error.message }, KEEPS_TOKENS)),
  })
  await renew()
  return () => tokens
}

/**
 * Finds the protocol that a sender which was not understood seems to use, and its port. The decoders are loaded at the first
 * such sender: they take half a second, and 31 MB.
 */
function spokenTo(config: Config, logger: Logger): FindSpoken {
  const asking = { configured: () => undefined, onFault: faultLogger(logger) }
  let loading: Promise<Detector> | undefined
  return async ({ at, bytes = '', guessed, protocol: expected, transport }, device) => {
    loading ??= loadProtocols().then((protocols) => new Detector({ protocols, ...asking }))
    const beginning = { bytes: Buffer.from(bytes, 'hex'), transport, now: at }
    const found = likely((await loading).look(beginning).found).find(
      (guess) => guess.device !== undefined && sameId(guess.device) === device,
    )
    const name = found?.protocol.name ?? guessed
    if (name === undefined || name === expected) return undefined
    const [place] = (await listenerPorts(config))(name)
    return { protocol: name, port: place?.[1] }
  }
}

const KEEPS_TOKENS = 'the new tokens of the admin port cannot be read: the previous ones stay in effect'
const LAST_JOBS_MS = 1000
/** The most connections to the tracking API for relayed requests. A worker has connections of its own. */
const CONNECTIONS = 32
