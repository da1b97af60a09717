import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { socketOf, socketUrl } from '../../src/process/redis-endpoint.ts'
import { openRedis, type Redis } from '../../src/store/index.ts'
import { askAdmin, type Status, statusOf } from '../rig/product.ts'
import { isUp } from '../rig/role.ts'
import { MAX_MEMORY, type Machine, type Site, ZONE } from '../rig/site.ts'
import { CLI, endChild, pidsIn, pidsWith, untilSo } from '../support/processes.ts'

/** The kinds of processes that run. */
export const PROCESSES = ['supervisor', 'gateway', 'worker', 'admin', 'redis'] as const

/**
 * `waybridge start` on a folder; with several machines also a gateway for each further one, and a Redis for all. Each is started
 * again whenever it ends, like a service of the system.
 */
export interface System {
  /** The process ids of one of `PROCESSES`. */
  pidsOf(who: string): number[]
  /** Runs commands on its Redis. Rejects if Redis does not answer. */
  redis<T>(work: (redis: Redis) => Promise<T>): Promise<T>
  /** Asks the admin port. Rejects if it does not answer. */
  admin(path: string, init?: RequestInit): Promise<Response>
  /** `GET /admin/status`. Rejects if the admin port does not answer. */
  status(): Promise<Status>
  /** How often `start` was started. */
  starts(): number
  /** Ends all in order; returns the exit codes, and how many processes were left behind. */
  end(): Promise<{ readonly codes: readonly (number | null)[]; readonly left: number }>
}

/** Resolves once all are ready for the first time. What they print goes to `start.log` in the folder. */
export async function startSystem(site: Site): Promise<System> {
  const log = await open(join(site.dir, 'start.log'), 'a')
  const run = (...command: string[]) =>
    keepService(command, { output: log.fd, env: { ...process.env, TZ: ZONE, ...site.clock?.env } })
  const redis = site.sharedRedis ? [run(REDIS, site.dataDir, String(MAX_MEMORY))] : []
  const start = run(CLI, 'start', '--config', site.dir)
  const others = site.machines.slice(1)
  const gateways = others.map(({ dir }) => run(CLI, 'gateway', '--config', dir))
  await untilSo(() => existsSync(join(site.dataDir, 'ports.json')), { everyMs: 20 })
  await Promise.all(others.map((machine) => whenUp(machine)))
  return {
    pidsOf: (who) => pidsOf(who, site),
    redis: (work) => withRedis(site, work),
    admin: (path, init) => askAdmin(site, path, { ...init, signal: AbortSignal.timeout(ADMIN_MS) }),
    status: () => statusOf(site),
    starts: start.starts,
    async end() {
      // A process that was killed at the last moment may not listen to signals yet.
      await Promise.all(others.map((machine) => whenUp(machine, END_MS)))
      const codes = await Promise.all([start, ...gateways].map((service) => service.end()))
      for (const service of redis) codes.push(await service.end())
      const left = PROCESSES.flatMap((who) => pidsOf(who, site))
      for (const pid of left) process.kill(pid, 'SIGKILL')
      await log.close()
      return { codes, left: left.length }
    },
  }
}

interface Service {
  starts(): number
  /** Ends it by SIGTERM, in the end by SIGKILL; returns the exit code. */
  end(): Promise<number | null>
}

function keepService(
  command: readonly string[],
  { output, env }: { readonly output: number; readonly env: NodeJS.ProcessEnv },
): Service {
  let child: ChildProcess
  const ending = new AbortController()
  let starts = 0
  const kept = keep()

  async function keep(): Promise<void> {
    while (!ending.signal.aborted) {
      starts++
      child = spawn(process.execPath, command, { stdio: ['ignore', output, output], detached: true, env })
      await once(child, 'exit')
      if (!ending.signal.aborted) await pause(AGAIN_MS)
    }
  }

  return {
    starts: () => starts,
    async end() {
      ending.abort()
      const code = await endChild(child, 'SIGTERM', END_MS)
      await kept
      return code
    },
  }
}

async function whenUp({ monitorPort }: Machine, withinMs = Infinity): Promise<void> {
  await untilSo(() => isUp(monitorPort, '/healthz'), { withinMs })
}

/** A supervisor is `start`, or what keeps the shared Redis running. */
function pidsOf(who: string, { dir, dataDir }: Site): number[] {
  if (who === 'redis') return pidsIn(join(dataDir, 'redis'))
  if (who === 'supervisor') return [...pidsWith(dir, 'start'), ...pidsWith(dir, REDIS)]
  return pidsWith(dir, who)
}

async function withRedis<T>({ dataDir, replicated }: Site, work: (redis: Redis) => Promise<T>): Promise<T> {
  if (replicated) return replicated.group.redis(await replicated.group.primary(), work)
  const redis = openRedis(socketUrl(await socketOf(join(dataDir, 'redis'))), {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: 2000,
    commandTimeout: 2000,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

const REDIS = fileURLToPath(new URL('../rig/redis.ts', import.meta.url))
const AGAIN_MS = 300
const END_MS = 15_000
const ADMIN_MS = 5000
