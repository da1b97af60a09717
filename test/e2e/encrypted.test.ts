import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import mqtt from 'mqtt'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Product, startProduct } from '../rig/product.ts'
import { until } from '../support/listen.ts'
import { encrypted } from '../support/secretbox.ts'

const SECRET = 'canary-of-jane'
const NEW_SECRET = 'canary-of-jane-2'
const NOW_S = Math.floor(Date.now() / 1000)
const devices = (secrets: string) => `jane: { company_id: 7, courier_id: 42, route_id: 1001, ${secrets} }\n`
const OWNTRACKS = '  - { transport: http, protocol: owntracks, port: 0, host: 127.0.0.1 }\n'

let product: Product
beforeAll(async () => {
  product = await startProduct({ 'devices.yaml': devices(`secret: ${SECRET}`) }, OWNTRACKS)
})
afterAll(() => product?.end())

const location = (tst: number) => ({ _type: 'location', tst, lat: 52.525, lon: 13.41, acc: 5, tid: 'v1' })

async function post(tst: number, key: string): Promise<number> {
  const url = `http://127.0.0.1:${product.ports['http/owntracks']}/pub?u=jane&d=phone`
  return (await fetch(url, { method: 'POST', body: JSON.stringify(encrypted(location(tst), key)) })).status
}

async function delivered(): Promise<number[]> {
  return (await product.positions('1001', NOW_S - 3600, NOW_S + 60)).map(({ timestamp }) => timestamp)
}

it('an encrypted location is delivered without a password, and one with a wrong key is refused', async () => {
  expect(await post(NOW_S - 100, SECRET)).toBe(200)
  expect(await post(NOW_S - 99, 'a guess')).toBe(403)
  await until(async () => expect(await delivered()).toEqual([NOW_S - 100]))
})

it('an encrypted publication is delivered', async () => {
  const client = mqtt.connect(`mqtt://127.0.0.1:${product.ports.mqtt}`, { username: 'jane', password: SECRET })
  onTestFinished(() => void client.end(true))
  await client.publishAsync('owntracks/jane/phone', JSON.stringify(encrypted(location(NOW_S - 90), SECRET)), { qos: 1 })
  await until(async () => expect(await delivered()).toContain(NOW_S - 90))
})

it('locations under both secrets are delivered during a change, and under the old one until it is removed', async () => {
  await product.write('devices.yaml', devices(`secret: ${NEW_SECRET}, previous_secret: ${SECRET}`))
  for (let tst = NOW_S - 80; tst < NOW_S - 60; tst++) expect(await post(tst, SECRET)).toBe(200)
  await until(async () => expect(await post(NOW_S - 60, NEW_SECRET)).toBe(200))
  expect(await post(NOW_S - 59, SECRET)).toBe(200)
  await product.write('devices.yaml', devices(`secret: ${NEW_SECRET}`))
  await until(async () => expect(await post(NOW_S - 58, SECRET)).toBe(403))
  await until(async () => expect((await delivered()).length).toBeGreaterThanOrEqual(24))
})

it('no secret is in Redis or in the output of the processes', async () => {
  const entries = await readdir(join(product.dir, 'data'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const stored = await Promise.all(files.map((file) => readFile(file, 'latin1')))
  expect(stored.some((text) => text.includes('jane'))).toBe(true)
  expect(stored.some((text) => text.includes('canary-of-jane'))).toBe(false)
  expect(product.said()).not.toContain('canary-of-jane')
})
