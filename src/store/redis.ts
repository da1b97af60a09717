import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Redis, type RedisOptions, SentinelConnector } from 'ioredis'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import { ClusterNodes, type ServerAddress } from './cluster.ts'
import { checkFormat } from './format.ts'
import { tagOf } from './keys.ts'
import { NotReplicated, Replication } from './replication.ts'
import { settleShardCount } from './shard-count.ts'
import { joinShards } from './shards.ts'

export type { Redis }

/** The scripts of each file in lua/: its functions, or the one that has its name. Their keys and arguments are said there. */
const SCRIPTS = {
  store: ['append', 'move'],
  forget: ['forget'],
  held: ['claim_held', 'look_again', 'mark_releasing', 'end_release'],
  schedule: ['claim', 'renew', 'postpone', 'seize', 'try_parked'],
  beat: ['beat'],
  take: ['take'],
  done: ['done'],
  retry: ['retry'],
  refusal: ['park', 'refuse'],
  lanes: ['count_lanes', 'lanes_with', 'survey'],
  logs: ['events', 'audit'],
  misunderstood: ['keep_frames', 'drop_frames', 'rewrite_frame'],
  roster: ['roster'],
  sign: ['sign'],
} as const

/** Scripts that fail while Redis' memory is full: what they bring was not acknowledged yet. All others make room. */
const REFUSED_WHEN_FULL: ReadonlySet<string> = new Set(['append', 'roster', 'events', 'keep_frames'])

export type Script = (typeof SCRIPTS)[keyof typeof SCRIPTS][number]
for (const script of Object.values(SCRIPTS).flat()) metrics.slowScripts.inc({ script }, 0)
type Value = string | number | Buffer

/**
 * Options of a connection. While Redis loads its file, it says how long that still takes, which may be far from true:
 * ask again soon.
 */
export const LOADING = { maxLoadingRetryTime: 500 }

/** Where Redis is: a URL, or what the configuration says of it (config/redis.ts). */
export type RedisServer = string | ReplicatedRedis

/** A Redis with replicas: at a URL that follows the primary, the primary that the Sentinels name, or a Cluster. */
interface ReplicatedRedis {
  readonly url?: string | null
  readonly sentinels?: ServerAddress[]
  readonly cluster?: readonly ServerAddress[]
  readonly name?: string | null
  readonly username?: string | null
  readonly password?: string | null
  readonly sentinel_password?: string | null
  readonly tls?: boolean
  /** How many replicas must have a write on disk before it counts as stored. */
  readonly replicas?: number
  /** The number of shards of the lanes; for a plain URL, one. */
  readonly shards?: number
}

/**
 * Opens a connection to `redis://`, `rediss://` or, on a socket of the file system,
 * `unix:///path?username=…&password=…&db=…`. `shard`: the number of the shard that it is for.
 */
export function openRedis(server: RedisServer, options: RedisOptions, shard = 0): Redis {
  const url = typeof server === 'string' ? server : server.url
  if (!url) return new Redis({ ...serversOf(server as ReplicatedRedis, shard), ...options })
  if (!url.startsWith('unix:')) return new Redis(url, options)
  const { username, password, db = '0' } = Object.fromEntries(new URL(url).searchParams)
  const path = fileURLToPath(url.replace('unix:', 'file:'))
  return new Redis({ path, username, password, db: Number(db), ...options })
}

function serversOf(server: ReplicatedRedis, shard: number): RedisOptions {
  const options = server.cluster?.length ? nodesOf(server).optionsFor(tagOf(shard)) : primaryOf(server)
  return { ...FAILING_OVER, ...options }
}

/** A server that is gone must not hold up the look for another one: ms. */
const FAILING_OVER = { connectTimeout: 2000, disconnectTimeout: 500, sentinelCommandTimeout: 2000 }

/** The nodes of a Cluster, shared by all connections of this process. */
function nodesOf(server: ReplicatedRedis): ClusterNodes {
  const { cluster = [], username, password, tls } = server
  const access = { username: username ?? undefined, password: password ?? undefined, ...(tls && { tls: {} }) }
  const known = clusters.get(server) ?? new ClusterNodes(cluster, access)
  clusters.set(server, known)
  return known
}

