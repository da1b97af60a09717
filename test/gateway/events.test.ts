import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook, withinLimit } from '../../src/gateway/heard.ts'
import { type DeviceEvent, readEvents, readRecords, writeRecords } from '../../src/store/device-record.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { withRedis } from '../support/with-redis.ts'
import { beatingHeardBook } from '../support/beat.ts'

const VAN = '0356307042441013'
const LANE = '7/42/1001'
const soon = { timeout: 30_000 }
let redis: Store
const books: HeardBook[] = []

withRedis((_, connection) => {
  redis = connection
})
afterEach(async () => {
  await Promise.all(books.splice(0).map((book) => book.close()))
})

function gateway(): HeardBook {
  const book = beatingHeardBook(redis)
  books.push(book)
  return book
}

/** A connection of the van that began `later` ms from now; it speaks over it. */
function open(book: HeardBook, transport: 'tcp' | 'udp' | 'http' | 'mqtt' = 'tcp', later = 0) {
  const session = new Conversation(transport, `10.1.2.3:${4000 + later}`, { device: VAN })
  const connection = Object.assign(session, { connectedAt: session.connectedAt + later })
  book.of(VAN).spoke(connection, 'teltonika')
  return connection
}

function append(events: readonly string[]): Promise<void> {
  return writeRecords(redis, [{ device: VAN, events }])
}

/** An event in few words. */
function brief(event: DeviceEvent): string {
  const words = Object.entries(event).filter(([key]) => key !== 'at')
  return words.map(([, value]) => value).join(' ')
}

/** The van's events in few words, latest first, once the gateways have written theirs. */
async function told(...gateways: HeardBook[]): Promise<string[]> {
  for (const each of gateways) await each.close()
  return (await readEvents(redis, VAN)).map(brief)
}

const CONNECTED = 'connected teltonika tcp 10.1.2.3:4000'

it('the events of a device show what its connection and its fixes did, latest first', async () => {
  const book = gateway()
  const before = Date.now()
  const session = open(book)
  book.of(VAN).became('routed', LANE)
  book.of(VAN).became('filtered', 'invalid')
  book.of(VAN).became('held', 'no_route')
  book.of(VAN).became('misunderstood', 'checksum')
  book.of(VAN).became('refused', 'wrong_secret')
  session.endFor('idle')
  book.gone(session)
  expect(await told(book)).toEqual([
    'disconnected 10.1.2.3:4000 idle',
    'refused wrong_secret',
    'misunderstood checksum',
    'held no_route',
    'filtered invalid',
    `routed ${LANE}`,
    CONNECTED,
  ])
  const [{ at }] = await readEvents(redis, VAN)
  expect([at >= before, at <= Date.now()]).toEqual([true, true])
})

it('writes events to Redis soon, and keeps them 31 days after the last one', async () => {
  open(gateway())
  // Two seconds on a machine that does nothing else.
  await expect.poll(() => redis.exists(keys.eventsPrefix + VAN), { timeout: 10_000 }).toBe(1)
  const days = (await redis.ttl(keys.eventsPrefix + VAN)) / 86_400
  expect([days > 30.9, days <= 31]).toEqual([true, true])
})

it('notes no event while nothing changes', async () => {
  const book = gateway()
  const session = open(book)
  for (let n = 0; n < 100; n++) {
    book.of(VAN).spoke(session, 'teltonika')
    book.of(VAN).became('routed', LANE)
  }
  expect(await told(book)).toEqual([`routed ${LANE}`, CONNECTED])
})

it.each(['udp', 'http'] as const)('notes no connections over %s as events', async (transport) => {
  const book = gateway()
  book.gone(open(book, transport))
  book.of(VAN).became('routed', LANE)
  expect(await told(book)).toEqual([`routed ${LANE}`])
})

it('notes no end of a connection that a newer one replaced', async () => {
  const book = gateway()
  const [first, second] = [open(book), open(book, 'tcp', 5)]
  for (const session of [first, second, first, second]) book.of(VAN).spoke(session, 'teltonika')
  book.gone(first)
  book.gone(second)
  expect(await told(book)).toEqual(['disconnected 10.1.2.3:4005', 'connected teltonika tcp 10.1.2.3:4005', CONNECTED])
})

it('takes events and last contact from a connection that proves more, not from a newer one', async () => {
  const book = gateway()
  const proved = Object.assign(open(book, 'tcp', 1), { isProved: true })
  book.of(VAN).spoke(proved, 'teltonika')
  const other = open(book, 'tcp', 5)
  book.gone(other)
  book.gone(proved)
  expect(await told(book)).toEqual(['disconnected 10.1.2.3:4001', 'connected teltonika tcp 10.1.2.3:4001'])
  expect((await readRecords(redis, [VAN]))[0]).toMatchObject({ remote: '10.1.2.3:4001' })
})

