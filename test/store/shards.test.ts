import { record as anyRecord, array, assert, asyncProperty, boolean, integer } from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { takeAccount } from '../../src/admin/custody.ts'
import type { Device } from '../../src/config/devices.ts'
import { Holding } from '../../src/gateway/holding.ts'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import {
  type AppenderOptions,
  custodyCounters,
  DuplicateFilter,
  describeLanes,
  deviceOf,
  discard,
  forgetDevice,
  type HeldPart,
  type Lease,
  Leases,
  markReleasing,
  Appender,
  type Part,
  type Place,
  packDevice,
  packRecords,
  parkedByLane,
  parkedWhole,
  type Shard,
  type Store,
  release,
  releasingDevices,
  relocate,
  surveyRefused,
  timestampOf,
} from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { ok, type Respond, startApi, status } from '../rig/api.ts'
import { beating } from '../support/beat.ts'
import { UNFILTERED } from '../support/appending.ts'
import { journalOf } from '../support/journal.ts'
import { records } from '../support/records.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const DEVICE = '123'
const [LANE, OTHER_LANE, THIRD_LANE] = ['7/42/1', '7/42/2', '7/42/3']
const NOW = Math.floor(Date.now() / 1000)
const logger = createLogger('test', { level: 'fatal', format: 'json' })
const soon = { timeout: 30_000, interval: 20 }

let redis: Store
const closes: (() => unknown)[] = []

withRedis((_, store) => (redis = store), 3)
afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of closes.splice(0)) await close()
})

const ascending = (one: number, other: number) => one - other
const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
const packed = (times: readonly number[], device = DEVICE) => {
  const positions = times.map((timestamp) => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }))
  return packRecords(positions, packDevice(device), Date.now())
}
const partOf = (lane: string, times: readonly number[], device = DEVICE) => {
  return { lane, device, records: packed(times, device) }
}
const itemOf = (...parts: readonly Part[]) => {
  return { parts, received: parts.reduce((sum, part) => sum + records(part.records).length, 0), filtered: [] }
}
const filtering = () => ({
  ...UNFILTERED,
  hold: { maxFixesPerDevice: 1000, maxFixesConfigured: 1000, maxUnknownDevices: 10 },
  duplicates: new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 }),
})
/** A gateway that has just started. */
const gateway = (options: AppenderOptions = filtering()) => {
  const appender = new Appender(redis, options)
  closes.push(() => appender.close())
  return appender
}
const append = (...parts: readonly Part[]) => {
  const appender = gateway({ ...filtering(), duplicates: null })
  return Promise.all(parts.map((part) => appender.append(itemOf(part))))
}
/** The records that wait in a lane, by shard. */
const laneParts = async (lane: string) => {
  const lists = await redis.inShards((shard) => shard.lrangeBuffer(shard.keyNames.lane(lane), 0, -1))
  return lists.map((list) => records(Buffer.concat(list)))
}
const laneTimes = async (lane: string) => (await laneParts(lane)).flat().map(timestampOf)
/** Resolves when no device is being released. */
const released = () => expect.poll(() => releasingDevices(redis).then(({ size }) => size), soon).toBe(0)
const difference = async () => (await takeAccount(redis)).custody.difference
/** A device in each of the shards with these numbers. */
const devicesIn = (...numbers: number[]) =>
  numbers.map((number) => String(range(1, 100).find((id) => redis.shardOf(`${id}`) === redis.shards[number])))

/** How many scripts were run. */
async function evaluations(): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
}

/** A worker with an API that answers by `respond`. `place`: where records of parked lanes belong. */
async function pushing(respond: Respond, place: Place = () => undefined) {
  const api = await startApi(respond)
  const client = createTrackingClient({ baseUrl: api.url, pushUrl: null, timeoutMs: 10_000, connections: 8 })
  const worker = startPushing({
    zone: 'UTC',
    redis,
    client,
    apikeys: new Map([['7', ['key-7']]]),
    place,
    batch: { max_positions: 3, max_wait: 0 },
    keep: { delivered: 0, max_memory: 0.1 },
    push: { concurrency: 16, max_requests_per_s: null, redeliver_share: 0.2, first_delay: 100, max_delay: 1000 },
    logger,
  })
  closes.push(
    () => worker.stop(),
    () => client.close(),
    () => api.close(),
  )
  return { api, rosterChanged: worker.rosterChanged }
}
const delivered = async () => (await custodyCounters(redis)).get('delivered') ?? 0

