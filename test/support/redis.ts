import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type PrivateRedis, startPrivateRedis } from '../../src/process/redis.ts'

/** A real Redis in a temporary folder, as the product runs it: AOF, fsync always, no eviction. */
export interface TestRedis {
  /** A socket of the file system; the same after `restart`. */
  readonly url: string
  readonly pid: number
  /** Sends a signal to the server itself; after one that ends it, resolves once it has ended. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts it again on the same files and socket, after `kill` or by ending it first. */
  restart(): Promise<void>
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

/** Starts one; `maxMemory` in bytes. It ends at the latest with the test's process. */
export async function startTestRedis({ maxMemory = 256 * 1024 * 1024 } = {}): Promise<TestRedis> {
  const dataDir = await mkdtemp(join(tmpdir(), 'waybridge-redis-'))
  let redis: PrivateRedis = await startPrivateRedis(dataDir, maxMemory)
  return {
    url: redis.url,
    get pid() {
      return redis.pid
    },
    async kill(signal) {
      process.kill(redis.pid, signal)
      if (['SIGKILL', 'SIGTERM', 'SIGINT'].includes(signal)) await redis.exited
    },
    async restart() {
      await redis.stop()
      redis = await startPrivateRedis(dataDir, maxMemory)
    },
    async stop() {
      await redis.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** A connection to one, for proxies. */
export function dialRedis(url: string): Socket {
  return connect(fileURLToPath(url.replace('unix:', 'file:')))
}