it('notes a login over MQTT only once as an event', async () => {
  const book = gateway()
  const session = new Conversation('mqtt', '10.1.2.3:4000', { device: VAN })
  book.of(VAN).spoke(session)
  book.of(VAN).spoke(session, 'owntracks')
  expect(await told(book)).toEqual(['connected mqtt 10.1.2.3:4000'])
})

it('notes only changed events after a restart', async () => {
  const before = gateway()
  before.of(VAN).became('routed', LANE)
  await before.close()
  const after = gateway()
  after.of(VAN).became('routed', LANE)
  after.of(VAN).became('routed', '7/42/1002')
  expect(await told(after)).toEqual(['routed 7/42/1002', `routed ${LANE}`])
})

it('compares an event with the last change although connections were noted since', async () => {
  const before = gateway()
  before.of(VAN).became('held', 'no_route')
  before.gone(open(before))
  await before.close()
  // In the same millisecond the change would be the same event.
  await pause(2)
  const after = gateway()
  open(after, 'tcp', 5)
  after.of(VAN).became('held', 'no_route')
  expect(await told(after)).toEqual([
    'connected teltonika tcp 10.1.2.3:4005',
    'disconnected 10.1.2.3:4000',
    CONNECTED,
    'held no_route',
  ])
})

it('two gateways that hear a device note a change once, and each connection', async () => {
  const [one, other] = [gateway(), gateway()]
  for (const lane of [LANE, '7/42/1002']) {
    for (const book of [one, other]) book.of(VAN).became('routed', lane)
    await expect.poll(async () => (await told())[0], soon).toBe(`routed ${lane}`)
  }
  open(one)
  open(other, 'tcp', 5)
  expect((await told(one, other)).toSorted()).toEqual([
    CONNECTED,
    'connected teltonika tcp 10.1.2.3:4005',
    `routed ${LANE}`,
    'routed 7/42/1002',
  ])
})

it('a gateway repeats its event when the device connects again, if another gateway noted a change since', async () => {
  const [one, other] = [gateway(), gateway()]
  one.of(VAN).became('routed', LANE)
  await expect.poll(() => told(), soon).toHaveLength(1)
  other.of(VAN).became('held', 'no_route')
  await expect.poll(() => told(), soon).toHaveLength(2)
  open(one)
  one.of(VAN).became('routed', LANE)
  expect(await told(one, other)).toEqual([`routed ${LANE}`, CONNECTED, 'held no_route', `routed ${LANE}`])
})

const [first, second, third, fourth] = [
  '{"at":1,"event":"routed","lane":"7/42/1001"}',
  '{"at":2,"event":"routed","lane":"7/42/1001"}',
  '{"at":3,"event":"connected","transport":"tcp","remote":"10.1.2.3:4000"}',
  '{"at":4,"event":"held","reason":"no_route"}',
]

it('keeps an event once that is written again because the answer of Redis was lost', async () => {
  await append([first])
  await append([second, third])
  await writeRecords(redis, [
    { device: VAN, events: [second, third, fourth] },
    { device: '1', events: [first, fourth] },
  ])
  expect(await redis.lrange(keys.eventsPrefix + VAN, 0, -1)).toEqual([first, third, fourth])
  expect(await redis.lrange(keys.eventsPrefix + '1', 0, -1)).toEqual([first, fourth])
})

it('keeps events once that are written again, although the first of them were dropped at once', async () => {
  const events = Array.from({ length: 12 }, (_, n) => `{"at":${n},"event":"connected","remote":"${n}"}`)
  const before = Array.from({ length: 10 }, (_, n) => `{"at":0,"event":"routed","lane":"7/42/${n}"}`)
  await append(before)
  for (let n = 0; n < 2; n++) await append(events)
  expect(await redis.lrange(keys.eventsPrefix + VAN, 0, -1)).toEqual([...before, ...events.slice(2)])
})

it('compares an event with the latest change, however many connections came since', async () => {
  const connections = Array.from({ length: 18 }, (_, n) => third.replace('4000', `${n}`))
  await append([first, fourth, ...connections])
  await append(['{"at":5,"event":"held","reason":"no_route"}'])
  expect(await redis.lrange(keys.eventsPrefix + VAN, 0, -1)).toEqual([first, fourth, ...connections])
})

it('keeps the last 20 events of a device', async () => {
  const said = Array.from({ length: 30 }, (_, n) => `{"at":${n},"event":"routed","lane":"7/42/${n}"}`)
  for (const event of said) await append([event])
  expect(await redis.lrange(keys.eventsPrefix + VAN, 0, -1)).toEqual(said.slice(10))
})

