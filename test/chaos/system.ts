import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { socketOf, socketUrl } from '../../src/process/redis-endpoint.ts'
import { openRedis, type Redis } from '../../src/store/index.ts'
import { CLI, pidsIn, pidsWith, untilSo } from '../support/processes.ts'
import { ZONE } from './dst.ts'
import { MAX_MEMORY, type Machine, type Site } from '../rig/site.ts'

/** The kinds of processes that run. */
export const PROCESSES = ['supervisor', 'gateway', 'worker', 'admin', 'redis'] as const

/**
 * `waybridge start` on a folder; with several machines also a gateway for each further one, and a Redis for all. Each is started
 * again whenever it ends, like a service of the system.
 */
export interface System {
  /** The process ids of one of `PROCESSES`. */
  pidsOf(who: string): number[]
  /** Runs commands on its Redis. Rejects where that does not answer. */
  redis<T>(work: (redis: Redis) => Promise<T>): Promise<T>
  /** Asks the admin port. Rejects where that does not answer. */
  admin(path: string, init?: RequestInit): Promise<Response>
  /** Of the admin port. Rejects where that does not answer. */
  status(): Promise<Status>
  /** How often `start` was started. */
  starts(): number
  /** Ends all in order; answers the exit codes, and how many processes were left behind. */
  end(): Promise<{ readonly codes: readonly (number | null)[]; readonly left: number }>
}

export interface Status {
  readonly waiting: { readonly fixes: number }
  readonly custody: Readonly<Record<string, number>>
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
    admin: (path, init) => askAdmin(site, path, init),
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
  /** Ends it by SIGTERM, in the end by SIGKILL; answers the exit code. */
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
      child.kill('SIGTERM')
      await Promise.race([kept, pause(END_MS, undefined, { ref: false })])
      child.kill('SIGKILL')
      await kept
      return child.exitCode
    },
  }
}

async function whenUp({ monitorPort }: Machine, withinMs = Infinity): Promise<void> {
  const url = `http://127.0.0.1:${monitorPort}/healthz`
  await untilSo(async () => (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok, { withinMs })
}

/** Asks the admin port of a site. Rejects where that does not answer. */
async function askAdmin({ dataDir, adminPort }: Site, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${(await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()}`)
  return fetch(`http://127.0.0.1:${adminPort}${path}`, { ...init, headers, signal: AbortSignal.timeout(5000) })
}

/** `GET /admin/status` of a site. Rejects where that does not answer. */
export async function statusOf(site: Site): Promise<Status> {
  const answer = await askAdmin(site, '/admin/status')
  if (!answer.ok) throw new Error(`/admin/status: ${answer.status}`)
  return (await answer.json()) as Status
}

/** The account once nothing moves any more; where that does not come within a time, as it is in the end. */
export async function atRest(status: () => Promise<Status>, withinMs: number): Promise<Status['custody'] | undefined> {
  let custody: Status['custody'] | undefined
  const isAtRest = async () => {
    custody = (await status().catch(() => undefined))?.custody
    return custody?.waiting === 0 && custody.difference === 0
  }
  await untilSo(isAtRest, { withinMs, everyMs: 200 })
  return custody
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
