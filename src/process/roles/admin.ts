import { adminTokens, openAdmin } from '../../admin/index.ts'
import { readGatewayProblems } from '../../ingest/heard/read.ts'
import { memoryProblems } from '../../ingest/room.ts'
import { connect, type Redis } from '../../lanes/index.ts'
import { followRoster } from '../../roster/index.ts'
import { createTrackingClient } from '../../tracking/client.ts'
import type { Readiness } from '../monitor.ts'
import type { Role, RoleContext } from '../role.ts'
import { collectMetrics } from '../supervised.ts'
import type { Live } from './live.ts'
import { placeIn } from './place.ts'
import { redisReadiness } from './readiness.ts'

export interface AdminRoleOptions {
  readonly live: Live
  readonly redisUrl: string
  /** Of the tracking API. */
  readonly baseUrl: string
  readonly context: Pick<RoleContext, 'ports'>
}

/** The process that operations talk to. */
export async function startAdmin({ live, redisUrl, baseUrl, context }: AdminRoleOptions): Promise<Role> {
  const { config, logger } = live
  const { host, port } = config.admin
  const redis = connect(redisUrl, 'admin', logger)
  const roster = followRoster(redis, logger)
  void live.join(roster)
  const readiness = redisReadiness(redis, config.redis, logger)
  const directory = () => live.directory()
  const tracking = createTrackingClient({
    baseUrl,
    returnPrefix: config.tracking.return_prefix,
    timeoutMs: config.push.timeout,
    connections: CONNECTIONS,
  })
  const tokens = await adminTokens(config)
  const admin = await openAdmin({
    listen: { host, port: port === 0 ? (context.ports.admin ?? 0) : port },
    tokens,
    redis,
    directory,
    roster,
    loaded: () => live.loaded(),
    catchUp: () => live.catchUp(),
    tracking,
    companies: () => live.companies(),
    place: placeIn(live),
    idleMs: config.limits.idle_timeout,
    readiness: wholeReadiness(readiness, redis, config.redis.stop_at),
    metrics: collectMetrics,
    logger,
  })
  logger.info(`admin port http://${host}:${admin.port}; tokens for it are in ${tokens.place}`)
  return {
    ports: { admin: admin.port },
    readiness,
    async close() {
      await Promise.all([admin.close(), live.close()])
      await tracking.close()
      redis.disconnect()
    },
  }
}

/** Ready while this process is, Redis has room, and every gateway acknowledges what it is sent. */
function wholeReadiness(own: () => Promise<Readiness>, redis: Redis, stopAt: number): () => Promise<Readiness> {
  return async () => {
    const [{ problems }, memory, gateways] = await Promise.all([
      own(),
      redis.info('memory').then(
        (info) => memoryProblems(info, stopAt),
        () => [],
      ),
      readGatewayProblems(redis).catch(() => []),
    ])
    const all = [...new Set([...problems, ...memory, ...gateways])]
    return { ok: all.length === 0, problems: all }
  }
}

/** To the tracking API, for requests that are relayed; a worker has its own. */
const CONNECTIONS = 32
