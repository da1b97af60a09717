import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { loadProtocol } from '../../protocols/index.ts'
import { Arrivals } from '../../src/gateway/arrivals.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import type { OwnPort } from '../../src/gateway/frame-findings.ts'
import { createLogger } from '../../src/observe/log.ts'
import { observations } from '../../src/observe/observations.ts'
import { surveyArrivals } from '../../src/store/arrivals.ts'
import type { Store } from '../../src/store/index.ts'
import { english } from '../../src/texts/text.ts'
import { beating, beatingHeardBook } from '../support/beat.ts'
import { at, gateway, NOW_S, van } from '../support/ingest.ts'
import { journalOf } from '../support/journal.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'
import { EVENTS_KEPT, readEvents, readRecords } from '../../src/store/device-record.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const MOST_ARRIVALS = 5
const soon = { timeout: 30_000 }
let redis: Store

withRedis((_, connection) => {
  redis = connection
})

const named = async (name: string) => (await loadProtocol(name)) ?? expect.fail()

/** A journal whose books are in Redis. */
async function written() {
  const heard = beatingHeardBook(redis)
  const replica = { roster: await createDirectory([van], []) }
  const arrivals = beating(new Arrivals({ redis, maxDevices: MOST_ARRIVALS, replica, logger }), (each) => each.write())
  onTestFinished(async () => void (await Promise.all([heard.close(), arrivals.close()])))
  return { heard, journal: journalOf({ heard, arrivals }) }
}

/** A journal, and what it logs of devices that are refused. */
function logging() {
  const lines: string[] = []
  const journal = journalOf({ logger: pino({}, { write: (line) => void lines.push(line) }) })
  const logged = () => lines.map((line) => JSON.parse(line)).map(({ device, reason }) => `${device} ${reason}`)
  return { journal, logged }
}

/** How many writes Redis has refused. */
async function refusals(): Promise<number> {
  return Number(/errorstat_NOREPLICAS:count=(\d+)/.exec(await redis.info('errorstats'))?.[1] ?? 0)
}

/** Returns the findings about senders without a device, and about refused unknown devices. */
function observedSenders() {
  return observations
    .current()
    .flatMap(({ code, subject, evidence }) =>
      code === 'no_id' || code === 'unknown_refused' ? [[code, subject, ...evidence.map(english)]] : [],
    )
}

const timesOf = (events: readonly { readonly event: string }[]) => events.map(({ event }) => event)

it('answers frames while Redis refuses the writes of the journal, which come later within their limits', async () => {
  const { journal } = await written()
  const { say } = await gateway({ journal, hold: { unknown: true, no_route: true }, maxUnknownDevices: 1000 })
  await redis.config('SET', 'min-replicas-to-write', '1')
  onTestFinished(async () => void (await redis.config('SET', 'min-replicas-to-write', '0')))

  for (let round = 1; round <= 3; round++) {
    const before = await refusals()
    for (let n = 0; n < 3 * EVENTS_KEPT; n++) {
      const connection = new Conversation('tcp', `127.0.0.1:${100 * round + n}`)
      const fixes = [at(1000 * (NOW_S - 100 + n))]
      expect(await say({ device: van.id, fixes }, connection)).toMatchObject({ status: 'stored' })
      if (round === 1) expect(await say({ device: `nobody-${n}`, fixes })).toMatchObject({ status: 'stored' })
      journal.gone(connection)
    }
    await expect.poll(refusals, soon).toBeGreaterThan(before + 8)
  }
  await redis.config('SET', 'min-replicas-to-write', '0')

  await expect.poll(async () => (await readRecords(redis, [van.id]))[0]?.fix?.fix.time, soon).toBe(1000 * (NOW_S - 41))
  await expect.poll(async () => (await surveyArrivals(redis, () => false)).length, soon).toBe(MOST_ARRIVALS)
  expect((await surveyArrivals(redis, () => false)).map(({ device }) => device)).toContain('nobody-0')
  const events = await readEvents(redis, van.id)
  expect(timesOf(events)).toEqual(expect.arrayContaining(['connected', 'routed', 'disconnected']))
  expect(events.length).toBeLessThanOrEqual(EVENTS_KEPT)
})

