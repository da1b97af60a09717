import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { within } from '../async.ts'
import { UserError } from '../errors.ts'
import type { Runnable } from './keep-running.ts'
import { inspectEndpoint, shutDown, socketUrl, takeSocket } from './redis-endpoint.ts'
import { canFetchRedis, fetchRedis, findRedisServer, missingRedis, type RedisServer } from './setup/redis-server.mjs'

/** A running Redis that ends with this process. `url` is the same for a folder from start to start. */
export interface PrivateRedis extends Runnable {
  readonly url: string
  readonly pid: number
}

interface StartOptions {
  readonly signal?: AbortSignal
  /** Is called again and again while Redis loads its data. */
  readonly loading?: () => void
  readonly logger?: Logger
  /** Loads the image `dump.rdb`, which anybody may have made, and has no append-only file until `CONFIG SET`. */
  readonly isImage?: boolean
}

/**
 * Starts the Redis of a data folder, after ending one that an earlier run left there. Resolves once it has loaded its data,
 * however long that takes. Throws a UserError if the user has to act: no server program, full disk, damaged files.
 * `maxMemory` in bytes; null: half of the machine's.
 */
export async function startPrivateRedis(
  dataDir: string,
  maxMemory: number | null,
  { signal, loading, logger, isImage = false }: StartOptions = {},
): Promise<PrivateRedis> {
  const server = findServer(dataDir)
  if (!server) throw new UserError(missingRedis())
  await mkdir(join(dataDir, 'redis'), { recursive: true, mode: 0o700 })
  const dir = await realpath(join(dataDir, 'redis'))
  const socket = await takeSocket(dir, logger)
  const conf = join(dir, 'redis.conf')
  const settings = `${redisConf(dir, socket, maxMemory ?? halfOfMemory())}${isImage ? FROM_IMAGE : FROM_APPEND_ONLY_FILE}`
  await writeFile(conf, settings, { mode: 0o600 })
  const log = join(dir, 'redis.log')
  // The log of the previous run tells why it ended.
  await rename(log, `${log}.1`).catch(() => {})
  signal?.throwIfAborted()
  const env = { ...process.env, ...server.env, TETHER_GRACE_S: '2' }
  const child = spawnTethered([server.command, conf], { env, log })
  const abort = () => void child.end(STOP_MS)
  signal?.addEventListener('abort', abort)
  const pid = await whenReady(child, socket, loading)
  signal?.removeEventListener('abort', abort)
  signal?.throwIfAborted()
  if (pid === undefined) throw startFailure(await readFile(log, 'utf8'), { server, dir, isImage })
  const stop = () => {
    // At once: Redis sees a signal after up to 100 ms.
    void shutDown(socket)
    return child.end(STOP_MS)
  }
  return { url: socketUrl(socket), pid, exited: child.exited, stop }
}

/**
 * Downloads a Redis server into the data folder if the machine has none and the system's packages can be unpacked. In a clone
 * the set-up has done this before; an installed package has no set-up.
 */
export async function fetchMissingRedis(dataDir: string, logger: Logger): Promise<void> {
  if (findServer(dataDir) || !canFetchRedis()) return
  logger.info('no Redis server on PATH: downloading one from the packages of this system')
  await fetchRedis(fetchedInto(dataDir))
}

function findServer(dataDir: string): RedisServer | undefined {
  return findRedisServer() ?? findRedisServer(fetchedInto(dataDir))
}

/** The folder for the Redis server that is downloaded for a data folder. */
export function fetchedInto(dataDir: string): string {
  return resolve(dataDir, 'redis-server')
}

interface Failed extends Pick<StartOptions, 'isImage'> {
  readonly server: RedisServer
  readonly dir: string
}

