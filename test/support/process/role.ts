/*
 * A role for the supervisor's tests: node role.ts ROLE DIR. It listens on a port, counts one fix as received, and writes
 * `ROLE ready` and `ROLE closed` to DIR/journal, and DIR/ROLE.loaded once its code is loaded. DIR/behaviour.json says otherwise:
 * { ROLE: "refuse" | "hang" | "slow" | "crash" | "reject" | "orphan" | "listen PORT" | "after ROLE" }; after: it begins once the
 * code of another role is loaded.
 */

import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { UserError } from '../../../src/errors.ts'
import { createLogger } from '../../../src/observe/log.ts'
import { metrics } from '../../../src/observe/metrics.ts'
import { collectMetrics, filesCompared, type Role, runRole } from '../../../src/process/role.ts'
import type { RoleContext } from '../../../src/process/role-process.ts'
import { openRedis } from '../../../src/redis/connection.ts'
import { listening } from '../listening.ts'
import { untilSo } from '../processes.ts'

const [role, dir] = process.argv.slice(2) as [string, string]
const behaviours = JSON.parse(readFileSync(join(dir, 'behaviour.json'), 'utf8')) as Record<string, string>
const behaviour = behaviours[role] ?? ''
const logger = createLogger(role, { level: 'info', format: 'json' })

if (behaviour === 'orphan') await once(process, 'disconnect')
runRole(logger, { host: '127.0.0.1', port: 0, metricsToken: () => null }, start)
writeFileSync(join(dir, `${role}.loaded`), '')

async function start({ redisUrl, ports: before }: RoleContext): Promise<Role> {
  if (behaviour === 'refuse') throw new UserError(`The ${role} does not like this configuration.`)
  if (behaviour === 'crash') throw new Error('a fault of ours')
  if (behaviour === 'reject') void Promise.reject(new Error('nobody waits'))
  const [, earlier] = /^after (\w+)/.exec(behaviour) ?? []
  if (earlier) await untilSo(() => existsSync(join(dir, `${earlier}.loaded`)), { withinMs: 10_000, everyMs: 20 })
  if (role === 'admin') journal('compared')
  const ports = role === 'admin' ? await filesCompared(before) : before
  metrics.received.inc({ protocol: 'teltonika' }, 1)
  const server = createServer((_, response) => {
    collectMetrics().then(
      (text) => response.end(text),
      (error: Error) => response.destroy(error),
    )
  })
  const port = await listening(server, ports[`tcp/${role}`] ?? Number(/listen (\d+)/.exec(behaviour)?.[1] ?? 0))
  journal(`ready redis=${redisUrl ? await ping(redisUrl) : 'none'} tracking=${ports['tcp/tracking'] !== undefined}`)
  return { ports: role === 'worker' ? {} : { [`tcp/${role}`]: port }, close: () => close(redisUrl, server) }
}

async function close(redisUrl: string | null, server: ReturnType<typeof createServer>): Promise<void> {
  if (behaviour === 'hang') await new Promise(() => {})
  if (behaviour === 'slow') await delay(500)
  server.closeAllConnections()
  server.close()
  journal(`closed redis=${redisUrl ? await ping(redisUrl) : 'none'}`)
}

async function ping(url: string): Promise<string> {
  const redis = openRedis(url, { maxRetriesPerRequest: 1 })
  redis.on('error', () => {})
  try {
    return await redis.ping()
  } catch {
    return 'gone'
  } finally {
    redis.disconnect()
  }
}

function journal(words: string): void {
  appendFileSync(join(dir, 'journal'), `${role} ${words}\n`)
}