it('the journal notes a connection as ended if it ends while its frame is being stored', async () => {
  const { heard, journal } = await written()
  const { say, state, session } = await gateway({ journal, fails: true, waitMs: 20_000 })
  const said = say({ device: van.id, fixes: [at(1000 * NOW_S)] })
  await expect.poll(() => state.attempts).toBeGreaterThan(0)
  journal.gone(session)
  state.fails = false
  expect(await said).toMatchObject({ status: 'stored' })
  await heard.close()
  expect(timesOf(await readEvents(redis, van.id))).toEqual(['disconnected', 'routed', 'connected'])
  const { remote, connectedAt } = (await readRecords(redis, [van.id]))[0] ?? {}
  expect({ remote, connectedAt }).toEqual({ remote: session.remote, connectedAt: undefined })
})

it('the journal notes no connection anew for a frame that is stored after its end, and keeps a newer one', async () => {
  const { heard, journal } = await written()
  const { say, state, session: first } = await gateway({ journal, waitMs: 20_000 })
  const message = { device: van.id, fixes: [at(1000 * NOW_S)] }
  await say(message)
  state.fails = true
  const said = say({ device: van.id, fixes: [at(1000 * NOW_S + 1000)] })
  await expect.poll(() => state.attempts).toBeGreaterThan(1)
  journal.gone(first)
  const second = new Conversation('tcp', '127.0.0.1:2', { connectedAt: first.connectedAt + 5 })
  await say({ device: van.id, none: 'login' }, second)
  state.fails = false
  expect(await said).toMatchObject({ status: 'stored' })
  expect(heard.of(van.id).contact).toMatchObject({ remote: second.remote, connectedAt: second.connectedAt })
  journal.gone(second)
  await say(message, first)
  await heard.close()
  const events = ['disconnected', 'connected', 'disconnected', 'routed', 'connected']
  expect(timesOf(await readEvents(redis, van.id))).toEqual(events)
})

it('the journal takes the last contact of a device by the time of its frames, not of their storing', async () => {
  const { heard, journal } = await written()
  const { say, state } = await gateway({ journal, waitMs: 20_000, fails: true })
  const said = say({ device: van.id, fixes: [at(1000 * NOW_S)] }, new Conversation('http', '127.0.0.1:1'))
  await expect.poll(() => state.attempts).toBeGreaterThan(1)
  await say({ device: van.id, none: 'login' }, new Conversation('http', '127.0.0.1:2'))
  state.fails = false
  expect(await said).toMatchObject({ status: 'stored' })
  expect(heard.of(van.id).contact).toMatchObject({ remote: '127.0.0.1:2' })
})

it('the journal dates each of two frames that wait together by its own arrival', async () => {
  const own = { ...van, id: 'in-flight' }
  const { heard, journal } = await written()
  const { say, state, stored } = await gateway({ journal, devices: [own], waitMs: 20_000, fails: true })
  const arrived = 1000 * NOW_S
  vi.useFakeTimers({ toFake: ['Date'], now: arrived })
  onTestFinished(() => void vi.useRealTimers())
  const ahead = at(arrived + 330_000)
  const first = say({ device: own.id, fixes: [at(arrived), ahead] })
  vi.setSystemTime(arrived + 60_000)
  const second = say({ device: own.id, fixes: [at(arrived + 1000), ahead] })
  await expect.poll(() => state.attempts).toBeGreaterThan(1)
  state.fails = false
  expect(await Promise.all([first, second])).toMatchObject([{ status: 'stored' }, { status: 'stored' }])
  expect(stored.map((each) => [each.received, 'filtered' in each && each.filtered])).toEqual([
    [2, ['clock']],
    [2, []],
  ])
  await heard.close()
  const [connected] = (await readEvents(redis, own.id)).toReversed()
  expect(connected).toMatchObject({ event: 'connected', at: arrived })
})

it('the journal notes that an id is used twice although the frame that shows it has to wait', async () => {
  const own = { ...van, id: 'used-twice' }
  const { say, state } = await gateway({ devices: [own], waitMs: 20_000 })
  const message = { device: own.id, fixes: [at(1000 * NOW_S)] }
  const [one, other] = ['192.0.2.1:1', '198.51.100.1:1'].map((remote) => new Conversation('tcp', remote))
  const newer = Object.assign(other, { connectedAt: one.connectedAt + 5 })
  for (const session of [one, newer, one]) await say(message, session)
  state.fails = true
  const { attempts } = state
  const said = say(message, newer)
  await expect.poll(() => state.attempts).toBeGreaterThan(attempts)
  state.fails = false
  expect(await said).toMatchObject({ status: 'stored' })
  const noted = observations.current().filter(({ subject }) => subject.device === own.id)
  expect(noted).toMatchObject([{ code: 'claimed_twice', count: 1 }])
})