it('three shards share the devices, keep all of a device in one, and have one account', async () => {
  const appender = gateway()
  const items = range(1, 60).map((id) => itemOf(partOf(`7/42/${id % 20}`, [NOW + id], `${id}`)))
  const stored = await Promise.all(items.map((item) => appender.append(item)))
  expect(stored).toEqual(items.map(() => ({ duplicates: 0, refused: false })))
  appender.count(['accuracy', 'accuracy'])
  const counts = await redis.inShards(async (shard) => {
    const lanes = await shard.zrange(shard.keyNames.schedule, '0', '-1')
    const lists = await Promise.all(lanes.map((lane) => shard.lrangeBuffer(shard.keyNames.lane(lane), 0, -1)))
    const devices = lists.flatMap((list) => records(Buffer.concat(list))).map(deviceOf)
    expect(devices.filter((device) => redis.shardOf(device) !== shard)).toEqual([])
    return devices.length
  })
  expect(Math.min(...counts)).toBeGreaterThan(5)
  expect(redis.shardOf(`00${DEVICE}`)).toBe(redis.shardOf(DEVICE))
  const again = await Promise.all(items.map((item) => appender.append(item)))
  expect(again).toEqual(items.map(() => ({ duplicates: 1, refused: false })))
  await expect.poll(async () => (await custodyCounters(redis)).get('filtered:accuracy'), soon).toBe(2)
  const { custody, lanes, waiting } = await takeAccount(redis)
  expect(custody).toMatchObject({ received: 122, filtered: 62, waiting: 60, difference: 0 })
  expect([lanes.length, waiting.lanes, new Set(lanes.map((lane) => lane.waiting))]).toEqual([20, 20, new Set([3])])
})

it('stores the fixes of a frame in one call, whatever lanes and held fixes they belong to', async () => {
  // An appender runs a script once a second.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  closes.push(() => vi.useRealTimers())
  const appender = gateway()
  await appender.append(itemOf(partOf(LANE, [NOW])))
  const before = await evaluations()
  await appender.append(itemOf(partOf(LANE, [NOW + 1]), partOf(OTHER_LANE, [NOW + 2]), heldPart([NOW + 3])))
  expect((await evaluations()) - before).toBe(1)
})

it('each worker pushes all shards, each part of a lane in order, one request at a time', async () => {
  const devices = devicesIn(0, 1, 2)
  const parts = range(1, 10).flatMap((route) =>
    devices.map((device, index) => partOf(`7/42/${route}`, range(1000 * index, 7), device)),
  )
  await append(...parts, partOf('7/43/1', range(1, 7)))
  const { api } = await pushing((push, response) => void setTimeout(() => ok(push, response), 20))
  await expect.poll(delivered, soon).toBe(217)
  for (const route of range(1, 10)) {
    const times = api.timestampsOf(`42/${route}`)
    for (const index of [0, 1, 2])
      expect(times.filter((time) => Math.floor(time / 1000) === index)).toEqual(range(1000 * index, 7))
  }
  expect(Math.max(...api.seen.map(({ together }) => together))).toBeLessThanOrEqual(devices.length)
  expect(api.seen.filter(({ lane }) => lane === '43/1').map(({ together }) => together)).toEqual([1, 1, 1])
  expect(await difference()).toBe(0)
})

it('three shards show one lane to operations, whichever of its parts are parked or refused', async () => {
  const [one, other, third] = devicesIn(0, 1, 2)
  await append(partOf(LANE, [1, 2], one), partOf(LANE, [3, 4, 5], other), partOf(LANE, [6], third))
  const since = Date.now()
  await park(one, 404)
  await refuse(other)
  await park(other, 403)
  await refuse(third)
  const [state] = await describeLanes(redis, [LANE])
  expect(state).toMatchObject({
    lane: LANE,
    waiting: 4,
    lastPush: { status: '422' },
    parked: { status: 403, fixes: 4 },
  })
  expect(state.parked?.since).toBeLessThan(state.parked?.at ?? 0)
  expect(state.parked?.since).toBeGreaterThanOrEqual(since)
  expect(await parkedWhole(redis)).toMatchObject([{ lane: LANE, status: 403, since: state.parked?.since }])
  expect(Object.fromEntries(await parkedByLane(redis))).toEqual({ [LANE]: 6 })
  expect((await Array.fromAsync(surveyRefused(redis, LANE))).map(({ count }) => count)).toEqual([1, 1])
  await append(partOf(LANE, [7], third))
  const { lanes, parked, waiting } = await takeAccount(redis)
  expect([lanes, waiting, parked]).toMatchObject([
    [{ lane: LANE, waiting: 5 }],
    { fixes: 1, lanes: 1 },
    { fixes: 6, lanes: 1 },
  ])
  expect(await release(redis, [LANE], () => OTHER_LANE)).toBe(6)
  expect((await laneTimes(OTHER_LANE)).toSorted(ascending)).toEqual([3, 6])
  expect(await discard(redis, [LANE])).toBe(4)
  expect([await laneTimes(LANE), await difference()]).toEqual([[7], 0])
})

