import { Redis } from 'ioredis'
import type { Connection } from './connection.ts'
import { distinct, say, type Text } from '../texts/text.ts'

/**
 * Returns a sentence for each setting of this Redis and its replicas that endangers acknowledged data, or that cannot be
 * read. Rejects if Redis does not answer.
 */
export async function durabilityProblems(servers: readonly Connection[]): Promise<Text[]> {
  return distinct((await Promise.all(servers.map(problemsOf))).flat())
}

async function problemsOf(redis: Connection): Promise<Text[]> {
  const { replicas } = redis
  if (replicas === 0) return [...(await ownPrimary(redis)), ...(await settingProblems(redis, 'Redis', NEEDED))]
  const needed = [...NEEDED, ['min-replicas-to-write', String(replicas)]] as const
  const [ofPrimary, connected] = await Promise.all([settingProblems(redis, 'Redis', needed), connectedReplicas(redis)])
  const found = await Promise.all(connected.map((replica) => lookAtReplica(redis, replica)))
  const names = found.flatMap(({ name }) => name ?? [])
  const problems = [...ofPrimary, ...found.flatMap((each) => each.problems)]
  // WAIT counts all replicas, also one that is never promoted.
  if (names.length > replicas)
    problems.push(
      say(
        'redis.replicas is {}, but {} replicas are connected ({}): one that lacks what is acknowledged could become the primary. Set redis.replicas: {}',
        replicas,
        names.length,
        names.join(', '),
        names.length,
      ),
    )
  return problems
}

/** Returns how many replicas are missing, if any are: then nothing is acknowledged. Rejects if Redis does not answer. */
export async function missingReplicas(servers: readonly Connection[]): Promise<Text[]> {
  return distinct((await Promise.all(servers.map(missingOf))).flat())
}

async function missingOf(redis: Connection): Promise<Text[]> {
  const needed = redis.replicas
  if (needed === 0) return []
  const { length } = await connectedReplicas(redis)
  if (length >= needed) return []
  const primary = await ownPrimary(redis)
  if (primary.length > 0) return primary
  return [say('{} of {} replicas of Redis are connected: nothing is acknowledged until all are', length, needed)]
}

/** Returns the primary that this Redis follows, if it is a replica itself. */
async function ownPrimary(redis: Redis): Promise<Text[]> {
  const [, host, port] = PRIMARY.exec(await redis.info('replication')) ?? []
  if (host === undefined) return []
  return [say('this Redis is a replica of {} and takes no writes: name its primary in redis.url', `${host}:${port}`)]
}

const PRIMARY = /^role:slave\s+master_host:(\S+)\s+master_port:(\d+)/m

/** A primary of Redis with the replicas that it reports. Addresses are `host:port`. */
export interface RedisPrimary {
  readonly address: string
  /** The numbers of the shards that it has. */
  readonly shards: readonly number[]
  readonly replicas: readonly RedisReplica[]
}

interface RedisReplica {
  readonly host: string
  readonly port: number
  /** `online`, or the step that it has not completed. */
  readonly state: string
  /** Since it confirmed something. */
  readonly lagS: number
  /** Bytes that it has not confirmed. */
  readonly lagBytes: number
}

/** Resolves to the servers that have the shards; none if Redis is reached by a Unix socket. Rejects if Redis does not answer. */
export async function redisPrimaries(shards: readonly Connection[]): Promise<RedisPrimary[]> {
  if (shards[0].options.path) return []
  const found = await Promise.all(
    shards.map(async (shard) => {
      const replicas = await replicasIn(shard)
      return { address: `${shard.stream.remoteAddress}:${shard.stream.remotePort}`, replicas }
    }),
  )
  const primaries = Map.groupBy(found.entries(), ([, { address }]) => address)
  return Array.from(primaries.values(), (same) => ({ ...same[0][1], shards: same.map(([shard]) => shard) }))
}

/** Resolves to the replicas that have confirmed something within the last seconds. */
async function connectedReplicas(redis: Redis): Promise<RedisReplica[]> {
  return (await replicasIn(redis)).filter(({ state, lagS }) => state === 'online' && lagS <= LAG_S)
}

async function replicasIn(redis: Redis): Promise<RedisReplica[]> {
  const info = await redis.info('replication')
  const written = Number(/^master_repl_offset:(\d+)/m.exec(info)?.[1])
  return Array.from(info.matchAll(REPLICA), ([, host, port, state, offset, lag]) => {
    return { host, port: Number(port), state, lagS: Number(lag), lagBytes: Math.max(0, written - Number(offset)) }
  })
}

const REPLICA = /^slave\d+:ip=([^,]+),port=(\d+),state=(\w+),offset=(\d+),lag=(\d+)/gm
/** A replica confirms its data once a second. */
const LAG_S = 3

/** Connects to a replica with the user and password of the primary, and looks for settings that lose data; no `name`: it has just gone. */
async function lookAtReplica(redis: Redis, { host, port }: RedisReplica): Promise<{ name?: string; problems: Text[] }> {
  const name = `${host}:${port}`
  const { username, password, tls } = redis.options
  const replica = new Redis({
    host,
    port,
    username,
    password,
    tls,
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
  })
  replica.on('error', () => {})
  try {
    await replica.connect()
    return { name, problems: await settingProblems(replica, say('The replica {}', name), NEEDED) }
  } catch {
    // A replica that has just disconnected counts as missing, not as unsafe.
    const isThere = (await connectedReplicas(redis)).some((each) => `${each.host}:${each.port}` === name)
    if (!isThere) return { problems: [] }
    const cannot = say(
      'The replica {} does not let itself be asked, so it cannot be verified that it keeps what is acknowledged: {}',
      name,
      RELAXED,
    )
    return { name, problems: [cannot] }
  } finally {
    replica.disconnect()
  }
}

async function settingProblems(redis: Redis, name: Text, needed: readonly (readonly [string, string])[]) {
  try {
    const found = await Promise.all(needed.map(([setting]) => redis.config('GET', setting)))
    return needed.flatMap(([setting, value], index) => {
      const [, actual] = found[index] as [string, string]
      if (actual === value) return []
      return [
        say('{} has {} {}, needed is {} {}: what is acknowledged could be lost', name, setting, actual, setting, value),
      ]
    })
  } catch (error) {
    // Managed servers know no CONFIG, or forbid it; any other error will pass.
    if (!/^(?:ERR|NOPERM)\b/.test((error as Error).message)) throw error
    return [
      say(
        '{} does not let its settings be read (CONFIG GET), so it cannot be verified that it keeps what is acknowledged: if it has {}, {}',
        name,
        needed.map((each) => each.join(' ')).join(', '),
        RELAXED,
      ),
    ]
  }
}

const NEEDED = [
  ['appendonly', 'yes'],
  ['appendfsync', 'always'],
  ['no-appendfsync-on-rewrite', 'no'],
  ['maxmemory-policy', 'noeviction'],
] as const
const RELAXED = say('set redis.durability: relaxed')
/** Longer than a replica that is gone counts as there. */
const ANSWER_MS = 4000
