import { createReadStream } from 'node:fs'
import { mkdir, realpath, rename, stat, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { UserError } from '../errors.ts'
import { redisConf } from './redis-conf.ts'
import { keptEndpoint, newEndpoint, type RedisEndpoint } from './redis-endpoint.ts'
import { startFailure } from './redis-failure.ts'
import { endLeftover, inquire } from './redis-inquiry.ts'
import { findRedisServer, missingRedis } from './setup/redis-server.mjs'
import { spawnTethered, type Tethered } from './tether.ts'

const MAX_LOG_BYTES = 8 * 1024 * 1024
const STOP_MS = 1500

/** Where the private Redis lives and how large it may grow; `maxMemory` in bytes, null: half of the machine's. */
export interface PrivateRedisOptions {
  readonly dataDir: string
  readonly maxMemory?: number | null
  /** Ends what has begun, however much it has to read. */
  readonly signal?: AbortSignal
}

/** A running Redis that ends with this process, however that ends. `url` carries the password: never log it. */
export interface PrivateRedis {
  readonly url: string
  readonly pid: number
  /** Resolves once the server has ended, for whatever reason. */
  readonly exited: Promise<void>
  /** Ends it with all that it holds on disk; resolves once it has ended. */
  stop(): Promise<void>
}

/**
 * Starts the Redis of a data folder and resolves once it has read what it kept there, which takes as long as it takes. One
 * that an earlier run left behind is ended first. Throws a UserError where the user has to act: no server program, a full
 * disk, damaged files.
 */
export async function startPrivateRedis(options: PrivateRedisOptions): Promise<PrivateRedis> {
  const server = findRedisServer()
  if (!server) throw new UserError(missingRedis())
  const dir = await redisDir(options.dataDir)
  const endpoint = await freeEndpoint(dir)
  const conf = await writeConf(dir, endpoint, options.maxMemory ?? halfOfMemory())
  const log = join(dir, 'redis.log')
  const logStart = await rotate(log)
  const child = spawnTethered([server.command, conf], {
    env: { ...process.env, ...server.env, TETHER_GRACE_S: '2' },
    log,
  })
  const pid = await whenReady(child, endpoint, options.signal)
  if (pid === undefined) throw startFailure(await text(createReadStream(log, { start: logStart })), { server, dir })
  return running(child, endpoint, pid)
}

async function redisDir(dataDir: string): Promise<string> {
  const dir = join(dataDir, 'redis')
  await mkdir(dir, { recursive: true, mode: 0o700 })
  return realpath(dir)
}

async function freeEndpoint(dir: string): Promise<RedisEndpoint> {
  const kept = await keptEndpoint(dir)
  return (await endLeftover(kept, dir)) ? kept : newEndpoint(dir)
}

async function writeConf(dir: string, endpoint: RedisEndpoint, maxMemory: number): Promise<string> {
  const file = join(dir, 'redis.conf')
  await writeFile(file, redisConf({ dir, ...endpoint, maxMemory }), { mode: 0o600 })
  return file
}

/** Of the machine's memory, or of what this process' container may have. */
function halfOfMemory(): number {
  return Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2)
}

/** Puts a large log aside, and answers where the next line will begin. */
async function rotate(log: string): Promise<number> {
  const { size } = await stat(log).catch(() => ({ size: 0 }))
  if (size < MAX_LOG_BYTES) return size
  await rename(log, `${log}.1`)
  return 0
}

/** The server's process id, or undefined if it ended before it was ready. */
async function whenReady(child: Tethered, endpoint: RedisEndpoint, signal?: AbortSignal): Promise<number | undefined> {
  while (child.isRunning()) {
    const found = await inquire(endpoint)
    if (found.who === 'ours' && !found.loading) return found.pid
    if (signal?.aborted) await child.end(STOP_MS)
    await Promise.race([child.exited, delay(20)])
  }
  return undefined
}

function running(child: Tethered, { port, password }: RedisEndpoint, pid: number): PrivateRedis {
  const url = `redis://:${password}@127.0.0.1:${port}`
  return { url, pid, exited: child.exited, stop: () => child.end(STOP_MS) }
}
