import { Queue } from 'bullmq'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { localDay } from '../../src/domain/times.ts'
import { createLogger } from '../../src/observe/log.ts'
import { Apikeys } from '../../src/push/apis.ts'
import { startPushing } from '../../src/push/index.ts'
import { LanePush } from '../../src/push/lane-push.ts'
import { type Ticket, Tickets } from '../../src/push/tickets.ts'
import { healOverdue } from '../../src/push/watchdog.ts'
import {
  ApiClockReporter,
  Appender,
  connect,
  custodyCounters,
  describeLanes,
  deviceOf,
  keys,
  Leases,
  NOT_CURRENT,
  type Place,
  packDevice,
  packRecords,
  type Store,
  readLaneDays,
  release,
  surveyRefused,
  tryParked,
} from '../../src/store/index.ts'
import { createTrackingClient, type TrackingClient } from '../../src/tracking/client.ts'
import { ok, startApi, status } from '../rig/api.ts'
import { ONE_API } from '../support/apis.ts'
import { UNFILTERED } from '../support/appending.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const ID = '356307042441013'
const STAY: Place = () => undefined
const PUSH = { concurrency: 64, max_requests_per_s: null, redeliver_share: 0.2, first_delay: 20, max_delay: 100 }

const refusedOf = (lane: string) => Array.fromAsync(surveyRefused(redis, lane))

let server: TestRedis
let redis: Store
let api: Awaited<ReturnType<typeof startApi>>
let stops: (() => Promise<void>)[] = []

withRedis((one, connection) => {
  server = one
  redis = connection
})
beforeEach(async () => {
  api = await startApi()
})
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
  await api.close()
})

const APIKEYS = new Map([['7', ['key-7']]])

function pushing({
  push = PUSH,
  max_positions = 3,
  apikeys = APIKEYS,
  place = STAY,
  log = logger,
  client: other = undefined as Pick<TrackingClient, 'push'> | undefined,
} = {}) {
  const client = createTrackingClient({ baseUrl: api.url, timeoutMs: 20_000, connections: push.concurrency })
  const connection = connect(server.url, 'worker')
  const { rosterChanged, setApikeys, stop } = startPushing({
    zone: 'UTC',
    redis: connection,
    client: other ?? client,
    apikeys,
    place,
    batch: { max_positions, max_wait: 0 },
    keep: { delivered: 0, max_memory: 0.1 },
    push,
    logger: log,
  })
  const end = async () => {
    await stop()
    await client.close()
    connection.disconnect()
  }
  stops.push(end)
  return { rosterChanged, setApikeys, end }
}

const store = (lane: string, ...timestamps: number[]) => storeOf(ID, lane, ...timestamps)

async function storeOf(device: string, lane: string, ...timestamps: number[]): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const positions = timestamps.map((timestamp) => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }))
  const records = packRecords(positions, packDevice(device), Date.now())
  await appender.append({ parts: [{ lane, device, records }], received: timestamps.length, filtered: [] })
  await appender.close()
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const soon = { timeout: 30_000, interval: 20 }
const delivered = async () => (await custodyCounters(redis)).get('delivered') ?? 0
const laneState = async (lane: string) => (await describeLanes(redis, [lane])).find(({ waiting }) => waiting > 0)

