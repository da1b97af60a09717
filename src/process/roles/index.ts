import { UserError } from '../../errors.ts'
import { isSupervised, type Role, type RoleContext, runRole } from '../role.ts'
import { followConfig, type Live } from './live.ts'

/** Runs one role as this process, until the process ends. @throws ConfigError. */
export async function run(name: keyof typeof START, configDir: string): Promise<void> {
  if (name === 'tracking' && !isSupervised()) {
    const { runTrackingAlone } = await import('./tracking.ts')
    if (await runTrackingAlone(configDir)) return
  }
  // Only a gateway loads the decoders: the other roles open no listener for devices.
  const protocols = name === 'gateway' ? (await import('../../../protocols/index.ts')).protocols : null
  // Under `start` only the admin process follows the roster's files; a role on its own may be the only one on its machine.
  const followsFiles = name === 'admin' || !isSupervised()
  const live = await followConfig({ dir: configDir, protocols, role: name, followsFiles })
  const { logger, config } = live
  runRole({ name, logger, monitor: config.monitor }, (context) => START[name](live, context, configDir))
}

/** Starts each role; a process loads the code of its own role only. */
const START = {
  gateway: async (live, context) =>
    (await import('./gateway.ts')).startGateway(live, redisUrlOf(live, context), context),
  worker: async (live, context) =>
    (await import('./worker.ts')).startWorker(live, redisUrlOf(live, context), baseUrlOf(live, context)),
  admin: async (live, context) =>
    (await import('./admin.ts')).startAdmin({
      live,
      redisUrl: redisUrlOf(live, context),
      baseUrl: baseUrlOf(live, context),
      context,
    }),
  tracking: async (live, context, configDir) => (await import('./tracking.ts')).startTracking(live, configDir, context),
} satisfies Record<string, (live: Live, context: RoleContext, configDir: string) => Promise<Role>>

function redisUrlOf({ config }: Live, { redisUrl }: RoleContext): string {
  const url = config.redis.url ?? redisUrl
  if (url === null)
    throw new UserError('A role on its own needs redis.url in gateway.yaml: only "start" runs a private Redis.')
  return url
}

function baseUrlOf({ config }: Live, { ports }: RoleContext): string {
  if (config.tracking.base_url !== null) return config.tracking.base_url
  return `http://127.0.0.1:${ports.tracking ?? config.tracking.listen.port}`
}
