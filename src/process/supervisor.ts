import { setMaxListeners } from 'node:events'
import { explained } from '../errors.ts'
import { type Kept, keepRunning } from './keep-running.ts'
import { lockDataDir } from './lock.ts'
import type { Ports } from './messages.ts'
import { portsFile } from './ports-file.ts'
import { type PrivateRedis, startPrivateRedis } from './redis.ts'
import { type Roles, type RolesOptions, rolesOf } from './roles.ts'

/** The tracking service first: the others are told where it listens. */
const STARTING_ORDER = [['tracking'], ['worker', 'admin', 'gateway']] as const
const STOPPING_ORDER = ['gateway', 'worker', 'admin', 'tracking'] as const
const ROLES_STOP_MS = 8000

/**
 * What is to run: how many processes of each role, and what Node is to run for one. `redis`: the private one, null where
 * the configuration names another; `maxMemory` in bytes, null: half of the machine's.
 */
export interface Supervision extends Pick<RolesOptions, 'dataDir' | 'roles' | 'command' | 'logger' | 'output'> {
  readonly redis: { readonly maxMemory: number | null } | null
}

/** Everything that `start` runs. */
export interface Everything {
  /** What listens where, once everything is ready; rejects with the UserError that kept it from that: then stop it. */
  readonly ready: Promise<Ports>
  /** Ends all in order, within 10 s or once `hurry` is aborted; answers whether none had to be killed. */
  stop(hurry?: AbortSignal): Promise<boolean>
}

/** Starts the private Redis and the roles, keeps them running, and says in ports.json what listens where. */
export function startEverything(supervision: Supervision): Everything {
  const cut = new AbortController()
  setMaxListeners(0, cut.signal)
  const file = portsFile(supervision.dataDir)
  let state: 'starting' | 'ready' | 'stopping' = 'starting'
  let unlock: (() => void) | undefined
  const redis = privateRedis(supervision, () => roles.restart())
  const roles = rolesOf({ ...supervision, cut: cut.signal, redisUrl: redis.url, changed: () => void publish() })
  const ready = start().catch((error) => Promise.reject(explained(error)))
  ready.catch(() => {})
  return { ready, stop }

  async function start(): Promise<Ports> {
    unlock = await lockDataDir(supervision.dataDir, supervision.logger)
    await file.remove()
    if (state === 'starting') await redis.start()
    for (const stage of STARTING_ORDER) {
      if (state === 'starting') await Promise.all(stage.map((role) => roles.start(role)))
    }
    if (state === 'starting') state = 'ready'
    await publish()
    return roles.ports
  }

  async function publish(): Promise<void> {
    if (state !== 'ready') return
    await file
      .write(roles.ports)
      .catch((error: Error) => supervision.logger.error({ reason: error.message }, 'ports.json'))
  }

  async function stop(hurry?: AbortSignal): Promise<boolean> {
    state = 'stopping'
    const clean = await stopRoles(roles, cut, hurry)
    await redis.stop()
    if (unlock) await file.remove()
    unlock?.()
    return clean
  }
}

async function stopRoles(roles: Roles, cut: AbortController, hurry?: AbortSignal): Promise<boolean> {
  const abort = () => cut.abort()
  const limit = setTimeout(abort, ROLES_STOP_MS)
  if (hurry?.aborted) abort()
  hurry?.addEventListener('abort', abort)
  for (const role of STOPPING_ORDER) await roles.stop(role)
  clearTimeout(limit)
  hurry?.removeEventListener('abort', abort)
  return !cut.signal.aborted
}

/** `moved`: it runs on another port now, since somebody else took the one it had. */
function privateRedis({ dataDir, redis, logger }: Supervision, moved: () => void) {
  let url: string | null = null
  let kept: Kept<PrivateRedis> | undefined

  async function startOne(signal: AbortSignal): Promise<PrivateRedis> {
    const started = await startPrivateRedis({ dataDir, maxMemory: redis?.maxMemory, signal })
    const before = url
    url = started.url
    if (before !== null && before !== url) moved()
    return started
  }

  return {
    url: () => url,
    async start() {
      if (redis) kept = keepRunning({ name: 'redis', logger, start: startOne })
      await kept?.ready
    },
    stop: async () => kept?.stop(),
  }
}