it('drops a duplicate in another lane of its device, whether the same gateway receives it or another', async () => {
  const [one, other] = [gateway(), gateway()]
  await one.append(itemOf(partOf(LANE, [NOW, NOW + 1])))
  expect(await one.append(itemOf(partOf(OTHER_LANE, [NOW + 1, NOW + 2])))).toEqual({ duplicates: 1, refused: false })
  expect(await other.append(itemOf(partOf(THIRD_LANE, [NOW, NOW + 2, NOW + 3])))).toEqual({
    duplicates: 2,
    refused: false,
  })
  expect(await Promise.all([LANE, OTHER_LANE, THIRD_LANE].map(laneTimes))).toEqual([
    [NOW, NOW + 1],
    [NOW + 2],
    [NOW + 3],
  ])
  expect(await difference()).toBe(0)
})

it('stores a fix once if two gateways receive it at once for two lanes of its device', async () => {
  const [one, other] = [gateway(), gateway()]
  const stored = await Promise.all([
    one.append(itemOf(partOf(LANE, [NOW]))),
    other.append(itemOf(partOf(OTHER_LANE, [NOW]))),
  ])
  expect(stored.map(({ duplicates }) => duplicates).toSorted(ascending)).toEqual([0, 1])
  expect([...(await laneTimes(LANE)), ...(await laneTimes(OTHER_LANE))]).toEqual([NOW])
})

it('stores each fix once in any order of frames, lanes, gateways and restarts', async () => {
  const lanes = [LANE, OTHER_LANE, THIRD_LANE]
  const frame = anyRecord({
    number: integer({ min: 0, max: 1 }),
    restart: boolean(),
    lane: integer({ min: 0, max: 2 }),
    times: array(integer({ min: -12, max: 1 }), { minLength: 1, maxLength: 5 }),
  })
  await assert(
    asyncProperty(array(frame, { maxLength: 15 }), async (frames) => {
      await redis.flushall()
      const gateways = [gateway(), gateway()]
      for (const { number, restart, lane, times } of frames) {
        if (restart) gateways[number] = gateway()
        await gateways[number].append(
          itemOf(
            partOf(
              lanes[lane],
              times.map((time) => NOW + time * 300),
            ),
          ),
        )
      }
      const stored = (await Promise.all(lanes.map(laneTimes))).flat()
      const sent = frames.flatMap(({ times }) => times.map((time) => NOW + time * 300))
      expect(stored.toSorted(ascending)).toEqual([...new Set(sent)].toSorted(ascending))
    }),
    { numRuns: 40 },
  )
})

it('makes a move to another lane once although its answer is lost, and keeps the order', async () => {
  await append(partOf(LANE, range(1, 500)))
  const shard = redis.shardOf(DEVICE)
  const lease = await leaseOf(LANE, DEVICE)
  breakCommand(shard, 'move', true)
  await expect(relocate(shard, lease, () => OTHER_LANE)).rejects.toThrow('broken')
  expect(await difference()).toBe(0)
  expect(await relocate(shard, lease, () => OTHER_LANE)).toBe(false)
  expect([await laneTimes(LANE), await laneTimes(OTHER_LANE)]).toEqual([[], range(1, 500)])
  expect(await difference()).toBe(0)
})

it('a move to another lane leaves the parts of other shards', async () => {
  const [one, other] = devicesIn(0, 1)
  await append(partOf(LANE, [1, 2], one), partOf(LANE, [3], other))
  expect(await relocate(redis.shardOf(one), await leaseOf(LANE, one), () => OTHER_LANE)).toBe(false)
  expect([await laneTimes(LANE), await laneTimes(OTHER_LANE), await difference()]).toEqual([[3], [1, 2], 0])
})

