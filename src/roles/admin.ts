import { adminTokens, openAdmin } from '../admin/index.ts'
import { connect } from '../lanes/index.ts'
import type { Role, RoleContext } from '../run/role.ts'
import { collectMetrics } from '../run/supervised.ts'
import type { Live } from './live.ts'
import { redisReadiness } from './readiness.ts'

export interface AdminRoleOptions {
  readonly live: Live
  readonly redisUrl: string
  readonly context: Pick<RoleContext, 'ports'>
}

/** The process that operations talk to. */
export async function startAdmin({ live, redisUrl, context }: AdminRoleOptions): Promise<Role> {
  const { config, logger } = live
  const { host, port } = config.admin
  const redis = connect(redisUrl, 'admin', logger)
  const readiness = redisReadiness(redis, config.redis, logger)
  const admin = await openAdmin({
    listen: { host, port: port === 0 ? (context.ports.admin ?? 0) : port },
    tokens: await adminTokens(config),
    redis,
    directory: () => live.directory(),
    idleMs: config.limits.idle_timeout,
    readiness,
    metrics: collectMetrics,
    logger,
  })
  return {
    ports: { admin: admin.port },
    readiness,
    async close() {
      await Promise.all([admin.close(), live.close()])
      redis.disconnect()
    },
  }
}
