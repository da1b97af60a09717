import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UserError } from '../errors.ts'
import type { RedisServer } from './setup/redis-server.mjs'

/** The sentence for a Redis that ended before it was ready; `log`: what it wrote about this start. */
export function startFailure(log: string, { server, dir }: { server: RedisServer; dir: string }): UserError {
  const last = lastWords(log)
  if (/No space left on device/i.test(log)) return new UserError(`The disk with ${dir} is full: make room on it.`)
  if (/append.?only|\bAOF\b|\bRDB\b/i.test(last)) return new UserError(damaged(last, server, dir))
  return new UserError(
    `The private Redis ended at its start: ${last || 'it wrote no reason'} (${join(dir, 'redis.log')}).`,
  )
}

/** The last line without Redis' own prefix of process, role, time and level. */
function lastWords(log: string): string {
  return (log.trim().split('\n').at(-1) ?? '').replace(/^\d+:[A-Z] .*? [#*.-] /, '')
}

function damaged(last: string, server: RedisServer, dir: string): string {
  const libraries = Object.entries(server.env).map(([name, value]) => `${name}=${value} `)
  const beside = join(dirname(server.command), 'redis-check-aof')
  const repair = `${libraries.join('')}${existsSync(beside) ? beside : 'redis-check-aof'} --fix ${aofOf(dir)}`
  return `What the private Redis keeps in ${dir} is damaged (${last}). Keep a copy of that folder, then repair it: ${repair}`
}

/** Redis 7 has a folder with a manifest, 6.2 a single file. */
function aofOf(dir: string): string {
  const manifest = join(dir, 'appendonlydir/appendonly.aof.manifest')
  return existsSync(manifest) ? manifest : join(dir, 'appendonly.aof')
}
