import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { socketUrl } from '../../src/process/redis-endpoint.ts'
import { openRedis } from '../../src/store/index.ts'
import { type Product, startProduct } from '../rig/product.ts'
import { GROUP_NAME, RedisGroup } from '../rig/redis-group.ts'
import { freePorts } from '../support/free-ports.ts'
import { processesOn } from '../support/running.ts'

/** Secrets in the configuration, in requests and messages, and in the token file of the admin port. */
const SECRETS = [
  'canary-apikey',
  'canary-oauth',
  'canary-device-9d41',
  'canary-metrics-51c7',
  'canary-wrong-77e0',
  'canary-redis-4b7d',
  'canary-hook-path-2f60',
  'canary-hook-key-c813',
  'canary-mail-e05a',
  'canary-bridge-3d08',
]
/** URL where nothing listens, so that a finding is in the log and in the answers. */
const BRIDGE = '{ url: "mqtt://127.0.0.1:1", topics: { a/+: fix }, username: u, password: canary-bridge-3d08 }'
const REDIS_PASSWORD = 'canary-redis-4b7d'
const VAN = '356307042441062'
const soon = { timeout: 60_000 }
/** URL where nothing listens, so that each alert fails and is logged. */
const ALERTS = `alerts:
  webhooks: [{ url: "http://127.0.0.1:1/canary-hook-path-2f60", secret: canary-hook-key-c813 }]
  mail: { smtp: "smtp://ops:canary-mail-e05a@127.0.0.1:1", from: gate@example.com, to: [ops@example.com] }
`

let product: Product
let group: RedisGroup | undefined
let redis: Redis
let secrets: readonly string[]

/** One machine, whose Redis and Sentinel require the password. */
async function startGroup(): Promise<{ port: number; sentinelPort: number }> {
  const [port, sentinelPort] = await freePorts(2)
  group = await RedisGroup.start({ machines: [{ host: '127.0.0.1', port, sentinelPort }], password: REDIS_PASSWORD })
  return { port, sentinelPort }
}

/** Each kind of Redis: its settings in gateway.yaml, and a connection for the test. */
const PLACES = {
  'a private Redis': async () => ({
    yaml: '',
    open: () => openRedis(socketUrl(join(product.dir, 'data/redis/redis.sock')), {}),
  }),
  'redis.url with a password': async () => {
    const { port } = await startGroup()
    const url = `redis://:${REDIS_PASSWORD}@127.0.0.1:${port}`
    return { yaml: `redis: { url: "${url}" }\n`, open: () => new Redis(url) }
  },
  'Sentinels with a password': async () => {
    const { port, sentinelPort } = await startGroup()
    const passwords = `password: ${REDIS_PASSWORD}, sentinel_password: ${REDIS_PASSWORD}`
    return {
      yaml: `redis: { sentinels: ["127.0.0.1:${sentinelPort}"], name: ${GROUP_NAME}, ${passwords} }\n`,
      open: () => new Redis({ port, password: REDIS_PASSWORD }),
    }
  },
}

