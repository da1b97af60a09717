import { createHmac } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { observations } from '../../src/observe/observations.ts'
import { copyAccounts, enterCopies, keys, retryCopy, type Store } from '../../src/store/index.ts'
import { copying, copyOf, startCopyReceiver, storeCopied, VAN } from '../support/copies.ts'
import { ok, startApi, status } from '../rig/api.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

const OTHER = '356307042441014'
const account = async (copy = 'crm') => (await copyAccounts(redis, [copy]))[0]
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)
/** Enters copies that get what is stored from now on. */
const enter = (...copies: string[]) =>
  enterCopies(
    redis,
    copies.map((copy) => ({ copy, log: '7' })),
  )

/** Returns the finding that the copy fails. */
const failing = () =>
  observations.current().find(({ code, subject }) => code === 'copy_failing' && subject.copy === 'crm')

async function settled(copy = 'crm'): Promise<void> {
  await vi.waitFor(
    async () => {
      const { waiting, difference } = await account(copy)
      expect({ waiting, difference }).toEqual({ waiting: 0, difference: 0 })
    },
    { timeout: 60_000 },
  )
}

it('a JSON copy posts signed arrays of fixes with all that is known', async () => {
  const receiver = await startCopyReceiver()
  await enter('crm')
  await storeCopied(redis, [1_790_000_000], { beside: { altitude: 34, satellites: 9, said: { ignition: true } } })
  copying(server, [copyOf({ to: `${receiver.url}/in?key=1`, secret: 's3cret', headers: { 'X-Fleet': 'north' } })])
  await settled()
  const [{ method, url, headers, body, fixes }] = receiver.seen
  expect([method, url, headers['content-type'], headers['x-fleet']]).toEqual([
    'POST',
    '/in?key=1',
    'application/json',
    'north',
  ])
  expect(fixes).toEqual([
    {
      device: VAN,
      name: 'Van 12',
      company_id: '7',
      courier_id: '42',
      route_id: '1001',
      time: '2026-09-21T14:13:20.000Z',
      lat: 52.5,
      lon: 13.4,
      accuracy: 5,
      altitude: 34,
      satellites: 9,
      said: { ignition: true },
    },
  ])
  const signed = createHmac('sha256', 's3cret')
    .update(`${String(headers['waybridge-timestamp'])}.${body}`)
    .digest('hex')
  expect(headers['waybridge-signature']).toBe(`v1=${signed}`)
  expect(await account()).toMatchObject({ delivered: 1, parked: 0, discarded: 0 })
})

it('a JSON copy sends the fixes of each device in order, one request at a time', async () => {
  const receiver = await startCopyReceiver()
  await enter('crm')
  for (let first = 0; first < 600; first += 100)
    await Promise.all([VAN, OTHER].map((device) => storeCopied(redis, numbers(first, 100), { device })))
  copying(server, [copyOf({ to: receiver.url })])
  await settled()
  for (const device of [VAN, OTHER]) expect(receiver.timesOf(device)).toEqual(numbers(0, 600))
  expect(Math.max(...receiver.seen.map(({ together }) => together))).toBe(1)
  expect(Math.max(...receiver.seen.map(({ fixes }) => fixes.length))).toBeLessThanOrEqual(50)
})

it('a fix is deleted from Redis once every copy has it', async () => {
  const receiver = await startCopyReceiver()
  await enter('crm', 'erp')
  await storeCopied(redis, numbers(0, 50))
  copying(server, [copyOf({ to: receiver.url }), copyOf({ name: 'erp', to: receiver.url })])
  await settled('crm')
  await settled('erp')
  await vi.waitFor(async () => expect(await redis.exists(`${keys.copiedPrefix}7`)).toBe(0))
  expect(receiver.timesOf()).toHaveLength(100)
})

it('a JSON copy finds and parks the one refused fix, and delivers the others in order', async () => {
  const receiver = await startCopyReceiver(({ fixes }) => {
    return fixes.some(({ time }) => Date.parse(time) === 13_000) ? 422 : 200
  })
  await enter('crm')
  await storeCopied(redis, numbers(0, 40))
  copying(server, [copyOf({ to: receiver.url })])
  await settled()
  expect(receiver.timesOf()).toEqual(numbers(0, 40).filter((time) => time !== 13))
  expect(await account()).toMatchObject({ delivered: 39, parked: 1, refusal: { status: 422, message: 'no' } })
})

