import { inGateway } from '../../config/problem.ts'
import { redisServer } from '../../config/redis.ts'
import type { Config } from '../../config/schema.ts'
import { filesCompared, isSupervised, type Role, type RoleAddresses, runRole, settingsInEffect } from '../role.ts'
import type { Ports, RoleContext } from '../role-process.ts'
import { followConfig, type Live } from './live.ts'

/** Runs one role as this process, until the process ends. @throws ConfigError. */
export async function run(name: keyof typeof LOAD, configDir: string): Promise<void> {
  if (name === 'tracking' && !isSupervised()) {
    const { runTrackingAlone } = await import('./tracking.ts')
    if (await runTrackingAlone(configDir)) return
  }
  // The gateway opens the ports for devices, and the admin port shows them; the other roles need none.
  const hasPorts = name === 'gateway' || name === 'admin'
  const protocols = hasPorts ? (await import('../../../protocols/index.ts')).protocolPorts : null
  // Under `start` only the admin process follows the roster's files; a role on its own may be the only one on its machine.
  const followsFiles = name === 'admin' || !isSupervised()
  const before = await settingsInEffect()
  const live = await followConfig({ dir: configDir, protocols, role: name, followsFiles, before })
  const { logger, config } = live
  const start = await LOAD[name](live, configDir)
  runRole(logger, { ...config.monitor, metricsToken: () => live.admin().metrics_token }, start)
}

/** Loads the code of a role before its turn, and resolves to its start function; a process loads only its own role. */
const LOAD = {
  async gateway(live) {
    const { loadListened, startGateway } = await import('./gateway.ts')
    await loadListened(live.config)
    return (context) => startGateway(live, addressesOf(live.config, context))
  },
  async worker(live) {
    const { startWorker } = await import('./worker.ts')
    return (context) => startWorker(live, addressesOf(live.config, context))
  },
  async admin(live) {
    const { startAdmin } = await import('./admin.ts')
    return (context) => {
      const baseUrl = async () => trackingUrl(live.config, await filesCompared(context.ports))
      return startAdmin(live, { ...addressesOf(live.config, context), baseUrl })
    }
  },
  async tracking(live, configDir) {
    const { startTracking } = await import('./tracking.ts')
    return (context) => startTracking(live, configDir, context)
  },
} satisfies Record<string, (live: Live, configDir: string) => Promise<(context: RoleContext) => Promise<Role>>>

function addressesOf(config: Config, { redisUrl, ...ofStart }: RoleContext): RoleAddresses {
  const server = redisServer(config.redis, redisUrl)
  if (server === null) throw inGateway(NO_REDIS)
  return { redisServer: server, baseUrl: trackingUrl(config, ofStart.ports), ...ofStart }
}

function trackingUrl({ tracking }: Config, ports: Ports): string {
  return tracking.base_url ?? `http://127.0.0.1:${ports.tracking ?? tracking.listen.port}`
}

const NO_REDIS =
  'a role on its own needs redis.url, redis.sentinels or redis.cluster: only `start` runs a private Redis'
