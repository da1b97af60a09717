import { setTimeout as sleep } from 'node:timers/promises'
import { array, assert, asyncProperty, boolean, integer, record as anyRecord } from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { takeAccount } from '../../src/admin/custody.ts'
import type { Device } from '../../src/config/devices.ts'
import { Holding } from '../../src/ingest/holding.ts'
import {
  countDeparting,
  countLanes,
  custodyCounters,
  DuplicateFilter,
  deviceShard,
  discard,
  endDepartures,
  forgetDevice,
  HELD_LISTS,
  type HeldPart,
  inShards,
  keysOf,
  type Lease,
  Leases,
  markInAllShards,
  markReleasing,
  openAppender,
  packDevice,
  packRecords,
  parkedByLane,
  type Redis,
  release,
  releasingDevices,
  relocate,
  shardOf,
  shardsOf,
  sweepHeld,
  timestampOf,
} from '../../src/lanes/index.ts'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { UNFILTERED } from '../support/appending.ts'
import { startApi } from '../support/push-api.ts'
import { records } from '../support/records.ts'
import type { TestRedis } from '../support/redis.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const DEVICE = '123'
const NOW = Math.floor(Date.now() / 1000)
const logger = createLogger('test', { level: 'fatal', format: 'json' })
const soon = { timeout: 30_000, interval: 20 }

let server: TestRedis
let redis: Redis
const closes: (() => unknown)[] = []

withRedis((one, connection) => {
  server = one
  redis = connection
}, 3)
afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of closes.splice(0)) await close()
})

const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
const packed = (times: readonly number[], device = DEVICE) => {
  const positions = times.map((timestamp) => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }))
  return packRecords(positions, packDevice(device), Date.now())
}
/** `changedAt`: when the roster has changed the device, ms UTC; not known, if absent. */
const filtering = (changedAt?: number) => ({
  ...UNFILTERED,
  hold: { maxFixesPerDevice: 1000, maxFixesConfigured: 1000, maxUnknownDevices: 10 },
  duplicates: new DuplicateFilter(redis, {
    windowMs: 86_400_000,
    maxFutureMs: 300_000,
    changedAt: changedAt === undefined ? undefined : () => changedAt,
  }),
})
const laneTimes = async (lane: string) => {
  const lists = await inShards(redis, (shard) => shard.lrangeBuffer(keysOf(shard).lane(lane), 0, -1))
  return records(Buffer.concat(lists.flat())).map(timestampOf)
}
const difference = async () => (await takeAccount(redis)).custody.difference
/** A lane in each of some shards. */
const lanesIn = (...numbers: number[]) =>
  numbers.map((number) => {
    const route = range(1, 100).find((each) => shardOf(redis, `7/42/${each}`) === shardsOf(redis)[number])
    return `7/42/${route}`
  })
const homeOf = (device: string) => shardsOf(redis).indexOf(deviceShard(redis, device))
async function append(lane: string, times: readonly number[], appender = openAppender(redis, UNFILTERED)) {
  const item = { parts: [{ lane, device: DEVICE, records: packed(times) }], received: times.length, filtered: [] }
  const stored = await appender.append(item)
  await appender.close()
  return stored
}

/** Sends fixes as a gateway that has just started; `changedAt` as for `filtering`. */
const gateway = (changedAt?: number) => {
  const appender = openAppender(redis, filtering(changedAt))
  closes.push(() => appender.close())
  return (lane: string, ...times: number[]) =>
    appender.append({
      parts: [{ lane, device: DEVICE, records: packed(times) }],
      received: times.length,
      filtered: [],
    })
}

/** How many scripts were run. */
async function evaluations(): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
}