it('a JSON copy parks fixes of a device without an answer only after other devices have been delivered', async () => {
  const receiver = await startCopyReceiver(({ fixes }) => (fixes.some(({ device }) => device === VAN) ? 500 : 200))
  const { end } = copying(server, [copyOf({ to: receiver.url })])
  await enter('crm')
  await storeCopied(redis, [1, 2])
  await storeCopied(redis, [1, 2], { device: OTHER })
  await vi.waitFor(() => expect(receiver.timesOf(OTHER)).toEqual([1, 2]), { timeout: 60_000 })
  // Only deliveries of other devices show that this device is the cause.
  let next = 3
  await vi.waitFor(
    async () => {
      await storeCopied(redis, [next++], { device: OTHER })
      expect((await account()).parked).toBe(2)
    },
    { timeout: 60_000, interval: 500 },
  )
  await settled()
  expect(receiver.timesOf(OTHER)).toEqual(numbers(1, next - 1))
  expect(await account()).toMatchObject({ delivered: next - 1, parked: 2, refusal: { status: 0 } })
  await end()
})

it.each([
  ['429', [429, {}]],
  ['503', [503, {}]],
  ['Retry-After', [500, { 'retry-after': '0' }]],
  ['401', [401, {}]],
] as const)('a JSON copy parks nothing if its receiver limits requests or requires a login: %s', async (_, limit) => {
  const receiver = await startCopyReceiver(({ fixes }) => (fixes.some(({ device }) => device === VAN) ? limit : 200))
  copying(server, [copyOf({ to: receiver.url })])
  await enter('crm')
  await storeCopied(redis, [1, 2])
  let next = 1
  const tries = () => receiver.seen.filter(({ fixes }) => fixes.some(({ device }) => device === VAN)).length
  await vi.waitFor(
    async () => {
      await storeCopied(redis, [next++], { device: OTHER })
      expect(tries()).toBeGreaterThan(20)
    },
    { timeout: 60_000, interval: 50 },
  )
  expect(await account()).toMatchObject({ parked: 0, discarded: 0 })
  receiver.answer(() => 200)
  await settled()
  expect(await account()).toMatchObject({ delivered: next + 1, parked: 0 })
  expect(receiver.timesOf()).toEqual([1, 2])
})

it('a JSON copy waits for the Retry-After of one device, and sends other devices meanwhile', async () => {
  const asked: number[] = []
  const receiver = await startCopyReceiver(({ fixes }) => {
    if (!fixes.some(({ device }) => device === VAN)) return 200
    return asked.push(performance.now()) === 1 ? [429, { 'retry-after': '3' }] : 200
  })
  copying(server, [copyOf({ to: receiver.url, format: 'json' })])
  await enter('crm')
  await storeCopied(redis, [1])
  await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 60_000 })
  for (let time = 1; time < 4; time++) await storeCopied(redis, [time], { device: OTHER })
  await settled()
  expect(asked[1] - asked[0]).toBeGreaterThanOrEqual(2950)
  expect(receiver.taken.findIndex(({ fixes }) => fixes[0].device === VAN)).toBe(receiver.taken.length - 1)
})

it('a JSON copy waits for a receiver that is down, reports it, and delivers everything afterwards', async () => {
  const receiver = await startCopyReceiver()
  await receiver.close()
  copying(server, [copyOf({ to: receiver.url })])
  await enter('crm')
  await storeCopied(redis, numbers(0, 20))
  await vi.waitFor(() => expect(failing()).toBeDefined(), { timeout: 60_000 })
  expect(await account()).toMatchObject({ waiting: 20, delivered: 0, discarded: 0 })
  await storeCopied(redis, numbers(20, 20))
  await receiver.open()
  await settled()
  expect(receiver.timesOf()).toEqual(numbers(0, 40))
  await vi.waitFor(() => expect(failing()).toBeUndefined(), { timeout: 60_000 })
})