/** Returns the error for a Redis that ended before it was ready; `log`: its output. */
export function startFailure(log: string, { server, dir, isImage = false }: Failed): UserError {
  // Drops Redis' prefix of process, role, time and level.
  const last = (log.trim().split('\n').at(-1) ?? '').replace(/^\d+:[A-Z] .*? [#*.-] /, '')
  if (/No space left on device/i.test(log)) return new UserError(`The disk with ${dir} is full: make room on it.`)
  if (isImage) return new UserError(`Redis cannot load the image: ${BAD_IMAGE.exec(log)?.[0] ?? last}.`)
  if (/append.?only|\bAOF\b|\bRDB\b/i.test(last)) {
    const copy = `The files of the private Redis in ${dir} are damaged (${last}). Make a copy of that folder`
    return new UserError(`${copy}, then repair it: ${repairCommand(server, dir)}`)
  }
  const reason = last || 'it wrote no reason'
  return new UserError(`The private Redis ended at its start: ${reason} (${join(dir, 'redis.log')}).`)
}

/**
 * Nothing is answered before it is on disk, nothing is evicted, and only this user can connect: there is no network, so no
 * password. Commands that load programs or another server's data do not exist, not even in an append-only file, which
 * `enable-module-command` of Redis 7 and later does not cover. `maxMemory` in bytes.
 */
function redisConf(dir: string, socket: string, maxMemory: number): string {
  return `
dir ${quoted(dir)}
logfile ${quoted(join(dir, 'redis.log'))}
daemonize no
port 0
unixsocket ${quoted(socket)}
unixsocketperm 600
appendfsync always
aof-load-truncated yes
save ""
maxmemory ${maxMemory}
maxmemory-policy noeviction
rename-command MODULE ""
rename-command DEBUG ""
rename-command REPLICAOF ""
rename-command SLAVEOF ""
`
}

const FROM_APPEND_ONLY_FILE = 'appendonly yes\n'
const FROM_IMAGE = 'appendonly no\nsanitize-dump-payload yes\n'
const BAD_IMAGE = /Can't handle RDB format version \d+|Wrong signature|(?<=\[offset \d+\] )(?!Checking).+/

function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}

/** Half of the machine's memory, or of the limit of this process' container. */
function halfOfMemory(): number {
  return Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2)
}

/** Returns the server's process id, or undefined if it ended before it was ready. */
async function whenReady(child: Tethered, socket: string, loading = () => {}): Promise<number | undefined> {
  while (child.isRunning()) {
    const state = await Promise.race([inspectEndpoint(socket), child.exited])
    if (state?.is === 'ours' && !state.loading) return state.pid
    if (state?.is === 'ours') loading()
    await Promise.race([child.exited, delay(20)])
  }
  return undefined
}

function repairCommand(server: RedisServer, dir: string): string {
  const libraries = Object.entries(server.env).map(([name, value]) => `${name}=${value} `)
  const program = `${/valkey/i.test(basename(server.command)) ? 'valkey' : 'redis'}-check-aof`
  const beside = join(dirname(server.command), program)
  // Redis 7 has a folder with a manifest, 6.2 a single file.
  const manifest = join(dir, 'appendonlydir/appendonly.aof.manifest')
  const file = existsSync(manifest) ? manifest : join(dir, 'appendonly.aof')
  return `${libraries.join('')}${existsSync(beside) ? beside : program} --fix ${file}`
}

/** A program that ends when this process does. */
export type Tethered = ReturnType<typeof spawnTethered>

/**
 * Runs a command and appends its output to the file `log`. The command runs in its own session, so that Ctrl-C does not reach
 * it.
 */
export function spawnTethered(command: string[], { env, log }: { env: NodeJS.ProcessEnv; log: string }) {
  const output = openSync(log, 'a', 0o600)
  const child = spawn('/bin/sh', [TETHER, ...command], { env, detached: true, stdio: ['pipe', output, output] })
  closeSync(output)
  const exited = once(child, 'exit').then(() => undefined)
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return { isRunning, exited, end }

  /** Sends SIGTERM and, after `patienceMs`, SIGKILL; resolves once the program has ended. */
  async function end(patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs
    // Sends the signal repeatedly: the shell loses a signal that it receives while it forks.
    while (isRunning() && child.pid && performance.now() < deadline) {
      process.kill(child.pid, 'SIGTERM')
      await within(RESEND_MS, exited)
    }
    if (isRunning() && child.pid) process.kill(-child.pid, 'SIGKILL')
    await exited
  }
}

const STOP_MS = 1500
const RESEND_MS = 250
const TETHER = fileURLToPath(new URL('tether.sh', import.meta.url))