describe('three shards', () => {
  it('share the lanes; one account sums what all have', async () => {
    const appender = openAppender(redis, filtering())
    const parts = range(1, 60).map((route) => ({
      lane: `7/42/${route}`,
      device: DEVICE,
      records: packed([NOW + route]),
    }))
    const item = { parts, received: 62, filtered: ['accuracy', 'accuracy'] }
    expect(await appender.append(item)).toEqual({ duplicates: 0, refused: false })
    const lanes = await inShards(redis, (shard) => shard.zcard(keysOf(shard).schedule))
    expect(Math.min(...lanes)).toBeGreaterThan(5)
    expect(Object.fromEntries(await custodyCounters(redis))).toEqual({ received: 62, 'filtered:accuracy': 2 })
    expect(
      (await Array.fromAsync(countLanes(redis)))
        .flat()
        .map(({ lane }) => lane)
        .toSorted(),
    ).toEqual(parts.map(({ lane }) => lane).toSorted())
    expect(await difference()).toBe(0)
    expect(await appender.append(item)).toEqual({ duplicates: 60, refused: false })
    expect(await difference()).toBe(0)
    await appender.close()
  })

  it('store nothing twice where one of them fails and the frame comes again', async () => {
    const [one, other] = lanesIn(1, 2)
    const appender = openAppender(redis, filtering())
    closes.push(() => appender.close())
    const parts = [one, other].map((lane, index) => ({ lane, device: DEVICE, records: packed([NOW + index]) }))
    const item = { parts, received: 2, filtered: [] }
    await appender.append(item)
    const next = parts.map((part, index) => ({ ...part, records: packed([NOW + 100 + index]) }))
    breakCommand(shardsOf(redis)[2], 'append')
    await expect(appender.append({ ...item, parts: next })).rejects.toThrow('broken')
    expect(await appender.append({ ...item, parts: next })).toEqual({ duplicates: 1, refused: false })
    expect([await laneTimes(one), await laneTimes(other)]).toEqual([
      [NOW, NOW + 100],
      [NOW + 1, NOW + 101],
    ])
    expect(await difference()).toBe(0)
  })

  it('are all pushed by each worker, every lane in order', async () => {
    const lanes = range(1, 30).map((route) => `7/42/${route}`)
    for (const lane of lanes) await append(lane, range(1, 7))
    const api = await startApi()
    const client = createTrackingClient({ baseUrl: api.url, pushUrl: null, timeoutMs: 10_000, connections: 8 })
    const pushing = startPushing({
      redis,
      redisServer: { url: server.url, shards: 3 },
      client,
      apikeys: new Map([['7', ['key-7']]]),
      place: () => undefined,
      batch: { max_positions: 3, max_wait: 0 },
      push: { concurrency: 16, max_requests_per_s: null, first_delay: 100, max_delay: 1000 },
      logger,
    })
    closes.push(
      () => pushing.stop(),
      () => client.close(),
      () => api.close(),
    )
    await expect.poll(async () => (await custodyCounters(redis)).get('delivered'), soon).toBe(210)
    for (const lane of lanes) expect(api.timestampsOf(lane.slice(2))).toEqual(range(1, 7))
    expect(await difference()).toBe(0)
  })
})

