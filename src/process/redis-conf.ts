import { join } from 'node:path'

/** What the private Redis is told: `dir` absolute, `maxMemory` in bytes. */
export interface RedisConf {
  readonly dir: string
  readonly port: number
  readonly password: string
  readonly maxMemory: number
}

/** The text of redis.conf: nothing is answered before it is on disk, nothing is ever evicted, loopback only. */
export function redisConf({ dir, port, password, maxMemory }: RedisConf): string {
  const settings: [string, string | number][] = [
    ['dir', quoted(dir)],
    ['logfile', quoted(join(dir, 'redis.log'))],
    ['daemonize', 'no'],
    ['bind', '127.0.0.1 -::1'],
    ['port', port],
    ['protected-mode', 'yes'],
    ['requirepass', quoted(password)],
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
    ['aof-load-truncated', 'yes'],
    ['save', '""'],
    ['maxmemory', maxMemory],
    ['maxmemory-policy', 'noeviction'],
  ]
  return settings.map(([name, value]) => `${name} ${value}\n`).join('')
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