it('keeps 10 connections and 10 other events of a device', async () => {
  const turns = Array.from({ length: 15 }, (_, n) => `{"at":${n},"event":"routed","lane":"7/42/${n}"}`)
  const connections = Array.from({ length: 30 }, (_, n) => `{"at":${n},"event":"connected","remote":"${n}"}`)
  await append(turns)
  for (const event of connections) await append([event])
  expect(await redis.lrange(keys.eventsPrefix + VAN, 0, -1)).toEqual([...turns.slice(5), ...connections.slice(20)])
  await append(['{"at":99,"event":"routed","lane":"7/42/99"}'])
  expect(await redis.lrange(keys.eventsPrefix + VAN, 0, 0)).toEqual([turns[6]])
})

it('notes six changes in ten minutes of a device that alternates between two states', async () => {
  const book = gateway()
  open(book)
  for (let n = 0; n < 100; n++) {
    book.of(VAN).became('routed', LANE)
    book.of(VAN).became('filtered', 'invalid')
  }
  const turns = Array.from({ length: 3 }, () => ['filtered invalid', `routed ${LANE}`]).flat()
  expect(await told(book)).toEqual([...turns, CONNECTED])
})

it('notes six connections and six changes in ten minutes of a device that reconnects for each packet', async () => {
  const book = gateway()
  for (let n = 1; n <= 100; n++) {
    const session = open(book, 'tcp', n)
    book.of(VAN).became(n % 2 ? 'routed' : 'filtered', n % 2 ? LANE : 'invalid')
    book.gone(session)
  }
  const visits = [6, 5, 4, 3, 2, 1].map((n) => [
    `disconnected 10.1.2.3:${4000 + n}`,
    n % 2 ? `routed ${LANE}` : 'filtered invalid',
    `connected teltonika tcp 10.1.2.3:${4000 + n}`,
  ])
  expect(await told(book)).toEqual(visits.flat())
})

it('accepts six events in any ten minutes', () => {
  let times: readonly number[] = []
  const takes = (minute: number) => {
    const taken = withinLimit(times, minute * 60_000)
    times = taken ?? times
    return taken !== undefined
  }
  const minutes = [0, 9, 9, 9, 9, 9, 9, 9.9, 10, 10.1, 18.9, 19, 19.1]
  expect(minutes.filter(takes)).toEqual([0, 9, 9, 9, 9, 9, 10, 19, 19.1])
})

it('notes the end of a connection only if its beginning is noted', async () => {
  const book = gateway()
  for (let n = 1; n <= 6; n++) open(book, 'tcp', n)
  const session = open(book, 'tcp', 7)
  book.of(VAN).spoke(session, 'teltonika')
  session.endFor('idle')
  book.gone(session)
  const events = await told(book)
  expect(events).toHaveLength(6)
  expect(events[0]).toBe('connected teltonika tcp 10.1.2.3:4006')
})

describe('full memory of Redis', () => {
  afterEach(() => redis.config('SET', 'maxmemory', '256mb'))

  it('writes signs of life while the memory of Redis is full, and events later', async () => {
    const book = gateway()
    open(book)
    await expect.poll(() => redis.exists(keys.eventsPrefix + VAN), soon).toBe(1)
    await redis.config('SET', 'maxmemory', '1mb')
    book.of(VAN).became('routed', LANE)
    const [sign] = await redis.keys(keys.gateway('*'))
    await redis.pexpire(sign, 60_000)
    await expect.poll(() => redis.pttl(sign), soon).toBeLessThan(10_000)
    expect(await told()).toEqual([CONNECTED])
    await redis.config('SET', 'maxmemory', '256mb')
    await expect.poll(() => told(), soon).toEqual([`routed ${LANE}`, CONNECTED])
  })

  it('writes the newest last fix once the memory of Redis has room again', async () => {
    const book = gateway()
    open(book)
    await expect.poll(() => redis.exists(keys.eventsPrefix + VAN), soon).toBe(1)
    await redis.config('RESETSTAT')
    await redis.config('SET', 'maxmemory', '1mb')
    const fix = { time: 1, latitude: 52.5, longitude: 13.4, valid: true }
    const filtered = { reason: 'invalid', at: 1, fix }
    book.of(VAN).stored({ fix: { at: 2, fix }, filtered })
    await expect.poll(() => redis.info('errorstats'), soon).toContain('errorstat_OOM')
    book.of(VAN).stored({ fix: { at: 3, fix } })
    await redis.config('SET', 'maxmemory', '256mb')
    await told(book)
    expect((await readRecords(redis, [VAN]))[0]).toMatchObject({ fix: { at: 3, fix }, filtered })
  })
})

it('a job fails if a script cannot write its events, and writes them later', async () => {
  const book = new HeardBook(redis)
  const write = book.jobs['devices of shard 0']
  open(book)
  await redis.set(keys.devices, 'no hash')
  await expect(write()).rejects.toThrow('WRONGTYPE')
  await redis.del(keys.devices)
  await write()
  expect(await told()).toEqual([CONNECTED])
})