it('the journal notes the stored part of a frame whose rest fails by a fault', async () => {
  const other = { ...van, id: 'other' }
  const relayed = { fixes: [van, other].map(({ id }) => at(1000 * NOW_S, { device: id })) }
  const many = await gateway({ devices: [van, other], fullLane: 'none' })
  let asked = 0
  const fullLane = () => {
    if (++asked === 2) throw new Error('a fault')
  }
  Object.defineProperty(many.state, 'fullLane', { get: fullLane })
  expect(await many.say(relayed)).toMatchObject({ status: 'not_stored', reason: 'fault' })
  expect(many.told).toEqual([`${van.id} routed 7/42/1001`])

  const refusing = await gateway({ devices: [van, other] })
  const admits = ({ id }: { readonly id: string }) => {
    if (id === other.id) throw new Error('a fault')
    return true
  }
  const asking = new Conversation('tcp', '127.0.0.1:1', { admits })
  expect(await refusing.say(relayed, asking)).toMatchObject({ status: 'not_stored', reason: 'fault' })
  expect(refusing.told).toEqual([`${van.id} routed 7/42/1001`])

  const one = await gateway()
  let looks = 0
  const current = () => {
    if (++looks === 3) throw new Error('a fault')
    return true
  }
  Object.defineProperty(one.state, 'current', { get: current })
  const message = { device: van.id, fixes: [at(1000 * NOW_S)], unreadable: ['entry'] }
  expect(await one.say(message)).toMatchObject({ status: 'not_stored', reason: 'fault' })
  expect(one.told).toEqual([`${van.id} routed 7/42/1001`])
})

it('fixes of a sender without a proof end no finding about the clock of a device', async () => {
  const own = { ...van, id: 'with-secret', secret: 'secret-1234' }
  const { say } = await gateway({ devices: [own], hold: { unknown: true } })
  const isAhead = () =>
    observations.current().some(({ code, subject }) => code === 'clock_ahead' && subject.device === own.id)
  observations.note('clock_ahead', { subject: { device: own.id }, now: Date.now() - 10_000 })
  const message = { device: own.id, fixes: [at(1000 * NOW_S)] }
  expect(await say(message)).toMatchObject({ status: 'stored' })
  expect(isAhead()).toBe(true)
  await say({ ...message, secret: own.secret }, new Conversation('tcp', '127.0.0.1:2'))
  expect(isAhead()).toBe(false)
})

it('the journal dates events and findings by the arrival of their frame, although it is stored later', async () => {
  const { heard, journal } = await written()
  const own = { ...van, id: 'ahead' }
  const { say, state } = await gateway({ devices: [own], journal, hold: { clock: true }, fails: true, waitMs: 20_000 })
  const said = say({ device: own.id, fixes: [at(1000 * NOW_S + 7_200_000)] })
  await expect.poll(() => state.attempts).toBeGreaterThan(0)
  const movedAt = Date.now()
  await expect.poll(() => Date.now()).toBeGreaterThan(movedAt)
  state.fails = false
  expect(await said).toMatchObject({ status: 'stored' })
  await heard.close()
  const events = await readEvents(redis, own.id)
  expect(timesOf(events)).toEqual(['held', 'connected'])
  const noted = observations.current().find(({ subject }) => subject.device === own.id)
  const times = [...events.map((event) => event.at), noted?.sinceAt, noted?.lastAt]
  expect(times.filter((time) => time === undefined || time > movedAt)).toEqual([])
})

it('the journal notes a sender without a proof even if its frame is damaged or above its quota', async () => {
  const own = { ...van, secret: 'secret-1234' }
  const refused = [`${van.id} refused wrong_secret`]
  const open = () => gateway({ devices: [own], hold: { unknown: true } })
  const fixes = [at(1000 * NOW_S, { device: van.id })]
  const damaged = await open()
  const mqtt = new Conversation('mqtt', '127.0.0.1:1', { device: van.id })
  expect(await damaged.say({ fault: 'decode' }, mqtt)).toMatchObject({ status: 'stored' })
  expect(damaged.told).toEqual(refused)
  for (const message of [{ device: van.id, fixes: [at(1000 * NOW_S)] }, { fixes }]) {
    const { say, told } = await open()
    const outcome = await say(message, new Conversation('tcp', '127.0.0.1:1', { admits: () => false }))
    expect(outcome).toMatchObject({ status: 'not_stored', reason: 'flood' })
    expect(told).toEqual(refused)
  }
})