/** A lane that another device feeds, too; the API does not answer for that device before `end`. */
async function pushingOther(respond: Respond, place?: Place) {
  const [device, other] = devicesIn(1, 2)
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const { api, rosterChanged } = await pushing((push, response) => {
    if (push.timestamps[0] < NOW) return respond(push, response)
    asked.resolve()
    return void answered.promise.then(() => ok(push, response))
  }, place)
  await append(partOf(LANE, range(NOW, 7), other))
  await asked.promise
  return {
    api,
    rosterChanged,
    device,
    async end(count: number) {
      const lane = LANE.slice(2)
      expect(api.timestampsOf(lane).filter((time) => time >= NOW)).toEqual(range(NOW, 3))
      answered.resolve()
      await expect.poll(delivered, soon).toBe(count)
      expect(api.timestampsOf(lane).filter((time) => time >= NOW)).toEqual(range(NOW, 7))
      expect(await difference()).toBe(0)
    },
  }
}

it('a change of the route moves parked fixes while a worker pushes another part of the lane', async () => {
  const places = { ofDevice: LANE }
  const [own] = devicesIn(1)
  const isLane = ({ lane }: { lane: string }) => lane === LANE.slice(2)
  const { api, device, end, rosterChanged } = await pushingOther(
    (push, response) => (isLane(push) ? status(404) : ok)(push, response),
    (record) => (deviceOf(record) === own ? places.ofDevice : LANE),
  )
  await append(partOf(LANE, range(1, 7), device))
  await expect.poll(() => parkedWhole(redis), soon).toMatchObject([{ lane: LANE, status: 404 }])
  places.ofDevice = OTHER_LANE
  rosterChanged()
  await append(partOf(OTHER_LANE, [8], device))
  await expect.poll(() => api.timestampsOf(OTHER_LANE.slice(2)).toSorted(ascending), soon).toEqual(range(1, 8))
  const moved = api.timestampsOf(OTHER_LANE.slice(2)).filter((time) => time < 8)
  expect(moved).toEqual(range(1, 7))
  await end(15)
})

it('forgetting a device deletes its fixes while a worker pushes another part of the lane', async () => {
  const { api, device, end } = await pushingOther(status(404))
  await append(partOf(LANE, [1, 2], device))
  await expect.poll(() => parkedWhole(redis), soon).toHaveLength(1)
  expect(await forgetDevice(redis, new Set([device]))).toMatchObject({ waiting: 0, parked: 2, busy: 0 })
  expect((await custodyCounters(redis)).get('discarded:deleted')).toBe(2)
  expect(api.timestampsOf(LANE.slice(2)).filter((time) => time < NOW)).toEqual([1, 2])
  await end(7)
})

it('tries refused fixes again while a worker pushes another part of the lane', async () => {
  const answers = [status(422), status(422), ok]
  const { api, device, end } = await pushingOther((push, response) => (answers.shift() ?? ok)(push, response))
  await append(partOf(LANE, [1, 2], device))
  await expect.poll(() => parkedByLane(redis), soon).toEqual(new Map([[LANE, 1]]))
  expect(await release(redis, [LANE], () => undefined)).toBe(1)
  await expect.poll(delivered, soon).toBe(2)
  expect(api.timestampsOf(LANE.slice(2)).filter((time) => time < NOW)).toEqual([1, 2, 1, 2, 1])
  await end(9)
})

const heldPart = (times: readonly number[]): HeldPart => {
  const at = { lookAt: Date.now() + 3_600_000, rosterVersion: 5 }
  return { held: 'no_route', device: DEVICE, records: packed(times), isProven: true, ...at }
}

const VAN: Device = { id: DEVICE, company_id: '7', courier_id: '42', source: 'devices.yaml:1' }
const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }

/** `configure` puts the lines into effect. */
async function holdingFor(lines: Assignment[]) {
  const replica = { current: true, version: 5, roster: await createDirectory([VAN], []) }
  const appender = filtering()
  const held = new Holding({
    redis,
    appender,
    replica,
    filter: FILTER,
    hold: { unknown: true, no_route: true, clock: true, max_age: 86_400_000 },
    clock: { isInDoubt: false, jumps: 0, now: () => Date.now() },
    journal: journalOf(),
    logger,
  })
  const holding = beating(held, (each) => each.look())
  closes.push(() => holding.close())
  return {
    holding,
    appender: gateway(appender),
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

it('releases held fixes to all their lanes, and drops duplicates of fixes in these or earlier lanes', async () => {
  const { appender, configure } = await holdingFor([line(LANE, NOW, NOW + 10), line(OTHER_LANE, NOW + 10, NOW + 20)])
  await appender.append(itemOf(partOf(OTHER_LANE, [NOW + 10]), partOf(THIRD_LANE, [NOW + 1])))
  await appender.append(itemOf(heldPart(range(NOW, 20))))
  await configure()
  await released()
  expect(await Promise.all([LANE, OTHER_LANE].map(laneTimes))).toEqual([
    [NOW, ...range(NOW + 2, 8)],
    range(NOW + 10, 10),
  ])
  expect((await custodyCounters(redis)).get('filtered:duplicate')).toBe(2)
  expect(await difference()).toBe(0)
})

it('keeps held fixes in front of fixes that come while they are released', async () => {
  const { appender, configure } = await holdingFor([line(LANE, NOW, NOW + 1000)])
  await appender.append(itemOf(heldPart(range(NOW, 300))))
  breakCommand(redis.shardOf(DEVICE), 'move')
  await configure()
  // A gateway stores by the new roster while the release has stopped halfway.
  for (const time of [NOW + 300, NOW + 301]) await appender.append(itemOf(partOf(LANE, [time])))
  await released()
  expect(await laneTimes(LANE)).toEqual(range(NOW, 302))
  expect(await difference()).toBe(0)
})

it('queues new fixes behind held ones that a gateway with an older roster adds', async () => {
  const { appender } = await holdingFor([])
  // Another gateway has told all shards of version 6, and this one holds by version 5.
  await markReleasing(redis, 6, [])
  await redis.set(redis.keyNames.rosterVersion, 6)
  await appender.append(itemOf(heldPart([NOW])))
  const marked = await redis.inShards((shard) => shard.zscore(shard.keyNames.releasing, DEVICE))
  expect(marked.filter((version) => version !== null)).toEqual(['6'])
  await appender.append(itemOf(partOf(LANE, [NOW + 1])))
  expect([await laneTimes(LANE), await difference()]).toEqual([[], 0])
})

it('forgets held fixes with all that their device has in lanes, and its marks', async () => {
  const appender = gateway()
  const parts = [LANE, OTHER_LANE, THIRD_LANE].map((lane, index) => partOf(lane, [NOW + index]))
  await appender.append(itemOf(...parts, heldPart([NOW + 10, NOW + 11])))
  const [other] = devicesIn(0, 1, 2).filter((id) => redis.shardOf(id) === redis.shardOf(DEVICE))
  await appender.append(itemOf(partOf(LANE, [NOW], other)))
  expect(await forgetDevice(redis, new Set([DEVICE, `0${DEVICE}`]))).toMatchObject({ waiting: 3, held: 2, busy: 0 })
  const marks = await redis.inShards((shard) => shard.zcard(shard.keyNames.markExpiries))
  expect(marks.toSorted(ascending)).toEqual([0, 0, 1])
  expect([(await laneParts(LANE)).flat().map(deviceOf), await difference()]).toEqual([[other], 0])
})

it('a fix that is refused while its device is forgotten is forgotten, too', async () => {
  await append(partOf(LANE, [NOW, NOW + 1]))
  const [leases, lease] = [leasesOf(DEVICE), await leaseOf(LANE, DEVICE)]
  await leases.take(lease)
  const run = vi.spyOn(redis.shardOf(DEVICE), 'run')
  const forgotten = forgetDevice(redis, new Set([DEVICE]))
  await expect.poll(() => run.mock.calls.some(([script]) => script === 'seize'), soon).toBe(true)
  await leases.refuse(lease, { status: 422, message: 'no' }, 0)
  expect(await forgotten).toMatchObject({ waiting: 1, parked: 1, busy: 0 })
  expect([await parkedByLane(redis), await difference()]).toEqual([new Map(), 0])
})

const BROKEN = new Error('broken')

/** The next call of a script fails on a connection; `isRun`: after it has run. */
function breakCommand(shard: Shard, script: string, isRun = false): void {
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

const leasesOf = (device: string) => new Leases(redis.shardOf(device), { maxPositions: 10, maxWaitMs: 0 })

/** Leases the part of a lane that a device feeds. */
async function leaseOf(lane: string, device: string): Promise<Lease> {
  const leases = await leasesOf(device).claim(10)
  return leases.find((lease) => lease.lane === lane) as Lease
}

/** Parks the part of the lane that a device feeds. */
async function park(device: string, code: number): Promise<void> {
  await leasesOf(device).park(await leaseOf(LANE, device), { status: code, message: 'no' })
}

/** Refuses the oldest fix of that part. */
async function refuse(device: string): Promise<void> {
  const [leases, lease] = [leasesOf(device), await leaseOf(LANE, device)]
  await leases.take(lease)
  await leases.refuse(lease, { status: 422, message: 'no' }, 0)
}
