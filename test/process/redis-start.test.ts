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

/* docker/redis-start.sh on three machines, each an address of loopback. */

const { command, env } = findRedisServer()!
const HOSTS = ['127.0.2.1', '127.0.2.2', '127.0.2.3']
const [FIRST, SECOND, THIRD] = HOSTS
const KEYS = 9000
const SOON = { timeout: 60_000, interval: 100 }
const ROLES = ['sentinel', 'server'] as const
type Role = (typeof ROLES)[number]

beforeEach(({ skip }) => skip(!existsSync(join(dirname(command), 'redis-cli')), 'there is no redis-cli'))

it('the start script starts no server before most Sentinels name a primary, and can be stopped meanwhile', async () => {
  const { begin } = await site()
  await begin('sentinel', FIRST)
  const { child, said } = await begin('server', FIRST)
  await expect.poll(said, SOON).toBe('Waiting: most Sentinels name no primary.\n')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([143, null])
})

it('the start script starts no first primary before the others have answered that they are empty', async () => {
  const { begin, server } = await site()
  for (const host of HOSTS) await begin('sentinel', host)
  await begin('server', SECOND)
  const { said } = await begin('server', FIRST)
  await expect.poll(said, SOON).toContain('Waiting: this folder is empty')
  await expect(server(FIRST).ping()).rejects.toThrow()
  await begin('server', THIRD)
  await expect.poll(() => server(FIRST).set('0', '').catch(String), SOON).toBe('OK')
})

it('a killed primary starts again as the primary, or as a replica if another one was promoted', async () => {
  const { begin, end, server, named } = await withData()
  await end('server', FIRST)
  await begin('server', FIRST)
  await expect.poll(() => server(FIRST).dbsize().catch(String), SOON).toBe(KEYS)
  await end('server', FIRST)
  await expect.poll(() => named(), SOON).not.toBe(FIRST)
  await begin('server', FIRST)
  await expect
    .poll(
      () =>
        server(FIRST)
          .role()
          .then(([role]) => role, String),
      SOON,
    )
    .toBe('slave')
  await expect
    .poll(
      async () =>
        server(await named())
          .set('more', '')
          .catch(String),
      SOON,
    )
    .toBe('OK')
})

it('a primary that lost its folder starts as a replica once another one is the primary', async () => {
  const { begin, lose, server, named } = await withData()
  await lose('server', FIRST)
  const { said } = await begin('server', FIRST)
  await expect.poll(said, SOON).toContain('Waiting: this folder is empty')
  await expect.poll(() => server(FIRST).dbsize().catch(String), SOON).toBe(KEYS)
  expect(await named()).not.toBe(FIRST)
  expect(await server(await named()).dbsize()).toBe(KEYS)
})

it('a primary that lost the manifest of its files does not empty the replicas', async () => {
  const { begin, end, dirOf, server, named } = await withData()
  await end('server', FIRST)
  await rm(join(dirOf('server', FIRST), 'appendonlydir/appendonly.aof.manifest'))
  await begin('server', FIRST)
  await expect.poll(() => server(FIRST).dbsize().catch(String), SOON).toBe(KEYS)
  expect(await named()).not.toBe(FIRST)
})

it('a Sentinel without its file asks the others for the primary, and keeps its identity', async () => {
  const { begin, end, lose, named, sentinel } = await withData()
  await end('server', FIRST)
  await expect.poll(() => named(), SOON).not.toBe(FIRST)
  await lose('sentinel', FIRST)
  await begin('sentinel', FIRST)
  await expect.poll(() => named(FIRST), SOON).toBe(await named())
  for (const host of HOSTS) await expect.poll(() => others(sentinel(host)), SOON).toBe(2)
})

/** Returns the number of other Sentinels that a Sentinel knows. */
async function others(sentinel: Redis): Promise<number> {
  return ((await sentinel.call('SENTINEL', 'SENTINELS', 'waybridge').catch(() => [])) as unknown[]).length
}

/** Sets up three machines without a Redis. */
async function site() {
  const dir = await temporaryDir()
  const [port, sentinelPort] = await freePorts(2)
  const running = new Map<string, ChildProcess>()
  const dirOf = (role: Role, host: string) => join(dir, `${role}-${host}`)
  const variables = {
    ...process.env,
    ...env,
    PATH: [dirname(command), process.env.PATH].join(delimiter),
    REDISCLI_AUTH: 'secret',
    SERVERS: HOSTS.join(' '),
    SENTINELS: HOSTS.join(' '),
    CONF: join(ROOT, 'docker'),
    PORT: `${port}`,
    SENTINEL_PORT: `${sentinelPort}`,
  }

  async function begin(role: Role, host: string) {
    const folder = dirOf(role, host)
    await mkdir(folder, { recursive: true })
    const forServer = ['--dir', folder, '--maxmemory', '64mb', '--repl-diskless-sync-delay', '0']
    const args = [role, host, '--bind', host, ...(role === 'server' ? forServer : [])]
    const child = spawn('sh', [join(ROOT, 'docker/redis-start.sh'), ...args], {
      env: { ...variables, DATA: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    running.set(folder, child)
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    return { child, said: () => said }
  }

  async function end(role: Role, host: string): Promise<void> {
    const child = running.get(dirOf(role, host))!
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async function lose(role: Role, host: string): Promise<void> {
    await end(role, host)
    await rm(dirOf(role, host), { recursive: true })
  }

  const server = (host: string) => clientOf(host, port)
  const sentinel = (host: string) => clientOf(host, sentinelPort)
  /** Returns the primary that a Sentinel names; empty without an answer. */
  async function named(host = SECOND): Promise<string> {
    const answer = sentinel(host).call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'waybridge')
    return ((await answer.catch(() => [''])) as string[])[0]
  }
  return { begin, end, lose, dirOf, server, sentinel, named }
}

/** Sets up three machines with the same keys on all disks, whose Sentinels know each other and all servers. */
async function withData() {
  const machines = await site()
  for (const role of ROLES) for (const host of HOSTS) await machines.begin(role, host)
  const primary = machines.server(FIRST)
  await expect.poll(() => primary.set('0', '').catch(String), SOON).toBe('OK')
  const commands = Array.from({ length: KEYS - 1 }, (_, key) => ['set', `${key + 1}`, ''])
  await primary.pipeline(commands).exec()
  // The file of a new replica lacks newer data until the replica has rewritten it.
  const isRewritten = (host: string) => async () => /aof_rewrite_in_progress:0/.test(await machines.server(host).info())
  for (const host of HOSTS) await expect.poll(isRewritten(host), SOON).toBe(true)
  expect(await primary.wait(2, 10_000)).toBe(2)
  for (const host of HOSTS) {
    const sentinel = machines.sentinel(host)
    await expect.poll(() => others(sentinel), SOON).toBe(2)
    const replicas = async () => (await sentinel.call('SENTINEL', 'REPLICAS', 'waybridge')) as unknown[]
    await expect.poll(async () => (await replicas()).length, SOON).toBe(2)
  }
  return machines
}

function clientOf(host: string, port: number): Redis {
  const redis = new Redis(port, host, { password: 'secret', maxRetriesPerRequest: 0 }).on('error', () => {})
  onTestFinished(() => redis.disconnect())
  return redis
}