it('a JSON copy parks only part of its fixes if its receiver refuses everything', async () => {
  const receiver = await startCopyReceiver(() => 400)
  await enter('crm')
  for (let first = 0; first < 1000; first += 2) await storeCopied(redis, numbers(first, 2))
  const { end } = copying(server, [copyOf({ to: receiver.url })])
  await vi.waitFor(async () => expect((await account()).parked).toBeGreaterThan(5), { timeout: 60_000 })
  const { parked } = await account()
  expect(parked).toBeLessThan(100)
  receiver.answer(() => 200)
  await settled()
  expect(await account()).toMatchObject({ discarded: 0 })
  expect(receiver.timesOf().length + (await account()).parked).toBe(1000)
  await end()
})

it('a JSON copy sends parked fixes again on request', async () => {
  const receiver = await startCopyReceiver(() => 422)
  await enter('crm')
  await storeCopied(redis, [1, 2])
  copying(server, [copyOf({ to: receiver.url })])
  await vi.waitFor(async () => expect((await account()).parked).toBe(2), { timeout: 60_000 })
  receiver.answer(({ fixes }) => (fixes[0].time.endsWith('01.000Z') ? 200 : 422))
  expect(await retryCopy(redis, 'crm')).toBe(2)
  await vi.waitFor(async () => expect(await account()).toMatchObject({ delivered: 1, parked: 1, difference: 0 }), {
    timeout: 60_000,
  })
})

it('a JSON copy sends parked fixes again if that is requested during a retry', async () => {
  const receiver = await startCopyReceiver(() => 422)
  await enter('crm')
  await storeCopied(redis, [1, 2])
  copying(server, [copyOf({ to: receiver.url })])
  await vi.waitFor(async () => expect((await account()).parked).toBe(2), { timeout: 60_000 })
  const held = Promise.withResolvers<number>()
  receiver.answer(({ fixes }) => (fixes[0].time.endsWith('01.000Z') ? 422 : held.promise))
  const before = receiver.seen.length
  await retryCopy(redis, 'crm')
  await vi.waitFor(() => expect(receiver.seen).toHaveLength(before + 2), { timeout: 60_000 })
  expect(await retryCopy(redis, 'crm')).toBe(2)
  receiver.answer(() => 200)
  held.resolve(200)
  await vi.waitFor(async () => expect(await account()).toMatchObject({ delivered: 2, parked: 0, difference: 0 }), {
    timeout: 30_000,
  })
  await vi.waitFor(async () => expect(await redis.hexists(keys.copyCounts, 'crm retry')).toBe(0))
})

it('a JSON copy is sent by one of two workers at a time, and by the other one when that ends', async () => {
  const receiver = await startCopyReceiver()
  await enter('crm')
  const first = copying(server, [copyOf({ to: receiver.url })])
  const second = copying(server, [copyOf({ to: receiver.url })])
  await storeCopied(redis, numbers(0, 100))
  await settled()
  await Promise.all([first.end(), storeCopied(redis, numbers(100, 100))])
  await settled()
  await second.end()
  expect(receiver.timesOf()).toEqual(numbers(0, 200))
  expect(Math.max(...receiver.seen.map(({ together }) => together))).toBe(1)
})

it('a JSON copy is continued by another worker after the turn of a killed one has expired', async () => {
  const receiver = await startCopyReceiver()
  await enter('crm')
  await storeCopied(redis, numbers(0, 10))
  // The turn of a missing worker expires by itself.
  await redis.set(keys.copying('crm'), 'gone', 'PX', 1500)
  expect(await redis.get(keys.copying('crm'))).toBe('gone')
  copying(server, [copyOf({ to: receiver.url })])
  await settled()
  expect(receiver.timesOf()).toEqual(numbers(0, 10))
})

it('a JSON copy sends what a promoted primary has, even if its entries differ from the lost ones', async () => {
  const held = Promise.withResolvers<number>()
  const receiver = await startCopyReceiver(() => held.promise)
  await enter('crm')
  await storeCopied(redis, [1])
  await storeCopied(redis, [2])
  copying(server, [copyOf({ to: receiver.url })])
  await vi.waitFor(() => expect(receiver.seen).not.toEqual([]), { timeout: 60_000 })
  // The last entry had not reached the new primary, which gives its number to the next one.
  await redis
    .multi()
    .rpop(`${keys.copiedPrefix}7`)
    .hset(keys.copiedEntries, '7', 1)
    .hset(keys.copiedFixes, '7', 1)
    .exec()
  await storeCopied(redis, [3])
  held.resolve(200)
  await settled()
  expect(new Set(receiver.timesOf())).toEqual(new Set([1, 2, 3]))
  expect(await account()).toMatchObject({ delivered: 2, discarded: 0 })
})

