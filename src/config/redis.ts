import type { RefinementCtx } from 'zod'
import { flag, integer, leaf, list, number, oneOf, orNull, redisUrl, section, setting, size, text } from './leaves.ts'

/** `host:port`, `[IPv6]:port` */
const server = leaf((value) => {
  const [, host, port] = /^(\[[\da-fA-F:.]+\]|[^\s:[\]/@]+):(\d{1,5})$/.exec(value) ?? []
  const isPort = Number(port) > 0 && Number(port) < 65_536
  return isPort ? { host: host.replaceAll(/[[\]]/g, ''), port: Number(port) } : undefined
}, 'expected a host and a port, such as redis-1.example.com:26379')

/** The Redis that holds what was acknowledged: a private one, one of the user's own, or one that Sentinels fail over. */
export const redis = section({
  url: orNull(redisUrl).describe('URL of your own Redis; null: a private Redis in `data_dir`, or `sentinels`.'),
  sentinels: list(server).describe('In place of `url`: addresses of the Redis Sentinels, `host:port`.'),
  name: orNull(text).describe('What the Sentinels call the primary.'),
  username: orNull(text).describe('User of the servers that the Sentinels name; null: the default user.'),
  password: orNull(text).describe('Password of these servers.'),
  sentinel_password: orNull(text).describe('Password of the Sentinels.'),
  tls: setting(flag, false, 'TLS to these servers and to the Sentinels.'),
  replicas: setting(
    integer(0, 9),
    0,
    'A device is answered once so many replicas, all that may be promoted, have its fix on disk as well.',
  ),
  max_memory: orNull(size).describe('Memory of the private Redis, such as `2gb`; null: half of the machine’s.'),
  stop_at: setting(number(0.1, 1), 0.85, 'Above this share of Redis’ memory no fix is acknowledged.'),
  durability: setting(oneOf('strict', 'relaxed'), 'strict', '`relaxed`: ready with an unsafe Redis, too.'),
}).superRefine((values, context) => {
  const { url, sentinels, name, replicas } = values
  if (sentinels.length === 0) {
    for (const key of ['name', 'username', 'password', 'sentinel_password', 'tls'] as const)
      if (values[key]) refuse(context, key, 'only with redis.sentinels: a URL has it in itself')
    if (replicas > 0 && url === null)
      refuse(context, 'replicas', 'the private Redis has none: set redis.url or redis.sentinels')
    return
  }
  if (url !== null) refuse(context, 'url', 'leave it out where redis.sentinels say which server is the primary')
  if (name === null) refuse(context, 'name', 'missing: what the Sentinels call the primary')
})

/** Whether `start` runs a Redis of its own. */
export function isPrivate({ url, sentinels }: { readonly url: string | null; readonly sentinels: readonly unknown[] }) {
  return url === null && sentinels.length === 0
}

function refuse(context: RefinementCtx, key: string, message: string): void {
  context.addIssue({ code: 'custom', path: [key], message })
}
