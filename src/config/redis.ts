import type { RefinementCtx } from 'zod'
import { flag, integer, leaf, list, number, oneOf, orNull, redisUrl, section, setting, size, text } from './leaves.ts'

/** `host:port`, `[IPv6]:port` */
const server = leaf((value) => {
  const [, host, port] = /^(\[[\da-fA-F:.]+\]|[^\s:[\]/@]+):(\d{1,5})$/.exec(value) ?? []
  const isPort = Number(port) > 0 && Number(port) < 65_536
  return isPort ? { host: host.replaceAll(/[[\]]/g, ''), port: Number(port) } : undefined
}, 'expected a host and a port, such as redis-1.example.com:26379')

const MOST_SHARDS = 16

/** The Redis for acknowledged data: a private one, one of the user's own, one that Sentinels fail over, or a Cluster. */
export const redis = section({
  url: orNull(redisUrl).describe(
    'URL of your own Redis; null: a private Redis in `data_dir`, `sentinels` or `cluster`.',
  ),
  sentinels: list(server).describe('In place of `url`: addresses of the Redis Sentinels, `host:port`.'),
  cluster: list(server).describe('In place of `url`: addresses of some nodes of a Redis Cluster, `host:port`.'),
  shards: setting(
    integer(1, MOST_SHARDS),
    1,
    'In how many parts the devices are; in a Cluster each may be on a master of its own. All processes have the same number.',
  ),
  name: orNull(text).describe('What the Sentinels call the primary.'),
  username: orNull(text).describe(
    'User of the servers that the Sentinels name, or of the Cluster; null: the default user.',
  ),
  password: orNull(text).describe('Password of these servers.'),
  sentinel_password: orNull(text).describe('Password of the Sentinels.'),
  tls: setting(flag, false, 'TLS to these servers, to the Sentinels and in the Cluster.'),
  replicas: setting(
    integer(0, 9),
    0,
    'A device is answered once so many replicas, all that there are, have its fix on disk as well.',
  ),
  max_memory: orNull(size).describe('Memory of the private Redis, such as `2gb`; null: half of the machine’s.'),
  stop_at: setting(
    number(0.1, 1),
    0.85,
    'Above this share of `maxmemory` (without one: of its machine’s memory) no fix is acknowledged.',
  ),
  durability: setting(oneOf('strict', 'relaxed'), 'strict', '`relaxed`: ready with an unsafe Redis, too.'),
}).superRefine((values, context) => {
  const { url, sentinels, cluster, name, replicas } = values
  const servers = sentinels.length > 0 ? 'sentinels' : cluster.length > 0 ? 'cluster' : undefined
  for (const key of OF_SERVERS[servers ?? 'url'])
    if (values[key]) refuse(context, key, `only with ${servers || key === 'name' ? 'redis.sentinels' : ONLY_WITH}`)
  if (!servers && replicas > 0 && url === null)
    refuse(context, 'replicas', 'the private Redis has none: set redis.url, redis.sentinels or redis.cluster')
  const others = servers && { url: url !== null, cluster: servers === 'sentinels' && cluster.length > 0 }
  for (const [key, isThere] of Object.entries(others ?? {}))
    if (isThere) refuse(context, key, `leave it out where redis.${servers} says where Redis is`)
  if (servers === 'sentinels' && name === null) refuse(context, 'name', 'missing: what the Sentinels call the primary')
})

/** For each way to name the servers, the keys that are refused beside it. */
const OF_SERVERS = {
  url: ['name', 'username', 'password', 'sentinel_password', 'tls'],
  cluster: ['name', 'sentinel_password'],
  sentinels: [],
} as const
const ONLY_WITH = 'redis.sentinels or redis.cluster: a URL has it in itself'

/** Returns whether `start` runs its own Redis. */
export function isPrivate({ url, sentinels, cluster }: RedisPlace): boolean {
  return url === null && sentinels.length === 0 && cluster.length === 0
}

/** Returns the Redis for acknowledged data; null if it is a private one that this process does not know. */
export function redisServer<Own extends RedisPlace & { readonly shards: number }>(own: Own, privateUrl: string | null) {
  if (!isPrivate(own)) return own
  return privateUrl === null ? null : { url: privateUrl, shards: own.shards }
}

/** Where a Redis of the user's own is. */
export interface RedisPlace {
  readonly url: string | null
  readonly sentinels: readonly unknown[]
  readonly cluster: readonly unknown[]
}

function refuse(context: RefinementCtx, key: string, message: string): void {
  context.addIssue({ code: 'custom', path: [key], message })
}
