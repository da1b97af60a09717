import { fileURLToPath } from 'node:url'
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '../observe/log.ts'
import { ClusterNodes, type ServerAddress } from './cluster.ts'
import { LastingConnector } from './lasting-connector.ts'
import { NotReplicated, Replication } from './replication.ts'

export type { Redis }

/** Options of a connection. While Redis loads its file, its estimate of the remaining time may be far off: ask again soon. */
export const LOADING = { maxLoadingRetryTime: 500 }

/** Where Redis is: a URL, or its part of the configuration (config/redis.ts). */
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
  /** How many shards the devices are divided among; absent: one. */
  readonly shards?: number
}

/** The arguments of ioredis' constructor: a URL, if there is one, and options. */
type RedisAddress = readonly [url: string | undefined, options: Omit<RedisOptions, 'replyMapping'>]

/** Returns the address of the server that has the keys with a hash tag. */
export type AddressOf = (tag: string) => RedisAddress

/**
 * Returns a function that returns the address of the server with the keys of a hash tag. Connections to a Cluster through the
 * same function share their knowledge of its nodes.
 */
export function addressesOf(server: RedisServer): AddressOf {
  const {
    url,
    cluster = [],
    username,
    password,
    tls,
    ...sentinels
  }: ReplicatedRedis = typeof server === 'string' ? { url: server } : server
  if (url) return () => addressOfUrl(url)
  const access = { username: username ?? undefined, password: password ?? undefined, ...(tls && { tls: {} }) }
  if (cluster.length === 0) return () => [undefined, { ...FAILING_OVER, ...access, ...primaryOf(sentinels, tls) }]
  const nodes = new ClusterNodes(cluster, access)
  return (tag) => [undefined, { ...FAILING_OVER, ...nodes.optionsFor(tag) }]
}

/** `redis://`, `rediss://` or, on a socket of the file system, `unix:///path?username=…&password=…&db=…`. */
function addressOfUrl(url: string): RedisAddress {
  if (!url.startsWith('unix:')) return [url, {}]
  const { username, password, db = '0' } = Object.fromEntries(new URL(url).searchParams)
  return [undefined, { path: fileURLToPath(url.replace('unix:', 'file:')), username, password, db: Number(db) }]
}

/** Opens a connection to the Redis at a URL, on which scripts of the store cannot be run. */
export function openRedis(url: string, options: RedisOptions): Redis {
  return openAt(addressOfUrl(url), options)
}

function openAt([url, place]: RedisAddress, options: RedisOptions): Redis {
  return new Redis(url as string, { ...place, ...options })
}

/** Timeouts in ms, so short that a dead server does not delay the search for the new primary. */
const FAILING_OVER = { connectTimeout: 2000, disconnectTimeout: 500, sentinelCommandTimeout: 2000 }

/** The primary that the Sentinels name. A connection ends when they name another one. */
function primaryOf({ sentinels, name, sentinel_password }: ReplicatedRedis, tls = false): RedisOptions {
  return {
    sentinels,
    name: name ?? undefined,
    role: 'master',
    failoverDetector: true,
    Connector: LastingConnector as RedisOptions['Connector'],
    sentinelPassword: sentinel_password ?? undefined,
    sentinelRetryStrategy: retryDelay,
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  }
}

/** ms */
function retryDelay(attempt: number): number {
  return Math.min(attempt * 50, 1000)
}

export interface ConnectionOptions {
  /** For the list of clients of Redis. */
  readonly name: string
  /** On the disks of how many replicas a write must be before it counts. */
  readonly replicas: number
  readonly logger?: Logger
}

/**
 * A connection whose commands fail at once while there is no Redis, and are never sent twice. The caller treats a broken
 * connection as "not done", and every script is harmless if it ran all the same.
 */
export class Connection extends Redis {
  readonly replicas: number
  /** Why it is not ready: `connect ECONNREFUSED …`; undefined: not known. */
  trouble: string | undefined
  /** Major version of the server at the last connect. */
  protected majorVersion = 0
  #isGone = false
  readonly #address: RedisAddress
  readonly #replication: Replication | undefined
  readonly #logger: Logger | undefined

  constructor(address: RedisAddress, { name, replicas, logger }: ConnectionOptions) {
    super(address[0] as string, { ...address[1], ...LASTING, connectionName: `waybridge-${name}` })
    this.replicas = replicas
    this.#address = address
    this.#logger = logger
    if (replicas > 0) this.#replication = new Replication(this, replicas)
    const noteTrouble = (error: Error) => this.#noteTrouble(error)
    this.on('error', noteTrouble).on('sentinelError', noteTrouble)
    this.on('close', () => this.#noteGone())
    this.on('ready', () => this.#noteReady())
  }

  /** Opens another connection to the same server, with other options. */
  openAnother(options: RedisOptions): Redis {
    return openAt(this.#address, options)
  }

  /** Resolves with the answer of a write once the replicas have it, if there have to be some. */
  confirmed<Answer>(write: () => Promise<Answer>): Promise<Answer> {
    return this.#replication ? this.#replication.confirmed(write) : write()
  }

  #noteTrouble(error: Error): void {
    this.#logger?.debug({ err: error }, 'Redis')
    if (SUMMARY.test(error.message)) this.#noteGone()
    else this.trouble = error.message
  }

  #noteGone(): void {
    if (!this.#isGone && this.status !== 'end')
      this.#report(['Redis is gone: nothing is stored until it is back', this.trouble ?? []].flat().join(': '))
    this.#isGone = true
  }

  #noteReady(): void {
    this.trouble = undefined
    if (this.#isGone) this.#report('Redis is back')
    this.#isGone = false
    this.info('server').then(
      (info) => (this.majorVersion = Number(/redis_version:(\d+)/.exec(info)?.[1] ?? 0)),
      () => {},
    )
  }

  /** Under `start`, the finding redis_down reports it once for all processes. */
  #report(text: string): void {
    this.#logger?.[process.connected ? 'debug' : 'warn']({ reason: 'redis' }, text)
  }
}

const LASTING = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 10_000,
  socketTimeout: 15_000,
  retryStrategy: retryDelay,
  ...LOADING,
} satisfies RedisOptions

/** Comes after an error of each Sentinel. */
const SUMMARY = /^All sentinels are unreachable/

/** Returns whether a command failed because the connection or the replicas were gone, so that a retry may succeed. */
export function isConnectionError(error: Error): boolean {
  return error instanceof NotReplicated || GONE.test(error.message)
}

const GONE =
  /^(?:Command timed out|Command aborted|Stream isn't writeable|Connection is closed|Reached the max retries|(?:read|write|connect) E|NOREPLICAS|READONLY|MOVED|ASK|TRYAGAIN|CLUSTERDOWN|UNBLOCKED)/