describe('a fix that comes again after its device has got a lane in another shard', () => {
  const [NEWEST, CHANGED_AT] = [NOW + 10, NOW * 1000]
  it('stays in the first one, whether the same gateway receives it or another', async () => {
    const [one, other, third] = lanesIn(0, 1, 2)
    const [send, sendToOther] = [gateway(CHANGED_AT), gateway(CHANGED_AT)]
    await send(one, NOW, NOW + 1)
    expect(await send(other, NOW + 1, NOW + 2)).toEqual({ duplicates: 1, refused: false })
    expect(await sendToOther(third, NOW + 3, NOW, NOW + 2, NOW + 4)).toEqual({ duplicates: 2, refused: false })
    expect(await sendToOther(third, NOW + 1)).toEqual({ duplicates: 1, refused: false })
    expect(await Promise.all([one, other, third].map(laneTimes))).toEqual([
      [NOW, NOW + 1],
      [NOW + 2],
      [NOW + 3, NOW + 4],
    ])
    await expect.poll(async () => (await custodyCounters(redis)).get('filtered:duplicate'), soon).toBe(4)
    expect([(await custodyCounters(redis)).get('received'), await difference()]).toEqual([9, 0])
  })

  it('stays in the first one though its records have gone to another shard since', async () => {
    const [one, other] = lanesIn(0, 1)
    await gateway(CHANGED_AT)(one, NOW)
    await relocate(redis, await leaseOf(one), () => other)
    expect(await gateway(CHANGED_AT)(other, NOW)).toEqual({ duplicates: 1, refused: false })
    expect([await laneTimes(one), await laneTimes(other), await difference()]).toEqual([[], [NOW], 0])
  })

  it('is not acknowledged before a shard that may have it answers', async () => {
    const [one, other] = lanesIn(0, 1)
    const send = gateway(CHANGED_AT)
    await send(one, NOW)
    breakCommand(shardOf(redis, one), 'known')
    await expect(send(other, NOW)).rejects.toThrow('broken')
    expect(await send(other, NOW)).toEqual({ duplicates: 1, refused: false })
  })

  it('is looked for before newer ones of its device are stored, which need no look', async () => {
    const [one, other] = lanesIn(0, 1)
    const send = gateway(CHANGED_AT)
    const later = NOW + 1000
    const isBegun = delayCommand(shardOf(redis, one), 'known')
    const first = send(other, NOW)
    await isBegun
    await Promise.all([first, send(other, later), send(other, later + 1)])
    expect(await laneTimes(other)).toEqual([NOW, later, later + 1])
  })

  it('is not stored before an older one of its connection that has to be stored again', async () => {
    const [other] = lanesIn(1)
    const send = gateway(CHANGED_AT)
    breakCommand(shardOf(redis, other), 'append')
    const sent = await Promise.allSettled([NOW, NOW + 1, NOW + 1000].map((time) => send(other, time)))
    expect(sent.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(await laneTimes(other)).toEqual([])
  })

  it('is not looked for where it is newer than the last change of its device', async () => {
    const [lane] = lanesIn(0)
    // An appender runs a script once a second.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    closes.push(() => vi.useRealTimers())
    const send = gateway(CHANGED_AT - 3_600_000)
    await send(lane, NOW)
    const before = await evaluations()
    await send(lane, NEWEST)
    expect((await evaluations()) - before).toBe(1)
    await send(lane, NOW - 3600)
    expect((await evaluations()) - before).toBe(4)
  })

  it('is stored once in any order of frames, of changes of its lane, and of gateways and their restarts', async () => {
    const lanes = lanesIn(0, 1, 2)
    const frame = anyRecord({
      gateway: integer({ min: 0, max: 1 }),
      restart: boolean(),
      lane: integer({ min: 0, max: 2 }),
      times: array(integer({ min: -12, max: 1 }), { minLength: 1, maxLength: 5 }),
    })
    await assert(
      asyncProperty(array(frame, { maxLength: 15 }), async (frames) => {
        await redis.flushall()
        const gateways = [gateway(CHANGED_AT), gateway(CHANGED_AT)]
        for (const { gateway: number, restart, lane, times } of frames) {
          if (restart) gateways[number] = gateway(CHANGED_AT)
          await gateways[number](lanes[lane], ...times.map((time) => NOW + time * 300))
        }
        const stored = (await Promise.all(lanes.map(laneTimes))).flat()
        const sent = frames.flatMap(({ times }) => times.map((time) => NOW + time * 300))
        expect(stored.toSorted((a, b) => a - b)).toEqual([...new Set(sent)].toSorted((a, b) => a - b))
      }),
      { numRuns: 40 },
    )
  })
})

describe('a move to another shard', () => {
  /** Points at which a process may be killed: before the other shard stores, after that, and after it was noted. */
  const points = {
    'before the other shard has stored': (_: Redis, to: Redis) => breakCommand(to, 'arrive'),
    'once the other shard has stored': (_: Redis, to: Redis) => breakCommand(to, 'arrive', true),
    'before the first shard has forgotten': (from: Redis) => vi.spyOn(from, 'lrem').mockRejectedValueOnce(BROKEN),
    'once the first shard has forgotten': (from: Redis) => {
      const forget = from.lrem.bind(from)
      vi.spyOn(from, 'lrem').mockImplementationOnce((async (...args: [string, number, string]) => {
        await forget(...args)
        throw BROKEN
      }) as typeof from.lrem)
    },
  }

  for (const [name, kill] of Object.entries(points))
    it(`that ends ${name} is ended by another process: nothing is lost or twice, the order is kept`, async () => {
      const [from, to] = lanesIn(0, 1)
      await append(from, range(1, 500))
      const lease = await leaseOf(from)
      kill(shardOf(redis, from), shardOf(redis, to))
      await expect(relocate(redis, lease, () => to)).rejects.toThrow('broken')
      expect([0, 200]).toContain(await countDeparting(redis))
      // Counted once, or while it is in both shards twice.
      expect([0, -200]).toContain(await difference())
      const again = { ...lease, token: await tokenOf(from) }
      expect(await relocate(redis, again, () => to)).toBe(false)
      expect(await laneTimes(to)).toEqual(range(1, 500))
      expect(await laneTimes(from)).toEqual([])
      expect([await countDeparting(redis), await difference()]).toEqual([0, 0])
    })

  it('of what a killed process has begun is ended where nobody asks for its list', async () => {
    const [from, to] = lanesIn(2, 0)
    await append(from, range(1, 10))
    breakCommand(shardOf(redis, to), 'arrive')
    await expect(relocate(redis, await leaseOf(from), () => to)).rejects.toThrow('broken')
    expect(await difference()).toBe(0)
    for (const shard of shardsOf(redis)) await endDepartures(redis, shard, UNFILTERED)
    expect(await laneTimes(to)).toEqual(range(1, 10))
    expect([await countDeparting(redis), await difference()]).toEqual([0, 0])
  })

  it('leaves what stays in its lane, and what goes within the shard', async () => {
    const [from, to] = lanesIn(0, 1)
    await append(from, range(1, 9))
    const place = (record: Buffer) => (timestampOf(record) % 3 === 0 ? to : from)
    expect(await relocate(redis, await leaseOf(from), place)).toBe(true)
    expect([await laneTimes(from), await laneTimes(to)]).toEqual([
      [1, 2, 4, 5, 7, 8],
      [3, 6, 9],
    ])
    expect(await difference()).toBe(0)
  })

  it('is where refused records go that are tried again, and all shards are asked what is parked', async () => {
    const [from, to] = lanesIn(1, 2)
    await append(from, [1, 2])
    const leases = new Leases(shardOf(redis, from), { maxPositions: 10, maxWaitMs: 0 })
    const lease = await leaseOf(from)
    await leases.take(lease)
    await leases.refuse(lease, { status: 422, message: 'no' }, 0)
    expect(Object.fromEntries(await parkedByLane(redis))).toEqual({ [from]: 1 })
    expect(await release(redis, [from], () => to)).toBe(1)
    expect([await laneTimes(from), await laneTimes(to)]).toEqual([[2], [1]])
    expect(await discard(redis, [from])).toBe(0)
    expect(await difference()).toBe(0)
  })
})

const itemOf = (...parts: (HeldPart | { lane: string; device: string; records: Buffer })[]) => {
  return { parts, received: parts.reduce((sum, part) => sum + records(part.records).length, 0), filtered: [] }
}

describe('held fixes', () => {
  const VAN: Device = { id: DEVICE, company_id: '7', courier_id: '42', source: 'devices.yaml:1' }
  const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }

  /** `before`: the lines of the roster until `configure`. */
  async function holdingFor(lines: Assignment[], before: Assignment[] = []) {
    const replica = { current: true, version: 5, roster: await createDirectory([VAN], before) }
    const appender = filtering()
    const holding = new Holding({
      redis,
      appender,
      replica,
      filter: FILTER,
      hold: { unknown: true, no_route: true, clock: true, max_age: 86_400_000 },
      clock: { isInDoubt: false },
      logger,
    })
    closes.push(() => holding.close())
    return {
      holding,
      appender: openAppender(redis, appender),
      async configure() {
        replica.roster = await createDirectory([VAN], lines)
        replica.version = 6
        holding.rosterChanged(new Set([DEVICE]))
        await holding.marking
      },
    }
  }

  const line = (lane: string, from: number, until: number): Assignment => {
    return { device: DEVICE, courier_id: '42', route_id: lane.split('/')[2], from, until, source: 'routes.csv:2' }
  }
  const heldPart = (times: readonly number[]): HeldPart => {
    const at = { lookAt: Date.now() + 3_600_000, rosterVersion: 5 }
    return { held: 'no_route', device: DEVICE, records: packed(times), isProven: true, ...at }
  }
  const ofClock = (time: number) => ({ ...heldPart([time]), held: 'clock' as const, rosterVersion: 6 })
  const own = () => homeOf(DEVICE)
  const others = () => [0, 1, 2].filter((shard) => shard !== own())

  it('go to lanes of all shards; repeats of fixes that these have are dropped', async () => {
    const [one, other, third] = lanesIn(own(), ...others())
    const { appender, configure } = await holdingFor([
      line(one, NOW, NOW + 10),
      line(other, NOW + 10, NOW + 20),
      line(third, NOW + 20, NOW + 30),
    ])
    closes.push(() => appender.close())
    await appender.append(itemOf({ lane: other, device: DEVICE, records: packed([NOW + 10]) }))
    await appender.append(itemOf(heldPart(range(NOW, 30))))
    await configure()
    await expect.poll(() => releasingDevices(redis).then(({ size }) => size), soon).toBe(0)
    expect(await Promise.all([one, other, third].map(laneTimes))).toEqual([
      range(NOW, 10),
      range(NOW + 10, 10),
      range(NOW + 20, 10),
    ])
    expect((await custodyCounters(redis)).get('filtered:duplicate')).toBe(1)
    expect(await difference()).toBe(0)
  })

  it('are dropped when they are released, where a shard has them since before their device had another lane', async () => {
    const [one, other] = lanesIn(...others())
    const { appender, configure } = await holdingFor([line(other, NOW, NOW + 10)])
    closes.push(() => appender.close())
    await appender.append(itemOf({ lane: one, device: DEVICE, records: packed([NOW + 1]) }))
    await appender.append(itemOf(heldPart([NOW, NOW + 1, NOW + 2])))
    await configure()
    await expect.poll(() => releasingDevices(redis).then(({ size }) => size), soon).toBe(0)
    expect([await laneTimes(one), await laneTimes(other)]).toEqual([[NOW + 1], [NOW, NOW + 2]])
    expect((await custodyCounters(redis)).get('filtered:duplicate')).toBe(1)
    expect(await difference()).toBe(0)
  })

  it('stay in front of fixes that come while they are released, whichever shard these belong to', async () => {
    const [lane] = lanesIn(others()[0])
    const { appender, configure, holding } = await holdingFor([line(lane, NOW, NOW + 1000)])
    closes.push(() => appender.close())
    await appender.append(itemOf(heldPart(range(NOW, 300))))
    breakCommand(shardOf(redis, lane), 'arrive')
    const configuring = configure()
    await configuring
    await holding.marking
    // As a gateway stores by the new roster, while the release has stopped halfway.
    for (const time of [NOW + 300, NOW + 301])
      await appender.append(itemOf({ lane, device: DEVICE, records: packed([time]) }))
    await expect.poll(() => releasingDevices(redis).then(({ size }) => size), soon).toBe(0)
    expect(await laneTimes(lane)).toEqual(range(NOW, 302))
    expect([await countDeparting(redis), await difference()]).toEqual([0, 0])
  })

  it('of one device go to their lane in order, though two gateways release them at once', async () => {
    const [lane] = lanesIn(others()[0])
    const { appender } = await holdingFor([])
    closes.push(() => appender.close())
    await appender.append(itemOf({ ...heldPart([NOW]), held: 'clock' }))
    await appender.append(itemOf(heldPart([NOW + 1])))
    const shard = deviceShard(redis, DEVICE)
    const fate = (record: Buffer) => ({ lane, device: DEVICE, records: record })
    const [clock, noRoute] = ['clock', 'no_route'].map((reason) => {
      const [lists] = HELD_LISTS.filter(({ name }) => name === reason)
      return () => sweepHeld(redis, filtering(), { place: { shard, lists, device: DEVICE }, fate })
    })
    const isBegun = delayCommand(shardOf(redis, lane), 'arrive')
    // One gateway has taken the older fix out of its list, and the other one, meanwhile, reads the newer one.
    const read = shard.lrangeBuffer.bind(shard)
    const first = Promise.withResolvers<unknown>()
    vi.spyOn(shard, 'lrangeBuffer').mockImplementationOnce((async (...args: [string, number, number]) => {
      first.resolve(clock())
      await isBegun
      return read(...args)
    }) as typeof shard.lrangeBuffer)
    await noRoute()
    await first.promise
    expect(await laneTimes(lane)).toEqual([NOW, NOW + 1])
    expect([await countDeparting(redis), await difference()]).toEqual([0, 0])
  })

  it('go before newer ones that wait in another shard, though another gateway has just taken them out', async () => {
    const [lane] = lanesIn(others()[0])
    const before = openAppender(redis, filtering())
    closes.push(() => before.close())
    await before.append(itemOf(ofClock(NOW)))
    await markInAllShards(redis, 6, [DEVICE])
    await before.append(itemOf({ lane, device: DEVICE, records: packed([NOW + 1]) }))
    const shard = deviceShard(redis, DEVICE)
    const [lists] = HELD_LISTS.filter(({ name }) => name === 'clock')
    const fate = (record: Buffer) => ({ lane, device: DEVICE, records: record })
    const isBegun = delayCommand(shardOf(redis, lane), 'arrive')
    // The other gateway takes the older fix out when this one is about to count what is held.
    const count = shard.llen.bind(shard)
    let other: Promise<unknown> | undefined
    vi.spyOn(shard, 'llen').mockImplementation((async (key: string) => {
      other ??= sweepHeld(redis, filtering(), { place: { shard, lists, device: DEVICE }, fate })
      await isBegun
      return count(key)
    }) as typeof shard.llen)
    const lines = [line(lane, NOW, NOW + 1000)]
    const { configure } = await holdingFor(lines, lines)
    await configure()
    await expect.poll(() => releasingDevices(redis).then(({ size }) => size), soon).toBe(0)
    await other
    expect(await laneTimes(lane)).toEqual([NOW, NOW + 1])
    expect([await countDeparting(redis), await difference()]).toEqual([0, 0])
  })

  it('go back to the shard of their device if they stay held, before newer ones', async () => {
    const [lane] = lanesIn(others()[0])
    const behind = NOW + 7200
    const { appender, holding, configure } = await holdingFor([line(lane, NOW, behind + 1000)])
    closes.push(() => appender.close())
    await configure()
    await holding.marking
    await appender.append(itemOf(ofClock(behind)))
    await markInAllShards(redis, 6, [DEVICE])
    await appender.append(itemOf({ lane, device: DEVICE, records: packed([behind + 1]) }))
    await expect.poll(() => releasingDevices(redis).then(({ size }) => size), soon).toBe(0)
    await appender.append(itemOf(ofClock(behind + 2)))
    const clockList = keysOf(deviceShard(redis, DEVICE)).held('clock', DEVICE)
    const list = await deviceShard(redis, DEVICE).lrangeBuffer(clockList, 0, -1)
    expect(records(Buffer.concat(list)).map(timestampOf)).toEqual([behind, behind + 1, behind + 2])
    expect([await countDeparting(redis), await difference()]).toEqual([0, 0])
  })

  it('that a gateway with an older roster adds have new fixes of all shards behind them', async () => {
    const [lane] = lanesIn(others()[0])
    const { appender } = await holdingFor([])
    closes.push(() => appender.close())
    // Another gateway has told all shards of version 6, and this one holds by version 5.
    await markReleasing(redis, 6, [])
    await redis.set(keysOf(redis).rosterVersion, 6)
    await appender.append(itemOf(heldPart([NOW])))
    const marked = await inShards(redis, (shard) => shard.zscore(keysOf(shard).releasing, DEVICE))
    expect(marked).toEqual(['6', '6', '6'])
    await appender.append(itemOf({ lane, device: DEVICE, records: packed([NOW + 1]) }))
    expect(await laneTimes(lane)).toEqual([])
    // The second fix goes to the shard of the device meanwhile.
    await expect.poll(difference, soon).toBe(0)
  })

  it('are forgotten with all that the shards have of their device', async () => {
    const lanes = lanesIn(0, 1, 2)
    const appender = openAppender(redis, filtering())
    closes.push(() => appender.close())
    const parts = lanes.map((lane, index) => ({ lane, device: DEVICE, records: packed([NOW + index]) }))
    await appender.append(itemOf(...parts, heldPart([NOW + 10, NOW + 11])))
    expect(await forgetDevice(redis, new Set([DEVICE]))).toMatchObject({ waiting: 3, held: 2, busy: 0 })
    const marks = await inShards(redis, (shard) => shard.zcard(keysOf(shard).markExpiries))
    expect(marks).toEqual([0, 0, 0])
    expect(await difference()).toBe(0)
  })
})

