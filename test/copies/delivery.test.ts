import { createHmac } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
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
/** Has copies get what is stored from now on. */
const enter = (...copies: string[]) =>
  enterCopies(
    redis,
    copies.map((copy) => ({ copy, log: '7' })),
  )

/** The finding that the copy fails. */
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

describe('a copy as json', () => {
  it('posts arrays of fixes with all that is known of them, signed', async () => {
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

  it('sends the fixes of each device in order, one request at a time', async () => {
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

  it('leaves nothing in Redis once every copy has it', async () => {
    const receiver = await startCopyReceiver()
    await enter('crm', 'erp')
    await storeCopied(redis, numbers(0, 50))
    copying(server, [copyOf({ to: receiver.url }), copyOf({ name: 'erp', to: receiver.url })])
    await settled('crm')
    await settled('erp')
    await vi.waitFor(async () => expect(await redis.exists(`${keys.copiedPrefix}7`)).toBe(0))
    expect(receiver.timesOf()).toHaveLength(100)
  })

  it('finds and parks the one fix that is refused, and delivers the others in order', async () => {
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

  it('a copy as json goes on with other devices while those of one get no answer, and parks these at last', async () => {
    const receiver = await startCopyReceiver(({ fixes }) => (fixes.some(({ device }) => device === VAN) ? 500 : 200))
    const { end } = copying(server, [copyOf({ to: receiver.url })])
    await enter('crm')
    await storeCopied(redis, [1, 2])
    await storeCopied(redis, [1, 2], { device: OTHER })
    await vi.waitFor(() => expect(receiver.timesOf(OTHER)).toEqual([1, 2]), { timeout: 60_000 })
    // Only what others get through meanwhile shows that it is because of the device.
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
  ] as const)(
    'parks nothing while others get through if it is asked too much, or must log in: %s',
    async (_, limit) => {
      const receiver = await startCopyReceiver(({ fixes }) =>
        fixes.some(({ device }) => device === VAN) ? limit : 200,
      )
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
    },
  )

  it('asks for a device not before the time that Retry-After names, and for others meanwhile', async () => {
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

  it('waits for a receiver that is down, says so, and delivers everything once it is back', async () => {
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

  it('does not park all that a receiver refuses which refuses everything', async () => {
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

  it('tries what is parked once more when it is asked to', async () => {
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

  it('tries what is parked again when that is asked for while it is tried', async () => {
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

  it('a copy as json is sent by one of two workers at a time, and by the other when that one ends', async () => {
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

  it('sends again what a worker had not noted that was killed', async () => {
    const receiver = await startCopyReceiver()
    await enter('crm')
    await storeCopied(redis, numbers(0, 10))
    // The turn of a worker that is gone ends by itself.
    await redis.set(keys.copying('crm'), 'gone', 'PX', 1500)
    expect(await redis.get(keys.copying('crm'))).toBe('gone')
    copying(server, [copyOf({ to: receiver.url })])
    await settled()
    expect(receiver.timesOf()).toEqual(numbers(0, 10))
  })

  it('sends what a primary has that took over, though it has other entries than the one that was lost', async () => {
    const held = Promise.withResolvers<number>()
    const receiver = await startCopyReceiver(() => held.promise)
    await enter('crm')
    await storeCopied(redis, [1])
    await storeCopied(redis, [2])
    copying(server, [copyOf({ to: receiver.url })])
    await vi.waitFor(() => expect(receiver.seen).not.toEqual([]), { timeout: 60_000 })
    // The last entry had not reached it: its number is given to the next one.
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

  it('a copy as json goes on if a primary that took over has the cursor, though it was further', async () => {
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
    // It had not heard of the last move.
    await redis.hset(`${keys.cursorsPrefix}7`, 'crm', `0 0 0 ${Date.now()}`)
    await redis.hdel(keys.copyCounts, 'crm delivered')
    held.resolve(200)
    await settled()
    expect(receiver.timesOf()).toEqual([1, 2, 1, 2])
    expect(await account()).toMatchObject({ delivered: 2, discarded: 0 })
  })

  it('does not wait for a turn that was taken while the clock of Redis was ahead', async () => {
    const receiver = await startCopyReceiver()
    await enter('crm')
    await storeCopied(redis, [1, 2])
    await redis.set(keys.copying('crm'), 'gone', 'PX', 3_600_000)
    copying(server, [copyOf({ to: receiver.url })])
    await settled()
    expect(receiver.timesOf()).toEqual([1, 2])
  })

  it('follows a change of its settings while it sends', async () => {
    const [one, two] = [await startCopyReceiver(() => undefined), await startCopyReceiver()]
    await enter('crm')
    const { configure } = copying(server, [copyOf({ to: one.url })], { timeoutMs: 800 })
    await storeCopied(redis, numbers(0, 10))
    await vi.waitFor(() => expect(one.seen).not.toEqual([]), { timeout: 60_000 })
    configure([copyOf({ to: two.url })])
    await settled()
    expect(two.timesOf()).toEqual(numbers(0, 10))
  })
})

describe('other receivers', () => {
  it('asks a URL for each fix as OsmAnd does, several devices side by side', async () => {
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

  it('pushes to a second tracking API by courier and route, with the apikey of the company', async () => {
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

  it('tries the next apikey of the company if the second tracking API refuses one', async () => {
    const api = await startApi((seen, response) => (seen.apikey === 'key-7' ? status(403) : ok)(seen, response))
    await enter('crm')
    await storeCopied(redis, [1, 2])
    copying(server, [copyOf({ to: api.url, format: 'positions_v3' })], { apikeys: ['key-7', 'next-7'] })
    await settled()
    expect(await account()).toMatchObject({ delivered: 2, parked: 0 })
    expect(api.seen.map(({ apikey }) => apikey)).toEqual(['key-7', 'next-7'])
    await api.close()
  })
})