describe('waiting fixes', () => {
  it('an internal error in a push is logged as a fault, and the lane waits for its lease to end', async () => {
    const lines: { level: number; msg: string }[] = []
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
    const client = { push: () => Promise.reject(new TypeError('a fault')) }
    await store('7/42/1001', 1)
    pushing({ client, log })
    await expect
      .poll(() => lines.map(({ level, msg }) => `${level} ${msg}`), soon)
      .toEqual(['50 fault in a job: push of a lane'])
    expect(await laneState('7/42/1001')).toMatchObject({ waiting: 1 })
  })

  it('a lane is pushed in order, in whole batches, one request at a time, with the key of its company', async () => {
    await store('7/42/1001', ...range(1, 10))
    pushing()
    await expect.poll(delivered, soon).toBe(10)
    expect(api.seen.map(({ timestamps }) => timestamps)).toEqual([range(1, 3), range(4, 6), range(7, 9), [10]])
    expect(
      api.seen.every(({ apikey, together, lane }) => apikey === 'key-7' && together === 1 && lane === '42/1001'),
    ).toBe(true)
    expect(await redis.zcard(keys.schedule)).toBe(0)
  })

  it('a worker that stops has counted its deliveries of the day', async () => {
    const now = Math.floor(Date.now() / 1000)
    await store('7/42/1001', now, now)
    pushing()
    await expect.poll(delivered, soon).toBe(2)
    await stops.pop()?.()
    const days = await readLaneDays(redis, localDay(now * 1000, 'UTC').from)
    expect(days.get('7/42/1001')).toMatchObject({ fixes: 2, late: 0, first: now, last: now })
  })

  it('two workers push many lanes in parallel, each lane in order', async () => {
    for (const courier of range(1, 200)) await store(`7/${courier}/1`, ...range(1, 7))
    api.respond((push, response) => void setTimeout(() => ok(push, response), 20))
    pushing()
    pushing()
    await expect.poll(delivered, soon).toBe(1400)
    for (const courier of range(1, 200)) expect(api.timestampsOf(`${courier}/1`)).toEqual(range(1, 7))
    expect(api.seen.every(({ together }) => together === 1)).toBe(true)
  })

  it('a worker keeps to push.concurrency', async () => {
    for (const courier of range(1, 20)) await store(`7/${courier}/1`, 1)
    let together = 0
    let most = 0
    api.respond((push, response) => {
      most = Math.max(most, ++together)
      setTimeout(() => {
        together--
        ok(push, response)
      }, 20)
    })
    pushing({ push: { ...PUSH, concurrency: 3 } })
    await expect.poll(delivered, soon).toBe(20)
    expect(most).toBe(3)
  })

  it('a lane with a long backlog does not starve other lanes', async () => {
    await store('7/1/1', ...range(1, 300))
    await store('7/2/1', 1)
    pushing({ push: { ...PUSH, concurrency: 1 } })
    await expect.poll(delivered, soon).toBe(301)
    expect(api.seen.findIndex(({ lane }) => lane === '2/1')).toBeLessThan(20)
    expect(api.timestampsOf('1/1')).toEqual(range(1, 300))
  })
})

describe('a temporary failure', () => {
  it.each([500, 503, 429, 408])('status %i keeps a lane in order until the failure has passed', async (code) => {
    let failures = 3
    api.respond((push, response) => (failures-- > 0 ? status(code) : ok)(push, response))
    await store('7/42/1', ...range(1, 5))
    pushing()
    await expect.poll(delivered, soon).toBe(5)
    expect(api.seen.map(({ timestamps }) => timestamps)).toEqual([
      ...Array(3).fill(range(1, 3)),
      range(1, 3),
      range(4, 5),
    ])
  })

  it('a broken connection keeps the fixes of the request', async () => {
    let failures = 2
    api.respond((push, response) => (failures-- > 0 ? response.destroy() : ok(push, response)))
    await store('7/42/1', 1, 2)
    pushing()
    await expect.poll(delivered, soon).toBe(2)
    expect(api.timestampsOf('42/1')).toEqual([1, 2, 1, 2, 1, 2])
  })

  it('a failed lane waits at least as long as Retry-After says', async () => {
    const began = Date.now()
    await store('7/42/1', 1)
    api.respond(status(503, '', { 'retry-after': '30' }))
    pushing()
    await expect.poll(async () => (await laneState('7/42/1'))?.lastPush?.status, soon).toBe('503')
    expect(Number(await redis.zscore(keys.schedule, '7/42/1'))).toBeGreaterThanOrEqual(began + 30_000)
  })

  it('a failing lane does not delay another lane', async () => {
    api.respond((push, response) => (push.lane === '1/1' ? status(500) : ok)(push, response))
    await store('7/1/1', 1)
    await store('7/2/1', 1)
    pushing()
    await expect.poll(delivered, soon).toBe(1)
    expect((await laneState('7/1/1'))?.waiting).toBe(1)
  })

  it('failures of two lanes mark the service as down until it answers again', async () => {
    api.respond(status(500))
    await store('7/1/1', 1)
    await store('7/2/1', 1)
    pushing()
    await expect.poll(() => redis.hget(keys.upstream, 'state'), soon).toBe('down')
    api.respond(ok)
    await expect.poll(() => redis.hget(keys.upstream, 'state'), soon).toBe('up')
  })
})

