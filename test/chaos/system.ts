import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { pidsIn, pidsWith } from '../processes.ts'
import type { Site } from './site.ts'

/** Who takes part. */
export const PROCESSES = ['supervisor', 'gateway', 'worker', 'admin', 'redis'] as const

/** `waybridge start` on a folder, started again whenever it ends, as a service of the system's is. */
export interface System {
  /** The process ids of one of `PROCESSES`. */
  pidsOf(who: string): number[]
  /** Runs commands on its Redis. Rejects where that does not answer. */
  redis<T>(work: (redis: Redis) => Promise<T>): Promise<T>
  /** Of the admin port. Rejects where that does not answer. */
  status(): Promise<Status>
  /** How often it was started. */
  starts(): number
  /** Ends it in order; answers the exit code, and how many processes it left behind. */
  end(): Promise<{ readonly code: number | null; readonly left: number }>
}

export interface Status {
  readonly waiting: { readonly fixes: number }
  readonly custody: Readonly<Record<string, number>>
}

/** Resolves once it is ready for the first time. What it prints goes to `start.log` in the folder. */
export async function startSystem(site: Site): Promise<System> {
  const log = await open(join(site.dir, 'start.log'), 'a')
  let child: ChildProcess
  const ending = new AbortController()
  let starts = 0
  const kept = keep()
  while (!existsSync(join(site.dataDir, 'ports.json'))) await pause(20)

  async function keep(): Promise<void> {
    while (!ending.signal.aborted) {
      starts++
      child = spawn(process.execPath, [CLI, 'start', '--config', site.dir], {
        stdio: ['ignore', log.fd, log.fd],
        detached: true,
      })
      await once(child, 'exit')
      if (!ending.signal.aborted) await pause(AGAIN_MS)
    }
  }

  return {
    pidsOf: (who) => pidsOf(who, site),
    redis: (work) => withRedis(site, work),
    async status() {
      const token = (await readFile(join(site.dataDir, 'admin-token'), 'utf8')).trim()
      const answer = await fetch(`http://127.0.0.1:${site.adminPort}/admin/status`, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(5000),
      })
      if (!answer.ok) throw new Error(`/admin/status: ${answer.status}`)
      return (await answer.json()) as Status
    },
    starts: () => starts,
    async end() {
      ending.abort()
      child.kill('SIGTERM')
      await Promise.race([kept, pause(END_MS, undefined, { ref: false })])
      const left = PROCESSES.flatMap((who) => pidsOf(who, site))
      for (const pid of left) process.kill(pid, 'SIGKILL')
      await kept
      await log.close()
      return { code: child.exitCode, left: left.length }
    },
  }
}

function pidsOf(who: string, { dir, dataDir }: Site): number[] {
  if (who === 'redis') return pidsIn(join(dataDir, 'redis'))
  return pidsWith(dir, who === 'supervisor' ? 'start' : who)
}

async function withRedis<T>({ dataDir }: Site, work: (redis: Redis) => Promise<T>): Promise<T> {
  const { port, password } = JSON.parse(await readFile(join(dataDir, 'redis/endpoint.json'), 'utf8')) as {
    port: number
    password: string
  }
  const redis = new Redis({
    port,
    password,
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

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const AGAIN_MS = 300
const END_MS = 15_000
