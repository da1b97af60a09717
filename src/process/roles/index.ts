import { setPriority } from 'node:os'
import { redisServer } from '../../config/redis.ts'
import type { Config } from '../../config/schema.ts'
import { UserError } from '../../errors.ts'
import { isSupervised, type Role, type RoleAddresses, type RoleContext, runRole } from '../role.ts'
import { followConfig, type Live } from './live.ts'

/** Runs one role as this process, until the process ends. @throws ConfigError. */
export async function run(name: keyof typeof START | 'tracking', configDir: string): Promise<void> {
  if (name === 'tracking' && !isSupervised()) {
    const { runTrackingAlone } = await import('./tracking.ts')
    if (await runTrackingAlone(configDir)) return
  }
  // The gateway opens the ports for devices, the admin port names them; the other roles need none.
  const hasPorts = name === 'gateway' || name === 'admin'
  const protocols = hasPorts ? (await import('../../../protocols/index.ts')).protocolPorts : null
  // Under `start` only the admin process follows the roster's files; a role on its own may be the only one on its machine.
  const followsFiles = name === 'admin' || !isSupervised()
  const live = await followConfig({ dir: configDir, protocols, role: name, followsFiles })
  const { logger, config } = live
  // Where cores are scarce, devices come before those who watch them.
  if (name === 'admin') setPriority(5)
  runRole(logger, { ...config.monitor, metricsToken: () => live.admin().metrics_token }, async (context) => {
    if (name === 'tracking') return (await import('./tracking.ts')).startTracking(live, configDir, context)
    return START[name](live, addressesOf(config, context))
  })
}

/** Starts each role; a process loads the code of its own role only. */
const START = {
  gateway: async (live, at) => (await import('./gateway.ts')).startGateway(live, at),
  worker: async (live, at) => (await import('./worker.ts')).startWorker(live, at),
  admin: async (live, at) => (await import('./admin.ts')).startAdmin(live, at),
} satisfies Record<string, (live: Live, at: RoleAddresses) => Promise<Role>>

function addressesOf({ redis, tracking }: Config, { redisUrl, ...ofStart }: RoleContext): RoleAddresses {
  const server = redisServer(redis, redisUrl)
  if (server === null) throw new UserError(NO_REDIS)
  const baseUrl = tracking.base_url ?? `http://127.0.0.1:${ofStart.ports.tracking ?? tracking.listen.port}`
  return { redisServer: server, baseUrl, ...ofStart }
}

const NO_REDIS =
  'A role on its own needs redis.url, redis.sentinels or redis.cluster in gateway.yaml: only "start" runs a private Redis.'