describe('a refusal', () => {
  it.each([401, 403, 404, 400])(
    'status %i parks the lane with the text of the answer, and other lanes continue',
    async (code) => {
      api.respond((push, response) =>
        (push.lane === '1/1' ? status(code, '{"message":"no access"}') : ok)(push, response),
      )
      await store('7/1/1', ...range(1, 5))
      await store('7/2/1', 1)
      pushing()
      await expect
        .poll(async () => (await laneState('7/1/1'))?.parked, soon)
        .toMatchObject({ status: code, message: 'no access' })
      expect(await laneState('7/1/1')).toMatchObject({ waiting: 5 })
      await expect.poll(delivered, soon).toBe(1)
    },
  )

  it('a refusal of one of two apikeys tries the other one, which is then used first, and parks no lane', async () => {
    api.respond((push, response) => (push.apikey === 'new' ? ok : status(403))(push, response))
    await store('7/1/1', 1, 2)
    pushing({ apikeys: new Map([['7', ['old', 'new']]]), max_positions: 1 })
    await expect.poll(delivered, soon).toBe(2)
    await store('7/2/1', 3)
    await expect.poll(delivered, soon).toBe(3)
    expect(api.seen.map(({ apikey, timestamps: [time] }) => [apikey, time])).toEqual([
      ['old', 1],
      ['new', 1],
      ['new', 2],
      ['new', 3],
    ])
    expect(await redis.hlen(keys.parked)).toBe(0)
  })

  it('a refusal of all apikeys parks the lane after each was tried once', async () => {
    api.respond(status(403))
    await store('7/1/1', 1)
    pushing({ apikeys: new Map([['7', ['old', 'new']]]) })
    await expect.poll(async () => (await laneState('7/1/1'))?.parked?.status, soon).toBe(403)
    expect(api.seen.map(({ apikey }) => apikey)).toEqual(['old', 'new'])
  })

  it('one position probes a parked lane, and when it is accepted all are delivered in order', async () => {
    api.respond(status(404))
    await store('7/42/1', ...range(1, 5))
    pushing()
    await expect.poll(async () => (await laneState('7/42/1'))?.parked?.status, soon).toBe(404)
    api.respond(ok)
    expect(await release(redis, ['7/42/1'], STAY)).toBe(5)
    await expect.poll(delivered, soon).toBe(5)
    expect(api.seen.slice(1).map(({ timestamps }) => timestamps)).toEqual([[1], [2, 3, 4], [5]])
    expect(await redis.hlen(keys.parked)).toBe(0)
  })

  it.each([422, 413])(
    'status %i for one position of many parks that one in few requests, and the rest arrives in order',
    async (code) => {
      const bad = 137
      api.respond((push, response) => (push.timestamps.includes(bad) ? status(code, 'too odd') : ok)(push, response))
      await store('7/42/1', ...range(1, 500))
      pushing({ max_positions: 500 })
      await expect.poll(delivered, soon).toBe(499)
      expect(await refusedOf('7/42/1')).toMatchObject([{ status: code, message: 'too odd', count: 1 }])
      const accepted = api.seen
        .filter(({ timestamps }) => !timestamps.includes(bad))
        .flatMap(({ timestamps }) => timestamps)
      expect(accepted).toEqual(range(1, 500).filter((timestamp) => timestamp !== bad))
      expect(api.seen.length - 1).toBeLessThanOrEqual(2 * Math.log2(500) + 1)
    },
  )

  it.each([1, 2, 499, 500])('a refused position %i of 500 is found in few requests', async (bad) => {
    api.respond((push, response) => (push.timestamps.includes(bad) ? status(422) : ok)(push, response))
    await store('7/42/1', ...range(1, 500))
    pushing({ max_positions: 500 })
    await expect.poll(delivered, soon).toBe(499)
    expect(api.seen.length - 1).toBeLessThanOrEqual(2 * Math.log2(500) + 1)
  })

  it('several refused positions are parked one by one', async () => {
    const bad = new Set([3, 4, 90, 200])
    api.respond((push, response) => (push.timestamps.some((t) => bad.has(t)) ? status(422) : ok)(push, response))
    await store('7/42/1', ...range(1, 200))
    pushing({ max_positions: 100 })
    await expect.poll(delivered, soon).toBe(196)
    await expect.poll(() => refusedOf('7/42/1'), soon).toHaveLength(4)
    await expect.poll(() => redis.zcard(keys.schedule), soon).toBe(0)
  })

  it('eight refused positions in a row park the lane, which stays parked while its probe is refused', async () => {
    api.respond(status(422, 'no'))
    await store('7/42/1', ...range(1, 20))
    pushing({ max_positions: 5 })
    await expect.poll(async () => (await laneState('7/42/1'))?.parked, soon).toMatchObject({ status: 422, tries: 1 })
    expect(await refusedOf('7/42/1')).toHaveLength(8)
    expect((await laneState('7/42/1'))?.waiting).toBe(12)
    await release(redis, ['7/42/1'], STAY)
    await expect.poll(async () => (await laneState('7/42/1'))?.parked?.tries, soon).toBe(2)
    api.respond(ok)
    await release(redis, ['7/42/1'], STAY)
    await expect.poll(delivered, soon).toBe(20)
  })

  it('a parked lane is probed when its records belong elsewhere after a change, and they are moved there', async () => {
    api.respond((push, response) => (push.lane === '42/1' ? status(404) : ok)(push, response))
    const corrected = new Map<string, string>()
    await store('7/42/1', ...range(1, 5))
    const { rosterChanged } = pushing({ place: () => corrected.get('lane') })
    await expect.poll(async () => (await laneState('7/42/1'))?.parked?.status, soon).toBe(404)
    corrected.set('lane', '7/42/2')
    rosterChanged()
    await expect.poll(delivered, soon).toBe(5)
    expect(api.timestampsOf('42/2')).toEqual(range(1, 5))
    expect([await redis.hlen(keys.parked), await redis.zcard(keys.schedule)]).toEqual([0, 0])
  })

  it('a parked lane is due at once if a renewal of its lease interrupts that its records are moved', async () => {
    await store('7/42/1', 1, 2)
    const leases = new Leases(redis, { maxPositions: 3, maxWaitMs: 0 })
    const [refused] = await leases.claim(1)
    await leases.park(refused, { status: 404, message: 'no' })
    await tryParked(redis, ['7/42/1'])
    const [lease] = await leases.claim(1)
    const place = () => {
      void leases.renew([lease])
      return '7/42/2'
    }
    const push = new LanePush(lease, ONE_API.of(lease.lane), {
      place,
      batch: { max_positions: 3 },
      keep: { delivered: 0 },
      push: PUSH,
      apikeys: new Apikeys(APIKEYS),
      leases,
      apis: ONE_API,
      apiClock: new ApiClockReporter(redis),
      stopping: new AbortController().signal,
      shard: redis,
      logger,
    })
    await push.run()
    expect((await leases.claim(1)).map(({ lane }) => lane)).toEqual(['7/42/1'])
  })

  it.each([
    ['accepted', 200, [1, 4]],
    ['refused alone', 422, [0, 4]],
  ])(
    'a probe that is %s after a change of the roster moves the rest to where it belongs',
    async (_, code, [old, other]) => {
      const { promise: changed, resolve: change } = Promise.withResolvers<void>()
      let isParking = true
      api.respond((push, response) => {
        if (isParking) status(404)(push, response)
        else if (push.lane === '42/2') ok(push, response)
        else void changed.then(() => status(code)(push, response))
      })
      const corrected = new Map<string, string>()
      await store('7/42/1', ...range(1, 5))
      const { rosterChanged } = pushing({ place: () => corrected.get('lane') })
      await expect.poll(async () => (await laneState('7/42/1'))?.parked?.status, soon).toBe(404)
      isParking = false
      const before = api.seen.length
      await redis.zadd(keys.schedule, 'XX', 0, '7/42/1')
      await expect.poll(() => api.seen.length, soon).toBe(before + 1)
      corrected.set('lane', '7/42/2')
      rosterChanged()
      await expect.poll(() => redis.hget(keys.parked, '7/42/1'), soon).toContain('again')
      change()
      await expect.poll(delivered, soon).toBe(old + other)
      expect(api.seen.slice(before + 1).map(({ lane }) => lane)).toEqual(['42/2', '42/2'])
      expect(api.timestampsOf('42/2')).toEqual(range(2, 5))
      expect([await redis.hlen(keys.parked), await redis.zcard(keys.schedule)]).toEqual([0, 0])
    },
  )

  it('a change of one device does not read parked fixes of another device', async () => {
    api.respond((push, response) => (push.lane === '42/2' ? ok : status(404))(push, response))
    const looked = new Set<string>()
    let to: ReturnType<Place>
    const { rosterChanged } = pushing({ place: (record) => (looked.add(deviceOf(record)), to) })
    await store('8/42/1', 1)
    await storeOf('00123', '7/42/1', 1)
    await expect.poll(() => redis.hlen(keys.parked), soon).toBe(2)
    await redis.zadd(keys.schedule, Date.now() + 300_000, '7/42/1', Date.now() + 300_000, '8/42/1')
    looked.clear()
    to = '7/42/2'
    rosterChanged(new Set(['123']))
    await expect.poll(delivered, soon).toBe(1)
    expect([...looked]).toEqual(['00123'])
  })

  it('a parked lane is not probed until the roster of the worker is up to date', async () => {
    api.respond((push, response) => (push.lane === '42/1' ? status(404) : ok)(push, response))
    let lane: ReturnType<Place>
    let asked = 0
    const place = () => {
      asked++
      return lane
    }
    await store('7/42/1', ...range(1, 5))
    const { rosterChanged } = pushing({ place })
    await expect.poll(async () => (await laneState('7/42/1'))?.parked?.status, soon).toBe(404)
    const before = api.seen.length
    lane = NOT_CURRENT
    rosterChanged()
    await expect.poll(() => asked, soon).toBeGreaterThanOrEqual(2)
    expect(await laneState('7/42/1')).toMatchObject({ waiting: 5, parked: { tries: 1 } })
    lane = '7/42/2'
    await expect.poll(delivered, soon).toBe(5)
    expect(api.seen.slice(before).map(({ lane: to }) => to)).toEqual(['42/2', '42/2'])
  })

  it.each([401, 403])('a refusal (status %i) of a replaced apikey tries the new one at once', async (code) => {
    const { promise: replaced, resolve: replace } = Promise.withResolvers<void>()
    api.respond((push, response) => {
      if (push.apikey === 'new') ok(push, response)
      else void replaced.then(() => status(code)(push, response))
    })
    await store('7/1/1', 1, 2)
    const { setApikeys } = pushing({ apikeys: new Map([['7', ['old']]]) })
    await expect.poll(() => api.seen.length, soon).toBe(1)
    setApikeys(new Map([['7', ['new']]]))
    replace()
    await expect.poll(delivered, soon).toBe(2)
    // A parked lane would be tried with one position first.
    expect(api.seen.map(({ apikey, timestamps }) => [apikey, ...timestamps])).toEqual([
      ['old', 1, 2],
      ['new', 1, 2],
    ])
  })

  it('an apikey that is accepted after its replacement is not used again', async () => {
    const { promise: replaced, resolve: replace } = Promise.withResolvers<void>()
    api.respond((push, response) => {
      if (push.apikey === 'first') status(403)(push, response)
      else if (push.apikey === 'second') void replaced.then(() => ok(push, response))
      else ok(push, response)
    })
    await store('7/1/1', 1)
    const { setApikeys } = pushing({ apikeys: new Map([['7', ['first', 'second']]]) })
    await expect.poll(() => api.seen.length, soon).toBe(2)
    setApikeys(new Map([['7', ['new']]]))
    replace()
    await expect.poll(delivered, soon).toBe(1)
    await store('7/2/1', 2)
    await expect.poll(delivered, soon).toBe(2)
    expect(api.seen.map(({ apikey }) => apikey)).toEqual(['first', 'second', 'new'])
  })

  it('apikeys that are replaced twice while a lane is parked are tried in their last version', async () => {
    api.respond((push, response) => (push.apikey === 'third' ? ok : status(401))(push, response))
    await store('7/1/1', 1)
    const { setApikeys } = pushing({ apikeys: new Map([['7', ['first']]]) })
    await expect.poll(async () => (await laneState('7/1/1'))?.parked?.status, soon).toBe(401)
    setApikeys(new Map([['7', ['second']]]))
    setApikeys(new Map([['7', ['third']]]))
    await expect.poll(delivered, soon).toBe(1)
    expect(api.seen.at(-1)?.apikey).toBe('third')
  })

  it('a parked lane is tried when a worker starts, because its apikey may have changed before', async () => {
    await store('7/1/1', 1)
    api.respond(status(401))
    const { end } = pushing()
    await expect.poll(async () => (await laneState('7/1/1'))?.parked?.status, soon).toBe(401)
    await end()
    stops = []
    await redis.zadd(keys.schedule, Date.now() + 300_000, '7/1/1')
    api.respond(ok)
    pushing()
    await expect.poll(delivered, soon).toBe(1)
  })

  it('a retry requested while a parked lane is tried follows at once if the lane is refused again', async () => {
    const { promise: released, resolve: answer } = Promise.withResolvers<void>()
    api.respond(status(404))
    await store('7/42/1', 1)
    pushing()
    // The second try comes from the start of the worker or from the schedule.
    await expect.poll(async () => (await laneState('7/42/1'))?.parked?.tries, soon).toBe(2)
    const { at, since } = (await laneState('7/42/1'))?.parked ?? {}
    await redis.hset(keys.parked, '7/42/1', JSON.stringify({ status: 404, message: '', tries: 9, at, since }))
    api.respond((push, response) => void released.then(() => status(404)(push, response)))
    await release(redis, ['7/42/1'], STAY)
    await expect.poll(() => api.seen.length, soon).toBe(3)
    await release(redis, ['7/42/1'], STAY)
    api.respond(ok)
    answer()
    await expect.poll(delivered, soon).toBe(1)
    expect(api.seen.length).toBe(4)
  })

  it('the last worker to get a new roster tries what another one may have tried by the old one', async () => {
    api.respond((push, response) => (push.lane === '42/1' ? status(404) : ok)(push, response))
    await store('7/42/1', 1)
    let [ofFirst, ofLast]: ReturnType<Place>[] = []
    const [first, last] = [pushing({ place: () => ofFirst }), pushing({ place: () => ofLast })]
    await expect.poll(async () => (await laneState('7/42/1'))?.parked?.status, soon).toBe(404)
    await redis.zadd(keys.schedule, Date.now() + 300_000, '7/42/1')
    ofFirst = '7/42/2'
    first.rosterChanged()
    // The other worker may try the lane.
    const isTried = async () => (await delivered()) === 1 || ((await laneState('7/42/1'))?.parked?.tries ?? 0) > 1
    await expect.poll(isTried, soon).toBe(true)
    await redis.zadd(keys.schedule, 'XX', Date.now() + 300_000, '7/42/1')
    ofLast = '7/42/2'
    last.rosterChanged()
    await expect.poll(delivered, soon).toBe(1)
    expect(api.seen.at(-1)?.lane).toBe('42/2')
  })

  it('parked lanes are tried after Redis returns if the roster changed while it was down', async () => {
    api.respond((push, response) => (push.lane === '42/1' ? status(404) : ok)(push, response))
    let lane: ReturnType<Place>
    await store('7/42/1', 1)
    const { rosterChanged } = pushing({ place: () => lane })
    await expect.poll(async () => (await laneState('7/42/1'))?.parked?.status, soon).toBe(404)
    await redis.zadd(keys.schedule, Date.now() + 300_000, '7/42/1')
    await server.kill('SIGKILL')
    lane = '7/42/2'
    rosterChanged()
    await server.restart()
    await expect.poll(() => redis.status, soon).toBe('ready')
    await expect.poll(delivered, soon).toBe(1)
  })

  it('a lane of a company without an apikey is parked, and nothing is sent', async () => {
    await store('8/42/1', 1)
    pushing()
    await expect
      .poll(async () => (await laneState('8/42/1'))?.parked, soon)
      .toMatchObject({ status: 0, message: /no apikey/ })
    expect(api.seen).toEqual([])
  })
})