describe.each(Object.entries(PLACES))('with %s', (_, place) => {
  beforeAll(async () => {
    const { yaml, open } = await place()
    product = await startProduct(
      { 'devices.yaml': `"${VAN}": { company_id: 7, courier_id: 42, route_id: 1001, secret: canary-device-9d41 }\n` },
      `admin: { port: 0, metrics_token: canary-metrics-51c7 }\nmqtt: { broker: { host: 127.0.0.1, port: 0 }, bridges: [${BRIDGE}] }\n${yaml}${ALERTS}`,
    )
    secrets = [...SECRETS, readFileSync(join(product.dir, 'data/admin-token'), 'utf8').trim()]
    redis = open()
    await useEverySecret()
  })
  afterAll(async () => {
    redis?.disconnect()
    await product?.end()
    await group?.stop()
    group = undefined
  })

  it('no secret is in the arguments or the environment of a process', () => {
    const processes = processesOn(product.dir)
    expect(processes.length).toBeGreaterThan(4)
    for (const { pid, command } of processes)
      expectNone(command.slice(0, 3).join(' '), command.join(' ') + readFileSync(`/proc/${pid}/environ`, 'latin1'))
  })

  it('no memory of a process can get into a core dump', () => {
    for (const { pid, command } of processesOn(product.dir))
      expect([command, Number(readFileSync(`/proc/${pid}/coredump_filter`, 'utf8'))]).toEqual([command, 0])
  })

  it('no secret is in an answer of the admin port or the tracking service', async () => {
    const paths = [
      'status',
      'lanes',
      'devices',
      `devices/${VAN}`,
      'routes',
      'parked',
      'audit',
      'misunderstood',
      'findings',
    ]
    for (const path of paths) expectNone(path, JSON.stringify(await product.admin(`/admin/${path}`)))
    const headers = { authorization: 'Bearer canary-metrics-51c7' }
    const metrics = await (await fetch(`http://127.0.0.1:${product.ports.admin}/metrics`, { headers })).text()
    expect(metrics).toContain('waybridge_fixes_received_total')
    expectNone('/metrics', metrics)
    const refused = `http://127.0.0.1:${product.ports.tracking}/api/v1/couriers/42/routes/1/push-positions-v3?apikey=canary-wrong-77e0`
    expectNone('tracking', await (await fetch(refused, { method: 'POST', body: '{}' })).text())
  })

  it('no secret is in Redis', async () => {
    await redis.config('SET', 'rdbcompression', 'no')
    const keys = await redis.keys('*')
    expect(keys.length).toBeGreaterThan(10)
    for (const key of keys) expectNone(key, key + ((await redis.dumpBuffer(key)) as Buffer | null)?.toString('latin1'))
  })

  it('no secret is in the log or a file of the data folder, except the one of the token', () => {
    expectNone('log', product.said())
    const data = join(product.dir, 'data')
    const files = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) =>
      lstatSync(join(data, name)).isFile(),
    )
    expect(files).toEqual(
      expect.arrayContaining([...(group ? [] : ['redis/redis.conf', 'redis/redis.log']), 'ports.json']),
    )
    for (const name of files.filter((file) => file !== 'admin-token'))
      expectNone(name, readFileSync(join(data, name), 'latin1'))
  })

  it('no secret is in the reports about a failed Redis', async () => {
    redis.disconnect()
    if (group) await group.kill(0)
    else process.kill(product.redisPid()!, 'SIGSTOP')
    await expect.poll(() => product.said(), soon).toContain('Redis does not answer')
    expectNone('log', product.said())
    expectNone('status', JSON.stringify(await product.admin('/admin/status')))
    if (!group) process.kill(product.redisPid()!, 'SIGCONT')
  })
})

/** Sends right and wrong secrets to every port that accepts one, until a position is pushed. */
async function useEverySecret(): Promise<void> {
  const mqtt = `mqtt://127.0.0.1:${product.ports.mqtt}`
  const client = await connectAsync(mqtt, { username: VAN, password: 'canary-device-9d41' })
  await client.publishAsync(`devices/${VAN}/fix`, JSON.stringify({ lat: 52.5, lon: 13.4, timestamp: Date.now() }), {
    qos: 1,
  })
  await client.publishAsync(`devices/${VAN}/fix`, '{"lat":"canary-device-9d41"', { qos: 1 })
  await client.endAsync()
  const osmand = `http://127.0.0.1:${product.ports['http/osmand']}/?id=${VAN}&lat=52.5&lon=13.4`
  for (const token of ['canary-wrong-77e0', 'canary-device-9d41']) await fetch(`${osmand}&token=${token}`)
  const base = `http://127.0.0.1:${product.ports.admin}`
  const wrong = { authorization: 'Bearer canary-wrong-77e0' }
  for (const path of ['/admin/status', '/metrics'])
    expect((await fetch(base + path, { headers: wrong })).status).toBe(401)
  await product.admin('/admin/parked?all=true&apikey=canary-apikey', { method: 'DELETE' })
  await vi.waitUntil(async () => (await custody()) > 0, soon)
  await vi.waitUntil(async () => (await misunderstood()).results.length > 0, soon)
  // The alert about the wrong secret fails.
  await vi.waitUntil(() => product.said().includes('"alerts: webhook 127.0.0.1:1 is not told'), soon)
}

async function custody(): Promise<number> {
  return (await product.admin<{ custody: { delivered: number } }>('/admin/status')).custody.delivered
}

function misunderstood(): Promise<{ results: object[] }> {
  return product.admin<{ results: object[] }>('/admin/misunderstood')
}

function expectNone(what: string, text: string): void {
  expect(secrets.filter((secret) => text.includes(secret)).map((secret) => `${what}: ${secret}`)).toEqual([])
}
