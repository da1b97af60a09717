import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openRedis, type Redis } from '../../src/lanes/index.ts'
import { socketUrl } from '../../src/process/redis-endpoint.ts'
import { type Product, startProduct } from '../support/product.ts'
import { processesOn } from '../support/running.ts'

/** In the configuration, in what is asked and sent, and in the file of the admin port's token. */
const SECRETS = ['canary-apikey', 'canary-oauth', 'canary-device-9d41', 'canary-metrics-51c7', 'canary-wrong-77e0']
const VAN = '356307042441062'
const soon = { timeout: 20_000 }

let product: Product
let redis: Redis
let secrets: readonly string[]

beforeAll(async () => {
  product = await startProduct(
    { 'devices.yaml': `"${VAN}": { company_id: 7, courier_id: 42, route_id: 1001, secret: canary-device-9d41 }\n` },
    'admin: { port: 0, metrics_token: canary-metrics-51c7 }\n',
  )
  secrets = [...SECRETS, readFileSync(join(product.dir, 'data/admin-token'), 'utf8').trim()]
  redis = openRedis(socketUrl(join(product.dir, 'data/redis/redis.sock')), {})
  await useEverySecret()
}, 90_000)
afterAll(async () => {
  redis?.disconnect()
  await product?.end()
})

/** Sends right and wrong secrets to every port that takes one, and has a position pushed. */
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

it('no secret is in the arguments or the environment of a process', () => {
  const processes = processesOn(product.dir)
  expect(processes.length).toBeGreaterThan(5)
  for (const { pid, command } of processes)
    expectNone(command.slice(0, 3).join(' '), command.join(' ') + readFileSync(`/proc/${pid}/environ`, 'latin1'))
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
  for (const key of keys) expectNone(key, key + (await redis.dumpBuffer(key)).toString('latin1'))
})

it('no secret is in the log, or in a file of the data folder but the one of the token', () => {
  expectNone('log', product.said())
  const data = join(product.dir, 'data')
  const files = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) =>
    lstatSync(join(data, name)).isFile(),
  )
  expect(files).toEqual(expect.arrayContaining(['redis/redis.conf', 'redis/redis.log', 'ports.json']))
  for (const name of files.filter((file) => file !== 'admin-token'))
    expectNone(name, readFileSync(join(data, name), 'latin1'))
})