it('a JSON copy continues if a promoted primary has an older cursor', async () => {
  const held = Promise.withResolvers<number>()
  const receiver = await startCopyReceiver(({ fixes }) =>
    fixes.some(({ time }) => Date.parse(time) === 2000) ? held.promise : 200,
  )
  await enter('crm', 'erp')
  await storeCopied(redis, [1])
  copying(server, [copyOf({ to: receiver.url })])
  await settled()
  await storeCopied(redis, [2])
  await vi.waitFor(() => expect(receiver.seen).toHaveLength(2), { timeout: 60_000 })
  // The last move had not reached the new primary.
  await redis.hset(`${keys.cursorsPrefix}7`, 'crm', `0 0 0 ${Date.now()}`)
  await redis.hdel(keys.copyCounts, 'crm delivered')
  held.resolve(200)
  await settled()
  expect(receiver.timesOf()).toEqual([1, 2, 1, 2])
  expect(await account()).toMatchObject({ delivered: 2, discarded: 0 })
})

it('a JSON copy does not wait for a turn that was taken while the clock of Redis was fast', async () => {
  const receiver = await startCopyReceiver()
  await enter('crm')
  await storeCopied(redis, [1, 2])
  await redis.set(keys.copying('crm'), 'gone', 'PX', 3_600_000)
  copying(server, [copyOf({ to: receiver.url })])
  await settled()
  expect(receiver.timesOf()).toEqual([1, 2])
})

it('a JSON copy follows a change of its settings during a delivery', async () => {
  const [one, two] = [await startCopyReceiver(() => undefined), await startCopyReceiver()]
  await enter('crm')
  const { configure } = copying(server, [copyOf({ to: one.url })], { timeoutMs: 800 })
  await storeCopied(redis, numbers(0, 10))
  await vi.waitFor(() => expect(one.seen).not.toEqual([]), { timeout: 60_000 })
  configure([copyOf({ to: two.url })])
  await settled()
  expect(two.timesOf()).toEqual(numbers(0, 10))
})

it('an OsmAnd copy requests a URL for each fix, for several devices in parallel', async () => {
  const receiver = await startCopyReceiver()
  await enter('crm')
  await storeCopied(redis, [1, 2, 3])
  await storeCopied(redis, [1, 2, 3], { device: OTHER })
  copying(server, [copyOf({ to: `${receiver.url}/?a=b`, format: 'osmand', secret: 'tok' })])
  await settled()
  const urls = receiver.seen.filter(({ url }) => url.includes(VAN)).map(({ url }) => url)
  expect(urls).toEqual(
    [1, 2, 3].map((time) => `/?a=b&id=${VAN}&timestamp=${time}&lat=52.5&lon=13.4&accuracy=5&token=tok`),
  )
  expect(receiver.seen).toHaveLength(6)
  expect(Math.max(...receiver.seen.map(({ together }) => together))).toBe(1)
})

it('a copy pushes to a second tracking API by courier and route, with the apikey of the company', async () => {
  const api = await startApi(ok)
  await enter('crm')
  await storeCopied(redis, [1, 2])
  await storeCopied(redis, [3], { lane: '7/43/1002' })
  copying(server, [copyOf({ to: api.url, format: 'positions_v3' })])
  await settled()
  expect(api.timestampsOf('42/1001')).toEqual([1, 2])
  expect(api.timestampsOf('43/1002')).toEqual([3])
  expect(new Set(api.seen.map(({ apikey }) => apikey))).toEqual(new Set(['key-7']))
  await api.close()
})

it('a copy tries the next apikey of the company if the second tracking API refuses one', async () => {
  const api = await startApi((seen, response) => (seen.apikey === 'key-7' ? status(403) : ok)(seen, response))
  await enter('crm')
  await storeCopied(redis, [1, 2])
  copying(server, [copyOf({ to: api.url, format: 'positions_v3' })], { apikeys: ['key-7', 'next-7'] })
  await settled()
  expect(await account()).toMatchObject({ delivered: 2, parked: 0 })
  expect(api.seen.map(({ apikey }) => apikey)).toEqual(['key-7', 'next-7'])
  await api.close()
})
