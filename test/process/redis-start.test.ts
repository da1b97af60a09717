import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { Redis } from 'ioredis'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { findRedisServer } from '../../src/process/setup/redis-server.mjs'
import { freePorts } from '../support/free-ports.ts'
import { temporaryDir } from '../support/running.ts'
import { ROOT } from '../support/structure/sources.ts'

const { command, env } = findRedisServer()!
const soon = { timeout: 30_000 }
const REFUSED = 'The folder of this primary is empty, and 127.0.0.1 has 9000 keys: make 127.0.0.1 the primary.\n'
const WAITS = 'The folder of this primary is empty: waiting for the number of keys of 127.0.0.1'

beforeEach(({ skip }) => skip(!existsSync(join(dirname(command), 'redis-cli')), 'there is no redis-cli'))

it('the start script starts a primary with an empty folder once its new replica has answered, and none until then', async () => {
  const { begin, primary, replica } = await pair()
  const { said } = await begin('primary')
  await expect.poll(said, soon).toMatch(`${WAITS} (Could not connect to Redis at 127.0.0.1:${replica}`)
  await expect(clientOf(primary).ping()).rejects.toThrow()
  await begin('replica')
  await stored(clientOf(primary))
})

it('the start script starts no primary with an empty folder whose replica has data', async () => {
  const { begin, lose } = await withData()
  await lose('primary')
  const { child, said } = await begin('primary')
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(said()).toBe(REFUSED)
})

it('the start script starts no primary with an empty folder while its replica loads its data, nor afterwards', async () => {
  const { begin, end, lose, replica } = await withData()
  await lose('primary')
  await end('replica')
  await begin('replica', ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'])
  const { child, said } = await begin('primary')
  await expect.poll(said, soon).toContain(`${WAITS} (LOADING Redis is loading the dataset in memory).\n`)
  await clientOf(replica, { enableReadyCheck: false }).config('SET', 'key-load-delay', 0)
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(said().endsWith(REFUSED)).toBe(true)
})

it('the start script starts no primary with an empty folder that its replica does not let in', async () => {
  const { begin, lose, primary } = await withData()
  await lose('primary')
  const { child, said } = await begin('primary', [], 'another')
  await expect.poll(said, soon).toContain(`${WAITS} (AUTH failed: WRONGPASS`)
  await expect(clientOf(primary).ping()).rejects.toThrow()
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([143, null])
})

it('the start script starts no primary whose folder lost the manifest of its files, if its replica has data', async () => {
  const { begin, end, dirOf } = await withData()
  await end('primary')
  await rm(join(dirOf('primary'), 'appendonlydir/appendonly.aof.manifest'))
  const { child } = await begin('primary')
  expect(await once(child, 'exit')).toEqual([1, null])
})

it('the start script starts a primary that has its data without asking its replica', async () => {
  const { begin, end, primary } = await withData()
  await end('primary')
  await end('replica')
  await begin('primary')
  await expect.poll(() => clientOf(primary).dbsize().catch(String), soon).toBe(9000)
})

type Role = 'primary' | 'replica'

/** Two Redis servers that redis-start.sh starts and ends. */
async function pair() {
  const dir = await temporaryDir()
  const [primary, replica] = await freePorts(2)
  const running = new Map<Role, ChildProcess>()
  const dirOf = (role: Role) => join(dir, role)

  async function begin(role: Role, more: readonly string[] = [], password = 'secret') {
    const [own, other] = role === 'primary' ? [primary, replica] : [replica, primary]
    await mkdir(dirOf(role), { recursive: true })
    const script = [join(ROOT, 'docker/redis-start.sh'), role, join(ROOT, 'docker/redis.conf'), '127.0.0.1', `${other}`]
    const options = [
      '--dir',
      dirOf(role),
      '--port',
      `${own}`,
      '--maxmemory',
      '64mb',
      '--repl-diskless-sync-delay',
      '0',
      ...more,
    ]
    const path = [dirname(command), process.env.PATH].join(delimiter)
    const variables = { ...process.env, ...env, PATH: path, REDISCLI_AUTH: password, DATA: dirOf(role) }
    const child = spawn('sh', [...script, ...options], { env: variables, stdio: ['ignore', 'ignore', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    running.set(role, child)
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    return { child, said: () => said }
  }

  async function end(role: Role): Promise<void> {
    const child = running.get(role)!
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async function lose(role: Role): Promise<void> {
    await end(role)
    await rm(dirOf(role), { recursive: true })
  }

  return { begin, end, lose, dirOf, primary, replica }
}

function clientOf(port: number, options: { enableReadyCheck?: boolean } = {}): Redis {
  const redis = new Redis(port, { password: 'secret', maxRetriesPerRequest: 0, ...options }).on('error', () => {})
  onTestFinished(() => redis.disconnect())
  return redis
}

/** A primary and its replica with 9000 keys on the disks of both. */
async function withData() {
  const servers = await pair()
  await Promise.all([servers.begin('primary'), servers.begin('replica')])
  const replica = clientOf(servers.replica)
  // Until a new replica has rewritten its file, that lacks what the replica got meanwhile.
  const hasFile = async () => {
    const [link, file] = await Promise.all([replica.info('replication'), replica.info('persistence')])
    return /master_link_status:up/.test(link) && /aof_rewrite_in_progress:0/.test(file)
  }
  await expect.poll(() => hasFile().catch(() => false), soon).toBe(true)
  await stored(clientOf(servers.primary))
  return servers
}

/** Stores 9000 keys. A primary refuses them until its replica is there. */
async function stored(redis: Redis): Promise<void> {
  await expect.poll(() => redis.set('0', '').catch(String), soon).toBe('OK')
  const commands = Array.from({ length: 8999 }, (_, key) => ['set', `${key + 1}`, ''])
  await redis.pipeline(commands).exec()
  expect(await redis.wait(1, 10_000)).toBe(1)
}