const BROKEN = new Error('broken')

/** The next call of a script fails on a connection; `isRun`: after it has run. */
function breakCommand(shard: Redis, script: string, isRun = false): void {
  const commands = shard as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  for (const name of [`wb_${script}Buffer`, `wb_${script}WhenFullBuffer`]) {
    const run = commands[name].bind(shard)
    const broken = vi.spyOn(commands, name).mockImplementation(async (...args) => {
      broken.mockRestore()
      if (isRun) await run(...args)
      throw BROKEN
    })
  }
}

/** The next call of a script on a connection runs half a second later; resolves when it was called. */
function delayCommand(shard: Redis, script: string): Promise<void> {
  const called = Promise.withResolvers<void>()
  const commands = shard as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  for (const name of [`wb_${script}Buffer`, `wb_${script}WhenFullBuffer`]) {
    const run = commands[name].bind(shard)
    vi.spyOn(commands, name).mockImplementationOnce(async (...args) => {
      called.resolve()
      await sleep(500)
      return run(...args)
    })
  }
  return called.promise
}

async function leaseOf(lane: string): Promise<Lease> {
  const leases = await new Leases(shardOf(redis, lane), { maxPositions: 10, maxWaitMs: 0 }).claim(10)
  return leases.find((lease) => lease.lane === lane) as Lease
}

async function tokenOf(lane: string): Promise<string> {
  const shard = shardOf(redis, lane)
  return (await shard.zscore(keysOf(shard).schedule, lane)) ?? ''
}
