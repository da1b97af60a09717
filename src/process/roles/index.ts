import { UserError } from '../../errors.ts'
import { isSupervised, type Role, type RoleContext, runRole } from '../role.ts'
import { followConfig, type Live } from './live.ts'

export type RoleName = keyof typeof START

/** Runs one role as this process, to the process' end. @throws ConfigError. */
export async function run(name: RoleName, dir: string): Promise<void> {
  if (name === 'tracking' && !isSupervised() && (await (await import('./tracking-alone.ts')).runTrackingAlone(dir)))
    return
  // Only a gateway loads the decoders: the others open no listener for them.
  const protocols = name === 'gateway' ? (await import('../../../protocols/index.ts')).protocols : null
  // Of those of `start` one speaks; a role on its own may be alone on its machine.
  const outspoken = name === 'gateway' || !isSupervised()
  const live = await followConfig({ dir, protocols, role: name, outspoken })
  runRole({ name, logger: live.logger, monitor: live.config.monitor }, (context) => START[name](live, context, dir))
}

/** What each role does; a process loads its own alone. */
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
  tracking: async (live, context, dir) => (await import('./tracking.ts')).startTracking(live, dir, context),
} satisfies Record<string, (live: Live, context: RoleContext, dir: string) => Promise<Role>>

function redisUrlOf({ config }: Live, { redisUrl }: RoleContext): string {
  const url = config.redis.url ?? redisUrl
  if (url === null)
    throw new UserError('A role on its own needs redis.url in gateway.yaml: the private Redis belongs to "start".')
  return url
}

function baseUrlOf({ config }: Live, { ports }: RoleContext): string {
  if (config.tracking.base_url !== null) return config.tracking.base_url
  return `http://127.0.0.1:${ports.tracking ?? config.tracking.listen.port}`
}