const clusters = new WeakMap<ReplicatedRedis, ClusterNodes>()

/** The primary, as the Sentinels name it. A connection ends when they name another one. */
function primaryOf({ sentinels, name, username, password, sentinel_password, tls }: ReplicatedRedis): RedisOptions {
  return {
    sentinels,
    name: name ?? undefined,
    role: 'master',
    failoverDetector: true,
    Connector: LastingConnector as RedisOptions['Connector'],
    username: username ?? undefined,
    password: password ?? undefined,
    sentinelPassword: sentinel_password ?? undefined,
    sentinelRetryStrategy: retryDelay,
    ...(tls && { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} }),
  }
}

/**
 * Looks for the primary anew without the watch of the connection before. If Sentinels named another primary meanwhile, that
 * watch would end the look, and ioredis would never connect again.
 */
class LastingConnector extends SentinelConnector {
  override connect(emit: Parameters<SentinelConnector['connect']>[0]): ReturnType<SentinelConnector['connect']> {
    this.disconnect()
    // Else each further look would end it again, and Node would warn of a leak.
    Object.assign(this, { failoverDetector: null })
    return super.connect(emit)
  }
}

/** ms */
function retryDelay(attempt: number): number {
  return Math.min(attempt * 50, 1000)
}

/**
 * A connection whose commands fail at once while there is no Redis, and are never sent twice: the caller treats a
 * broken connection as "not done", and every script is harmless when it ran all the same. It stands for all shards.
 */
export function connect(server: RedisServer, name: string, logger?: Logger): Redis {
  const redis = connectShard(server, name, { logger })
  const others = Array.from({ length: shardCount(server) - 1 }, (_, index) =>
    connectShard(server, name, { shard: index + 1, logger }),
  )
  if (others.length > 0) joinShards(redis, others)
  return redis
}

/** The number of shards that the lanes are divided among. */
function shardCount(server: RedisServer): number {
  return (typeof server === 'string' ? undefined : server.shards) ?? 1
}

function connectShard(
  server: RedisServer,
  name: string,
  { shard = 0, logger }: { shard?: number; logger?: Logger },
): Redis {
  const options: RedisOptions = {
    connectionName: `waybridge-${name}`,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 10_000,
    socketTimeout: 15_000,
    retryStrategy: retryDelay,
    ...LOADING,
  }
  const redis = openRedis(server, options, shard)
  const { replicas = 0 } = typeof server === 'string' ? {} : server
  if (replicas > 0) replications.set(redis, new Replication(redis, replicas))
  let isGone = false
  // Under `start` the finding redis_down says it once for all processes.
  const report = (text: string) => logger?.[process.connected ? 'debug' : 'warn']({ reason: 'redis' }, text)
  const noteGone = () => {
    if (!isGone && redis.status !== 'end')
      report(['Redis is gone: nothing is stored until it is back', troubleOf(redis) ?? []].flat().join(': '))
    isGone = true
  }
  const noteTrouble = (error: Error) => {
    logger?.debug({ err: error }, 'Redis')
    if (SUMMARY.test(error.message)) noteGone()
    else troubles.set(redis, error.message)
  }
  redis.on('error', noteTrouble).on('sentinelError', noteTrouble).on('close', noteGone)
  redis.on('ready', () => {
    troubles.delete(redis)
    if (isGone) report('Redis is back')
    isGone = false
    if (shard === 0) {
      void checkFormat(redis).catch(() => {})
      void settleShardCount(redis)
    }
    void learnVersion(redis).catch(() => {})
  })
  defineScripts(redis)
  return redis
}

/** Why a connection that `connect` has made is not ready: `connect ECONNREFUSED …`; undefined: not known. */
export function troubleOf(redis: Redis): string | undefined {
  return troubles.get(redis)
}

const troubles = new WeakMap<Redis, string>()
/** Comes after an error of each Sentinel. */
const SUMMARY = /^All sentinels are unreachable/