it('the journal notes a sender without a proof once, even if its frame has to wait', async () => {
  const own = { ...van, id: 'waited-for', secret: 'secret-1234' }
  const { say, state } = await gateway({ devices: [own], hold: { unknown: true }, fails: true, waitMs: 20_000 })
  const said = say({ device: own.id, fixes: [at(1000 * NOW_S)] })
  await expect.poll(() => state.attempts).toBeGreaterThan(0)
  state.fails = false
  expect(await said).toMatchObject({ status: 'stored' })
  const noted = observations.current().filter(({ subject }) => subject.device === own.id)
  expect(noted).toMatchObject([{ code: 'wrong_secret', count: 1 }])
})

it('the journal does not log a configured device as unknown when there is no room for its unproved fixes', async () => {
  const own = { ...van, secret: 'secret-1234' }
  const { journal, logged } = logging()
  const { say } = await gateway({ devices: [own], journal, hold: { unknown: true }, answer: { refused: true } })
  for (const device of [own.id, 'nobody'])
    expect(await say({ device, fixes: [at(1000 * NOW_S)] }, new Conversation('tcp', '127.0.0.1:1'))).toMatchObject({
      status: 'refused',
    })
  expect(logged()).toEqual(['nobody unknown_device'])
})

it('the journal logs a sender of fixes that names no device, but no login that names none', async () => {
  const { journal, logged } = logging()
  const { say, ingest } = await gateway({ journal })
  ingest.login('', undefined, new Conversation('mqtt', '127.0.0.1:1'))
  expect(logged()).toEqual([])
  await say({ fixes: [at(1000 * NOW_S)] })
  expect(logged()).toEqual([' unknown_device'])
})

it('reports a datagram without a device as no_id, and not as a refused unknown device', async () => {
  // Ends the findings of earlier tests.
  observations.current(Date.now() + 3_600_000)
  const { say } = await gateway({ hold: { unknown: true } })
  await say({ device: 'x'.repeat(300), fixes: [at(1000 * NOW_S)] }, new Conversation('udp', '10.0.0.8:1'))
  expect(observedSenders()).toEqual([])
  await say({ fixes: [at(1000 * NOW_S)] }, new Conversation('udp', '10.0.0.9:1'))
  expect(observedSenders()).toEqual([['no_id', { listener: 'spoken' }, 'spoken over udp from 10.0.0.9']])
})

it.each([
  ['tcp', 'port 5027 is for that'],
  ['udp', 'port 5028 is for that'],
] as const)('names a port without TLS to a device on a wrong one without it, over %s', async (transport, sentence) => {
  const [teltonika, gt06] = [await named('teltonika'), await named('gt06')]
  const plain = { protocol: teltonika.name, tls: null }
  const listeners: OwnPort[] = [
    { port: 5001, protocol: 'gt06', transport: 'tcp', tls: {} },
    { port: 5026, protocol: 'teltonika', transport: 'tcp', tls: {} },
    { ...plain, port: 5027, transport: 'tcp' },
    { ...plain, port: 5028, transport: 'udp' },
  ]
  const session = new Conversation(transport, '10.0.0.8:1')
  const port = transport === 'udp' ? 5001 : 5002
  journalOf({ listeners }).wrongPort(session, teltonika, { port, expected: gt06 })
  const found = observations.current().filter(({ code }) => code === 'wrong_port')
  expect(found.flatMap(({ evidence }) => evidence.map(english))).toContain(
    `speaks teltonika on port ${port} (gt06); ${sentence}`,
  )
})

it('the gateway answers a frame although noting it meets a fault', async () => {
  const heard = { of: () => undefined as unknown as never, gone: () => {} }
  const { say, stored } = await gateway({ journal: journalOf({ heard }) })
  expect(await say({ device: van.id, fixes: [at(1000 * NOW_S)] })).toMatchObject({ status: 'stored' })
  expect(stored).toHaveLength(1)
})