it('one request at a time probes a failing service, and then all fixes are delivered', async () => {
  api.respond(status(503))
  // The pauses between probes grow with each failure.
  for (const courier of range(1, 6)) await store(`7/${courier}/1`, 1, 2)
  pushing({ push: { ...PUSH, first_delay: 1, max_delay: 5 } })
  await expect.poll(() => redis.hget(keys.upstream, 'state'), soon).toBe('down')
  await expect.poll(() => api.seen.length, soon).toBeGreaterThanOrEqual(5)
  await new Promise((resolve) => setTimeout(resolve, 200))
  const before = api.seen.length
  const since = Date.now()
  await expect.poll(() => api.seen.length, soon).toBe(before + 2)
  expect(Date.now() - since).toBeGreaterThan(900)
  api.respond(ok)
  await expect.poll(delivered, soon).toBe(12)
  expect(await redis.hget(keys.upstream, 'state')).toBe('up')
})

describe('the hand-out of lanes', () => {
  it('the watchdog restarts the hand-out of lanes when due lanes are not pushed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    await store('7/42/1', 1)
    let looks = 0
    let healed = 0
    const idle = () => ++looks > 0
    const watchdog = healOverdue(redis, { idle, heal: async () => void healed++, areSeveral: () => false, logger })
    stops.push(async () => clearInterval(watchdog))
    for (const look of [1, 2, 3]) {
      vi.advanceTimersByTime(5000)
      await expect.poll(() => looks, soon).toBe(look)
      // The watchdog reads Redis twice over this connection.
      for (let asked = 0; asked < 3; asked++) await redis.ping()
    }
    expect(healed).toBe(0)
    await redis.zadd(keys.schedule, Date.now() - 21_000, '7/42/1')
    vi.advanceTimersByTime(5000)
    await expect.poll(() => healed, soon).toBe(1)
  })

  it('the list of tickets that no worker has taken is where BullMQ keeps it', async () => {
    const connection = connect(server.url, 'queue')
    await new Promise((resolve) => connection.once('ready', resolve))
    const queue = new Queue('tickets', { connection, prefix: keys.tickets })
    await queue.add('lanes', [])
    expect(await redis.llen(keys.waitingTickets)).toBe(1)
    await queue.close()
    connection.disconnect()
  })

  it('tickets are handed out after a restart of the queue', async () => {
    const seen: string[] = []
    const leases = new Leases(redis, { maxPositions: 3, maxWaitMs: 0 })
    const work = async ({ data }: Ticket) => void seen.push(...data.map(({ lane }) => lane))
    const tickets = new Tickets({
      leases,
      shard: redis,
      logger,
      workers: { count: 1 },
      apis: ONE_API,
      work,
    })
    stops.push(() => tickets.close())
    await store('7/1/1', 1)
    await expect.poll(() => seen, soon).toEqual(['7/1/1'])
    await tickets.restart()
    await store('7/2/1', 1)
    await expect.poll(() => seen, soon).toEqual(['7/1/1', '7/2/1'])
  })
})