function defineScripts(redis: Redis): void {
  for (const [file, names] of Object.entries(SCRIPTS))
    for (const script of names) {
      const lua = source('lease') + source(file) + (script === file ? '' : `return ${script}()`)
      redis.defineCommand(PREFIX + script, { lua })
      redis.defineCommand(PREFIX + script + WHEN_FULL, { lua: `#!lua flags=allow-oom\n${lua}` })
    }
}

/** Whether a command failed because the connection or the replicas were gone, which may be there again by now. */
export function isConnectionError(error: Error): boolean {
  return error instanceof NotReplicated || GONE.test(error.message)
}

const GONE =
  /^(?:Command timed out|Stream isn't writeable|Connection is closed|Reached the max retries|(?:read|write|connect) E|NOREPLICAS|READONLY|MOVED|ASK|TRYAGAIN|CLUSTERDOWN|UNBLOCKED)/

/** Scripts that need no replica: they read, or what they write may be lost. */
const READING: ReadonlySet<string> = new Set(['survey', 'beat', 'events', 'audit', 'sign'])

/** Runs a script of a connection made by `connect`: its keys, then its arguments. Strings in the answer are buffers. */
export type RunScript = (script: Script, keys: readonly string[], args: readonly Value[]) => Promise<unknown>

/**
 * The scripts of a connection made by `connect`. Where Redis has replicas, their answers wait until these have what was written.
 */
export function scripts(redis: Redis): RunScript {
  const commands = redis as unknown as Record<string, (...args: (Value | readonly Value[])[]) => Promise<unknown>>
  const replication = replications.get(redis)
  return (script, names, args) => {
    const always = !REFUSED_WHEN_FULL.has(script) && (majorVersions.get(redis) ?? 0) >= 7
    const call = () => {
      const askedAt = performance.now()
      // An array, which ioredis takes apart: a call has no room for 100,000 arguments.
      const answer = commands[`${PREFIX}${script}${always ? WHEN_FULL : ''}Buffer`](names.length, ...names, args)
      const ended = () => noteTime(redis, script, askedAt)
      answer.then(ended, ended)
      return answer
    }
    return replication && !READING.has(script) ? replication.confirmed(call) : call()
  }
}

/**
 * Counts a slow call. It is a finding once no call of the connection was quick for five seconds: on a busy machine a single one
 * waits now and then. The time of Redis' fsync counts, which is in no figure that Redis has of a script.
 */
function noteTime(redis: Redis, script: Script, askedAt: number): void {
  const now = performance.now()
  if (now - askedAt < SLOW_MS) return void slowCalls.delete(redis)
  metrics.slowScripts.inc({ script })
  const before = slowCalls.get(redis)
  const since = before && askedAt - before.until < LASTING_MS ? before.since : askedAt
  slowCalls.set(redis, { since, until: now })
  if (now - since < LASTING_MS) return
  observations.note('slow_script', { evidence: `${script}: ${Math.round(now - askedAt)} ms` })
}

/** From when to when all calls of a connection were slow, those that were asked soon after one another. */
const slowCalls = new WeakMap<Redis, { since: number; until: number }>()
const SLOW_MS = 250
const LASTING_MS = 5000

/** The prefix of the commands that run scripts: Redis has an APPEND of its own. */
const PREFIX = 'wb_'
/** The suffix of a script that may write even if Redis' memory is full; Redis 7 allows that. */
const WHEN_FULL = 'WhenFull'

/** A file of lua/, with the files that it includes. */
function source(name: string): string {
  const lua = readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8')
  return lua.replaceAll(/^-- include (\w+)$/gm, (_, included: string) => source(included))
}

/** The major versions of the servers, as they said at the last connect. */
const majorVersions = new WeakMap<Redis, number>()

/** On the disks of how many replicas a write of this connection must be before it counts. */
export function replicasOf(redis: Redis): number {
  return replications.get(redis)?.replicas ?? 0
}

/** The replication of each connection to a Redis with replicas. */
const replications = new WeakMap<Redis, Replication>()

async function learnVersion(redis: Redis): Promise<void> {
  const [, version] = /redis_version:(\d+)/.exec(await redis.info('server')) ?? []
  majorVersions.set(redis, Number(version ?? 0))
}