describe('Redis', () => {
  it('pushing continues when Redis returns', async () => {
    pushing()
    await store('7/42/1', 1)
    await expect.poll(delivered, soon).toBe(1)
    await server.kill('SIGKILL')
    await server.restart()
    await expect.poll(() => redis.status, soon).toBe('ready')
    await store('7/42/1', 2, 3)
    await expect.poll(delivered, { timeout: 30_000, interval: 50 }).toBe(3)
    expect(api.timestampsOf('42/1')).toEqual([1, 2, 3])
  })
})

describe('the stop of a worker', () => {
  it('a worker stops within four seconds while Redis does not answer', async () => {
    const { end } = pushing()
    await store('7/42/1', 1)
    await expect.poll(delivered, soon).toBe(1)
    await server.kill('SIGSTOP')
    const since = performance.now()
    await end()
    const took = performance.now() - since
    stops = []
    await server.kill('SIGCONT')
    expect(took).toBeLessThan(4000)
  })

  it('a stopping worker ends its requests and leaves the rest to the next worker', async () => {
    const ends = Promise.withResolvers<void>()
    api.respond((push, response) => void ends.promise.then(() => ok(push, response)))
    await store('7/42/1', ...range(1, 9))
    const { end } = pushing()
    await expect.poll(() => api.seen.length, soon).toBe(1)
    const ended = end()
    ends.resolve()
    await ended
    stops = []
    expect(await delivered()).toBe(3)
    expect(await redis.llen(keys.lane('7/42/1'))).toBe(6)
    pushing()
    await expect.poll(delivered, soon).toBe(9)
    expect(api.timestampsOf('42/1')).toEqual(range(1, 9))
  })
})
