import { pino } from 'pino'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import type { Fix } from '../../protocols/kit/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { OwnClock } from '../../src/gateway/clock.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { FixStorage } from '../../src/gateway/fix-storage.ts'
import { Holding } from '../../src/gateway/holding.ts'
import { ResolvedDevice } from '../../src/gateway/identity.ts'
import { type FilterOptions, type HoldOptions, placeFixes } from '../../src/gateway/place.ts'
import { Trails } from '../../src/gateway/suspicion.ts'
import { observations } from '../../src/observe/observations.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import {
  Appender,
  custodyCounters,
  DuplicateFilter,
  HELD_LISTS,
  keys,
  lookAgain,
  lookAtAll,
  markReleasing,
  type Part,
  packDevice,
  packRecords,
  type Store,
  releaseSuspicious,
  surveyHeld,
  timestampOf,
} from '../../src/store/index.ts'
import { readRecords } from '../../src/store/device-record.ts'
import type { HoldLimits } from '../../src/store/store-records.ts'
import { beating } from '../support/beat.ts'
import { journalOf } from '../support/journal.ts'
import { records } from '../support/records.ts'
import { createDirectory } from '../support/roster.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

const NOW = Math.floor(Date.now() / 1000)
const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }
const HOLD = { unknown: true, no_route: true, clock: true, max_age: 86_400_000 }
const VAN: Device = { id: '0123', company_id: '7', courier_id: '42', source: 'devices.yaml:1' }
/** The lines of the log. */
const logged: { reason: string; fixes: number; device?: string; devices?: number }[] = []
const logger = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) })

let redis: Store
const closes: (() => Promise<void>)[] = []

withRedis((_, connection) => {
  redis = connection
})
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

/** A gateway's holding, with the directory that it follows. */
async function gateway(
  devices: Device[] = [],
  lines: Assignment[] = [],
  hold: HoldOptions = HOLD,
  bounds: Partial<HoldLimits> = {},
  filter: FilterOptions = FILTER,
  journal = journalOf(),
) {
  const replica = { current: true, version: 0, roster: await createDirectory(devices, lines) }
  const clock = { isInDoubt: false, jumps: 0, now: () => Date.now() }
  const placing = { replica, filter, hold, clock }
  const options = {
    maxWaitMs: 0,
    duplicates: new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 }),
    shares: { markBytes: Number.MAX_SAFE_INTEGER, heldFixes: 1_000_000, misunderstoodBytes: 0 },
    hold: { maxFixesPerDevice: 5, maxFixesConfigured: 5, maxUnknownDevices: 3, ...bounds },
  }
  const appender = new Appender(redis, options)
  const held = new Holding({ ...placing, redis, appender: options, journal, logger })
  const holding = beating(held, (each) => each.look())
  await holding.marking
  closes.push(
    () => holding.close(),
    () => appender.close(),
  )
  const capacity = { hasShortage: false, shortageFor: () => undefined }
  return {
    holding,
    storing: { ...placing, appender, capacity, trails: new Trails() },
    clock,
    options,
    shares: options.shares,
    set isCurrent(current: boolean) {
      replica.current = current
    },
    async configure(nextDevices: Device[], nextLines: Assignment[] = [], changed?: ReadonlySet<string>) {
      replica.roster = await createDirectory(nextDevices, nextLines)
      holding.rosterChanged(changed)
      await holding.marking
    },
    replica,
    send: (device: string, ...times: number[]) => sendAs(true, device, times),
    store: (part: Part) => appender.append({ parts: [part], received: 1, filtered: [] }),
    /** In datagrams. */
    sendUnproven: (device: string, ...times: number[]) => sendAs(false, device, times),
  }

  async function sendAs(isProven: boolean, device: string, times: number[]) {
    await holding.marking
    const entry = replica.roster.find(device)
    const id = entry?.id ?? device
    const fixes = times.map((time): Fix => ({ time: time * 1000, latitude: 52.5, longitude: 13.4, valid: true }))
    const origin = { device: id, entry, now: Date.now(), isProven }
    const placed = placeFixes(fixes, origin, {
      ...placing,
      roster: replica.roster,
      rosterVersion: replica.version,
      isClockInDoubt: clock.isInDoubt,
    })
    return appender.append(placed)
  }
}

const line = (route_id: string, from: number, until: number): Assignment => {
  return { device: VAN.id, courier_id: '42', route_id, from, until, source: 'routes.csv:2' }
}
const waitingIn = async (lane: string) =>
  records(Buffer.concat(await redis.lrangeBuffer(keys.lane(lane), 0, -1))).map(timestampOf)
const held = async () =>
  (await Array.fromAsync(surveyHeld(redis))).map(({ reason, device, fixes }) => [reason, device, fixes])
/** How often a command was called. */
const calls = async (command: string) =>
  Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1] ?? 0)
const isReleasing = async (device: string) => (await redis.zscore(keys.releasing, device)) !== null
const soon = { timeout: 30_000, interval: 20 }
const times = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

it('releases held fixes of an unknown device in order, to the routes of their times, once it is configured', async () => {
  const { configure, send } = await gateway()
  await send('123', NOW - 30, NOW - 20)
  await send('123', NOW - 10)
  expect(await held()).toEqual([['unknown', '123', 3]])
  await configure([VAN], [line('1', NOW - 30, NOW - 15), line('2', NOW - 15, NOW + 100)])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 30, NOW - 20])
  await expect.poll(() => waitingIn('7/42/2'), soon).toEqual([NOW - 10])
  expect(await held()).toEqual([])
})

it('logs at most one line a minute about released fixes, however many devices they are of', async () => {
  const vans = times(11, 8).map((id): Device => ({ ...VAN, id: String(id) }))
  const { configure, holding, send } = await gateway([], [], HOLD, { maxUnknownDevices: 8 })
  for (const { id } of vans) await send(id, NOW - 30, NOW - 20)
  logged.length = 0
  await configure(
    vans,
    vans.map(({ id }) => ({ ...line(id, NOW - 100, NOW + 100), device: id })),
  )
  await expect.poll(held, soon).toEqual([])
  await holding.close()
  expect(logged.length).toBeLessThanOrEqual(2)
  expect(logged.reduce((sum, { fixes }) => sum + fixes, 0)).toBe(16)
  expect(logged.reduce((sum, { devices = 1 }) => sum + devices, 0)).toBe(8)
  logged.length = 0
  const one = await gateway([VAN])
  await one.send(VAN.id, NOW - 30)
  await one.configure([VAN], [line('1', NOW - 100, NOW + 100)])
  await expect.poll(() => logged, soon).toMatchObject([{ device: VAN.id, reason: 'no_route', fixes: 1 }])
})

it.each([
  ['to a lane', [line('1', NOW - 40, NOW + 100)], (NOW - 20) * 1000],
  ['to the fixes without a route', [], undefined],
])(
  'takes the last contact from the sender of released fixes that go %s, unless the device spoke since',
  async (_, lines, time) => {
    const heard = new HeardBook(redis)
    const contact = { transport: 'udp', protocol: 'osmand' } as const
    const arrival = { ...contact, at: 1, address: '10.0.0.9:1', evidence: [], device: '123' }
    await redis.hset(keys.arrivedDevices, '123', JSON.stringify(arrival))
    const { configure, send } = await gateway([], [], HOLD, {}, FILTER, journalOf({ heard }))
    await send('123', NOW - 30, NOW - 20)
    const record = async () => {
      await heard.jobs['devices of shard 0']()
      return (await readRecords(redis.shards[0], ['0123']))[0]
    }
    expect(await record()).toBeUndefined()
    await configure([VAN], lines)
    await expect.poll(record, soon).toMatchObject({ ...contact, remote: '10.0.0.9:1' })
    const { at = 0, fix } = (await record()) ?? {}
    expect(fix?.fix.time).toBe(time)
    const session = Object.assign(new Conversation('udp', '10.0.0.10:2'), { device: '0123', now: at + 1000 })
    heard.of('0123').spoke(session, 'h02')
    heard.of('0123').sentBefore({ ...contact, at, remote: '10.0.0.9:1' })
    expect(await record()).toMatchObject({ at: at + 1000, remote: '10.0.0.10:2', protocol: 'h02' })
  },
)

it('keeps held fixes of an unknown device while the roster is not current', async () => {
  const all = await gateway()
  await all.send('123', NOW - 30)
  all.isCurrent = false
  await all.configure([VAN], [line('1', NOW - 100, NOW)])
  await all.holding.close()
  expect(await held()).toEqual([['unknown', '123', 1]])
})

it.each([
  ['another device', new Set(['456'])],
  ['every device', undefined],
])('releases held fixes although the roster changes %s while they are looked for', async (_, changed) => {
  const { holding, replica, send } = await gateway()
  const other = { ...VAN, id: '456', courier_id: '43' }
  await send('123', NOW - 30)
  await send('456', NOW - 20)
  replica.roster = await createDirectory([VAN, other], [line('1', 0, NOW), { ...line('2', 0, NOW), device: '456' }])
  holding.rosterChanged(new Set(['123']))
  holding.rosterChanged(changed)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 30])
  await expect.poll(() => waitingIn('7/42/2'), soon).toEqual([NOW - 20])
})

it('releases held fixes although the whole roster changes while other devices are marked', async () => {
  const { holding, replica, send } = await gateway()
  await send('123', NOW - 30)
  holding.rosterChanged(new Set(['456']))
  const { marking } = holding
  await Promise.resolve()
  replica.roster = await createDirectory([VAN], [line('1', NOW - 100, NOW)])
  holding.rosterChanged(undefined)
  expect(await marking).toBe(true)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 30])
})

it('holds fixes of an unknown device as no_route when it is configured without a route', async () => {
  const { configure, send } = await gateway()
  await send('123', NOW - 30)
  await configure([VAN])
  await expect.poll(held, soon).toEqual([['no_route', '0123', 1]])
  await configure([VAN], [line('1', NOW - 100, NOW)])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 30])
})

it('keeps held fixes of an unknown device while its entry asks for a proof that nobody gave for them', async () => {
  const { configure, send } = await gateway()
  await send('123', NOW - 30)
  const lines = [line('1', NOW - 100, NOW)]
  await configure([{ ...VAN, secret: 'right-secret' }], lines)
  await expect.poll(() => isReleasing('123'), soon).toBe(false)
  expect(await held()).toEqual([['unknown', '123', 1]])
  await configure([VAN], lines)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 30])
})

it('keeps held fixes of an unknown device if no more unknown devices are admitted', async () => {
  const { send } = await gateway()
  await send('123', NOW - 30)
  const { holding } = await gateway([], [], { ...HOLD, unknown: false })
  holding.rosterChanged(undefined)
  await expect.poll(() => isReleasing('123'), soon).toBe(false)
  expect(await held()).toEqual([['unknown', '123', 1]])
})

it('holds fixes of max_unknown_devices devices, and more fixes of those that it already holds', async () => {
  const { send } = await gateway()
  for (const device of ['1', '2', '3']) expect(await send(device, NOW)).toMatchObject({ refused: false })
  expect(await send('4', NOW)).toMatchObject({ refused: true })
  expect(await send('1', NOW + 1)).toMatchObject({ refused: false })
  expect(await held()).toEqual([
    ['unknown', '1', 2],
    ['unknown', '2', 1],
    ['unknown', '3', 1],
  ])
  expect(await custodyCounters(redis)).toEqual(new Map([['received', 4]]))
})

it('refuses fixes above the maximum of an unknown device, and keeps those that were acknowledged', async () => {
  const { configure, send } = await gateway()
  expect(await send('123', ...times(NOW - 100, 5))).toMatchObject({ refused: false })
  expect(await send('123', NOW)).toMatchObject({ refused: true })
  await configure([VAN], [line('1', NOW - 200, NOW + 1)])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual(times(NOW - 100, 5))
  expect(await custodyCounters(redis)).toEqual(new Map([['received', 5]]))
})

it('holds fixes of half as many unknown devices that only send datagrams', async () => {
  const { send, sendUnproven } = await gateway([], [], HOLD, { maxUnknownDevices: 4 })
  const datagrams = await Promise.all(['1', '2', '3'].map((device) => sendUnproven(device, NOW)))
  expect(datagrams.map(({ refused }) => refused)).toEqual([false, false, true])
  const connections = await Promise.all(['4', '5', '6'].map((device) => send(device, NOW)))
  expect(connections.map(({ refused }) => refused)).toEqual([false, false, true])
})

it('refuses unknown devices above half of the memory for held fixes; a configured one displaces its own', async () => {
  const { send, shares } = await gateway([VAN])
  shares.heldFixes = 8
  expect(await send('9', ...times(NOW, 4))).toMatchObject({ refused: false })
  expect(await send('8', NOW)).toMatchObject({ refused: true })
  expect(await send('0123', ...times(NOW - 100, 4))).toMatchObject({ refused: false })
  expect((await custodyCounters(redis)).get('discarded:held_overflow')).toBeUndefined()
  expect(await send('0123', NOW)).toMatchObject({ refused: false })
  expect(await held()).toEqual([
    ['unknown', '9', 4],
    ['no_route', '0123', 4],
  ])
  expect((await custodyCounters(redis)).get('discarded:held_overflow')).toBe(1)
})

const others = Array.from({ length: 2000 }, (_, index) => String(900_000 + index))

it.each([
  ['one device', ['123']],
  ['thousands of devices', ['123', ...others]],
])('a change of the roster that concerns %s releases their held fixes, and no others', async (_, changed) => {
  const { configure, send } = await gateway()
  await send('123', NOW - 30)
  await send('77', NOW - 30)
  const other = { ...VAN, id: '77', courier_id: '43' }
  const lines = [line('1', NOW - 100, NOW), { ...line('2', NOW - 100, NOW), device: '77' }]
  await configure([VAN, other], lines, new Set(changed))
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 30])
  expect(await held()).toEqual([['unknown', '77', 1]])
})

it('releases held fixes by the assignment that covers them, and keeps the others', async () => {
  const { configure, send } = await gateway([VAN])
  await send('0123', ...times(NOW - 5, 5))
  await configure([VAN], [line('1', NOW - 4, NOW - 2)])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 4, NOW - 3])
  expect(await held()).toEqual([['no_route', '0123', 3]])
})

it('keeps the order of held fixes and those that arrive while they are being released', async () => {
  const { configure, send } = await gateway([VAN], [], HOLD, { maxFixesConfigured: 10_000 })
  for (let i = 0; i < 10; i++) await send('0123', ...times(NOW - 20_000 + i * 500, 500))
  await expect.poll(held, soon).toEqual([['no_route', '0123', 5000]])
  await configure([VAN], [line('1', 0, NOW + 1000)])
  expect(await isReleasing('123')).toBe(true)
  await send('0123', NOW)
  await expect.poll(() => redis.llen(keys.lane('7/42/1')), { timeout: 30_000 }).toBe(5001)
  expect(await waitingIn('7/42/1')).toEqual([...times(NOW - 20_000, 5000), NOW])
  await expect.poll(() => isReleasing('123'), soon).toBe(false)
})

it('puts held fixes before later fixes that come to another gateway, which has nothing to release', async () => {
  const bounds = { maxFixesConfigured: 10_000 }
  const one = await gateway([VAN], [], HOLD, bounds)
  for (let i = 0; i < 10; i++) await one.send('0123', ...times(NOW - 20_000 + i * 500, 500))
  const lines = [line('1', 0, NOW + 1000)]
  const other = await gateway([VAN], lines, HOLD, bounds)
  await one.configure([VAN], lines)
  await one.send('0123', NOW - 2)
  await other.send('0123', NOW - 1)
  await expect.poll(() => redis.llen(keys.lane('7/42/1')), { timeout: 30_000 }).toBe(5002)
  expect(await waitingIn('7/42/1')).toEqual([...times(NOW - 20_000, 5000), NOW - 2, NOW - 1])
})

it('puts held fixes before later ones, even if a gateway that lagged behind held them', async () => {
  const ahead = await gateway([VAN], [line('1', NOW - 100, NOW + 100)])
  const behind = await gateway([VAN])
  ahead.replica.version = 2
  await redis.set(keys.roster('version'), 2)
  await Promise.all([behind.send('0123', NOW - 20), ahead.send('0123', NOW - 10)])
  await ahead.send('0123', NOW - 5)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 20, NOW - 10, NOW - 5])
})

it('held fixes that nothing gives a place do not hold up later fixes that have one', async () => {
  const { configure, send } = await gateway([VAN])
  await send('0123', NOW - 500)
  await configure([VAN], [line('1', NOW - 100, NOW)], new Set(['123']))
  await expect.poll(() => isReleasing('123'), soon).toBe(false)
  await send('0123', NOW - 30)
  expect(await waitingIn('7/42/1')).toEqual([NOW - 30])
  expect(await held()).toEqual([['no_route', '0123', 1]])
})

it('keeps the UTC time of fixes queued behind held ones, whatever the time zone of the device', async () => {
  const zoned = { ...VAN, time_zone: '+01:00' }
  const { configure, send } = await gateway([zoned])
  await send('0123', NOW + 3580)
  await configure([zoned], [line('1', NOW - 100, NOW + 100)], new Set(['123']))
  await send('0123', NOW + 3590)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 20, NOW - 10])
})

it('releases held fixes although Redis was away when the roster changed', async () => {
  const { configure, send } = await gateway([VAN])
  await send('0123', NOW - 20)
  redis.disconnect(true)
  await configure([VAN], [line('1', NOW - 100, NOW)], new Set(['123']))
  await expect.poll(() => waitingIn('7/42/1').catch(() => []), soon).toEqual([NOW - 20])
})

it('another gateway releases the held fixes of a gateway that has ended', async () => {
  const one = await gateway([VAN])
  await one.send('0123', NOW - 20)
  await one.holding.close()
  await one.configure([VAN], [line('1', NOW - 100, NOW)])
  await expect.poll(() => isReleasing('123'), soon).toBe(true)
  const other = await gateway([VAN], [line('1', NOW - 100, NOW)])
  await other.send('0123', NOW - 10)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 20, NOW - 10])
})

it('does not filter fixes that arrive during a release, even with no_route: false', async () => {
  const hold = { ...HOLD, no_route: false }
  const bounds = { maxFixesPerDevice: 10_000, maxFixesConfigured: 10_000 }
  const { configure, send } = await gateway([], [], hold, bounds)
  for (let i = 0; i < 10; i++) await send('123', ...times(NOW - 20_000 + i * 500, 500))
  await configure([VAN], [line('1', 0, NOW + 1000)])
  expect(await isReleasing('123')).toBe(true)
  await send('0123', NOW)
  await expect.poll(() => redis.llen(keys.lane('7/42/1')), { timeout: 30_000 }).toBe(5001)
  expect(await waitingIn('7/42/1')).toEqual([...times(NOW - 20_000, 5000), NOW])
  expect((await custodyCounters(redis)).get('filtered:no_route')).toBe(undefined)
})

it('does not hold new fixes once a release has ended, even after a roster that was not current', async () => {
  const all = await gateway([VAN])
  await all.send('0123', NOW - 30)
  all.isCurrent = false
  await all.configure([VAN], [line('1', 0, NOW + 1000)])
  expect(await isReleasing('123')).toBe(true)
  all.isCurrent = true
  await expect.poll(() => isReleasing('123'), { timeout: 30_000 }).toBe(false)
  await all.send('0123', NOW)
  expect(await waitingIn('7/42/1')).toEqual([NOW - 30, NOW])
})

it('releases held fixes only once if the device sent them twice', async () => {
  const { configure, send } = await gateway([VAN])
  await send('0123', NOW - 10, NOW - 9)
  await send('0123', NOW - 10, NOW - 9)
  await configure([VAN], [line('1', NOW - 100, NOW)])
  await expect.poll(held, soon).toEqual([])
  expect(await waitingIn('7/42/1')).toEqual([NOW - 10, NOW - 9])
  expect((await custodyCounters(redis)).get('filtered:duplicate')).toBe(2)
})

it('discards held fixes after max_age, and counts them', async () => {
  const { send } = await gateway([VAN], [], { ...HOLD, max_age: 1000 })
  await send('0123', NOW)
  await expect.poll(held, { timeout: 30_000 }).toEqual([])
  expect((await custodyCounters(redis)).get('discarded:held_age')).toBe(1)
})

it('discards the oldest held fixes above the maximum, and counts them', async () => {
  const { configure, send } = await gateway([VAN])
  await send('0123', ...times(NOW - 100, 8))
  expect(await held()).toEqual([['no_route', '0123', 5]])
  expect((await custodyCounters(redis)).get('discarded:held_overflow')).toBe(3)
  await configure([VAN], [line('1', NOW - 200, NOW)])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual(times(NOW - 97, 5))
})

it.each([
  ['ahead', 2 * HOLD.max_age],
  ['back, though none is held for a wrong time', -3_600_000],
])('does not discard held fixes because its own clock has jumped %s', async (_, ms) => {
  const { clock, configure, holding, send } = await gateway([VAN], [], { ...HOLD, clock: false })
  await send('0123', NOW)
  const { now } = Date
  clock.now = () => {
    clock.isInDoubt = true
    return Date.now()
  }
  vi.useFakeTimers({ toFake: ['Date'], now: now() + ms })
  onTestFinished(() => void vi.useRealTimers())
  holding.rosterChanged(undefined)
  await redis.zadd(keys.heldDevices('no_route'), 1, '0123')
  await expect.poll(async () => Number(await redis.zscore(keys.heldDevices('no_route'), '0123')), soon).not.toBe(1)
  await expect.poll(() => isReleasing('123'), soon).toBe(false)
  // It is set right, perhaps while the fix is judged.
  vi.useRealTimers()
  Object.assign(clock, { now, isInDoubt: false, jumps: 1 })
  await expect.poll(held, soon).toEqual([['no_route', '0123', 1]])
  await configure([VAN], [line('1', NOW - 100, NOW + 1)])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW])
})

it('datagrams never displace held fixes that came over a connection', async () => {
  const { configure, send, sendUnproven } = await gateway([VAN])
  await send('0123', ...times(NOW - 100, 4))
  for (let i = 0; i < 40; i++) await sendUnproven('0123', NOW - 50 + i)
  await configure([VAN], [line('1', NOW - 200, NOW)])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([...times(NOW - 100, 4), NOW - 11])
  expect((await custodyCounters(redis)).get('discarded:held_overflow')).toBe(39)
})

it('datagrams that arrive during a release do not displace held fixes that came over a connection', async () => {
  const one = await gateway([VAN])
  await one.send('0123', ...times(NOW - 100, 4))
  await one.holding.close()
  const lines = [line('1', NOW - 200, NOW)]
  await one.configure([VAN], lines)
  await expect.poll(() => isReleasing('123'), soon).toBe(true)
  for (let i = 0; i < 40; i++) await one.sendUnproven('0123', NOW - 50 + i)
  expect(await held()).toEqual([
    ['no_route', '0123', 4],
    ['no_route', '0123', 1],
  ])
  await gateway([VAN], lines)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([...times(NOW - 100, 4), NOW - 11])
})

it('releases held fixes although the gateway that held them lagged behind the roster', async () => {
  const lines = [line('1', NOW - 100, NOW + 100)]
  const ahead = await gateway([VAN])
  const frozen = await gateway([VAN])
  await ahead.configure([VAN], lines)
  ahead.replica.version = 2
  await redis.set(keys.roster('version'), 2)
  await frozen.send('0123', NOW)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW])
})

it('releases fixes that waited for one change of the roster although it changed again meanwhile', async () => {
  const lines = [line('1', NOW - 100, NOW + 100)]
  const all = await gateway([VAN])
  const holding: Pick<Holding, 'marking'> = { marking: undefined }
  const change = async () => {
    all.replica.version = 2
    await all.configure([VAN], lines)
    await redis.set(keys.roster('version'), 2)
    holding.marking = undefined
    return true
  }
  const sender = new ResolvedDevice(VAN.id, all.replica.roster.find(VAN.id))
  const fix: Fix = { time: NOW * 1000, latitude: 52.5, longitude: 13.4, valid: true }
  const begun = Promise.withResolvers<boolean>()
  holding.marking = begun.promise
  const source = { session: new Conversation('tcp', '127.0.0.1:1'), at: Date.now() }
  const stored = new FixStorage({ ...all.storing, holding }).store([fix], sender, source)
  begun.resolve(change())
  expect(await stored).toMatchObject({ failure: undefined })
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW])
})

it('does not read held fixes again while nothing changes', async () => {
  const { send } = await gateway([VAN], [], HOLD, { maxUnknownDevices: 100 })
  for (let device = 1; device <= 50; device++) await send(String(device), NOW)
  const [readBefore, looksBefore] = [await calls('lrange'), await calls('evalsha')]
  await expect.poll(() => calls('evalsha'), { timeout: 30_000 }).toBeGreaterThan(looksBefore + 12)
  expect(await calls('lrange')).toBe(readBefore)
})

it('looks at held fixes again only when their time comes, more fixes come, or all are looked at', async () => {
  const { holding, send } = await gateway()
  const looksAt = async () => Number(await redis.zscore(keys.heldDevices('unknown'), '123'))
  await send('123', NOW)
  // Due at once, as after a start.
  await lookAtAll(redis, HELD_LISTS)
  await expect.poll(looksAt, soon).toBeGreaterThan(Date.now() + HOLD.max_age - 60_000)
  await holding.close()
  const place = { lists: HELD_LISTS[0], device: '123' }
  const [later, latest] = [Date.now() + 600_000, Date.now() + 900_000]
  await redis.zadd(keys.heldDevices('unknown'), later, '123')
  await lookAgain(redis, place, { stayed: 0, at: latest })
  expect(await looksAt()).toBe(later)
  await lookAgain(redis, place, { stayed: 1, at: latest })
  expect(await looksAt()).toBe(latest)
  await lookAtAll(redis, HELD_LISTS)
  await lookAgain(redis, place, { stayed: 1, at: latest })
  expect(await looksAt()).toBe(0)
})

it('two gateways release held fixes once', async () => {
  const first = await gateway([VAN])
  const second = await gateway([VAN])
  await first.send('0123', ...times(NOW - 5, 5))
  const lines = [line('1', 0, NOW)]
  await first.configure([VAN], lines)
  await second.configure([VAN], lines)
  await expect.poll(held, soon).toEqual([])
  expect(await waitingIn('7/42/1')).toEqual(times(NOW - 5, 5))
})

const routed = { ...VAN, route_id: '1' }

it('releases fixes from the future when the time zone that explains them is configured', async () => {
  const { configure, send } = await gateway([routed])
  await send('0123', NOW + 3 * 3600, NOW + 3 * 3600 + 1)
  expect(await held()).toEqual([['clock', '0123', 2]])
  await configure([{ ...routed, time_zone: '+03:00' }])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW, NOW + 1])
})

it('filters an old fix held while the clock was in doubt, once the clock is not in doubt any more', async () => {
  const old = { ...FILTER, maxAgeMs: 3_600_000 }
  const { clock, send } = await gateway([routed], [], HOLD, undefined, old)
  clock.isInDoubt = true
  await send('0123', NOW - 7200)
  expect(await held()).toEqual([['clock', '0123', 1]])
  clock.isInDoubt = false
  await expect.poll(held, { timeout: 30_000 }).toEqual([])
  expect(await waitingIn('7/42/1')).toEqual([])
  expect((await custodyCounters(redis)).get('filtered:past')).toBe(1)
})

it('holds fixes that arrive while its own clock is in doubt, even with clock: false', async () => {
  const { clock, send } = await gateway([routed], [], { ...HOLD, clock: false })
  const now = Math.floor(Date.now() / 1000)
  clock.isInDoubt = true
  vi.useFakeTimers({ toFake: ['Date'], now: (now - 3600) * 1000 })
  onTestFinished(() => void vi.useRealTimers())
  await send('0123', now)
  vi.useRealTimers()
  clock.isInDoubt = false
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([now])
})

it('releases fixes from the future before newer ones when a clock that was behind is set right', async () => {
  const { holding, send } = await gateway([routed])
  const now = Math.floor(Date.now() / 1000)
  vi.useFakeTimers({ toFake: ['Date'], now: (now - 3600) * 1000 })
  await send('0123', now, now + 1)
  expect(await held()).toEqual([['clock', '0123', 2]])
  vi.useRealTimers()
  holding.rosterChanged(undefined)
  await send('0123', now + 2)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([now, now + 1, now + 2])
})

it('releases fixes from the future first if a gateway starts after its clock was set right', async () => {
  const before = await gateway([routed])
  const now = Math.floor(Date.now() / 1000)
  vi.useFakeTimers({ toFake: ['Date'], now: (now - 3600) * 1000 })
  await before.send('0123', now, now + 1)
  await before.holding.close()
  vi.useRealTimers()
  const { send } = await gateway([routed])
  await send('0123', now + 2)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([now, now + 1, now + 2])
})

it('refuses a newer fix from the future while earlier ones are being released', async () => {
  const before = await gateway([routed])
  await before.holding.close()
  const now = Math.floor(Date.now() / 1000)
  const sendBehind = async (time: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: (now - 3600) * 1000 })
    const { refused } = await before.send('0123', time)
    vi.useRealTimers()
    return refused
  }
  expect(await sendBehind(now)).toBe(false)
  await markReleasing(redis, 0, ['0123'])
  await before.send('0123', now + 1)
  expect(await sendBehind(now + 2)).toBe(true)
  const { holding } = await gateway([routed])
  await expect.poll(() => isReleasing('123'), soon).toBe(false)
  expect(await sendBehind(now + 2)).toBe(false)
  holding.rosterChanged(undefined)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([now, now + 1, now + 2])
})

it('keeps fixes in order when the clock is set right while they are being judged', async () => {
  const before = await gateway([routed])
  await before.holding.close()
  const now = Math.floor(Date.now() / 1000)
  vi.useFakeTimers({ toFake: ['Date'], now: (now - 3600) * 1000 })
  await before.send('0123', now)
  vi.useRealTimers()
  await markReleasing(redis, 0, ['0123'])
  await before.send('0123', now + 1)
  expect(await held()).toEqual([
    ['no_route', '0123', 1],
    ['clock', '0123', 1],
  ])
  const read = redis.lrangeBuffer.bind(redis)
  vi.spyOn(redis, 'lrangeBuffer').mockImplementation((async (key: string, from: number, to: number) => {
    if (key.includes('no_route')) vi.useRealTimers()
    return read(key, from, to)
  }) as typeof redis.lrangeBuffer)
  vi.useFakeTimers({ toFake: ['Date'], now: (now - 3600) * 1000 })
  await gateway([routed])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([now, now + 1])
})

it('keeps fixes in order although a release by the wrong clock ends after the clock was set right', async () => {
  const before = await gateway([routed])
  await before.holding.close()
  const now = Math.floor(Date.now() / 1000)
  vi.useFakeTimers({ toFake: ['Date'], now: (now - 3600) * 1000 })
  await before.send('0123', now)
  const ended = Promise.withResolvers<void>()
  for (const name of ['wb_end_releaseBuffer', 'wb_end_releaseWhenFullBuffer']) {
    const commands = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
    const run = commands[name].bind(redis)
    vi.spyOn(commands, name).mockImplementationOnce(async (...args) => {
      vi.useRealTimers()
      // Another gateway notices the change first.
      await markReleasing(redis, 0, ['0123'])
      return run(...args).finally(() => ended.resolve())
    })
  }
  await gateway([routed])
  await ended.promise
  await before.send('0123', now + 1)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([now, now + 1])
})

it('repeats the mark of a release until Redis accepts it', async () => {
  const before = await gateway([routed])
  await before.send('0123', NOW + 3 * 3600)
  await before.holding.close()
  await redis.config('SET', 'min-replicas-to-write', 1)
  const { holding } = await gateway([routed])
  expect(await holding.marking).toBe(false)
  await redis.config('SET', 'min-replicas-to-write', 0)
  await expect.poll(() => holding.marking, soon).toBeUndefined()
})

it('releases fixes from the future when their time has come', async () => {
  const { send } = await gateway([routed])
  const ahead = NOW + 7200
  await send('0123', ahead)
  expect(await held()).toEqual([['clock', '0123', 1]])
  const looksAt = async () => Number(await redis.zscore(keys.heldDevices('clock'), '0123'))
  await expect.poll(looksAt, soon).toBe((ahead - 300) * 1000)
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['Date'], now: (ahead - 300) * 1000 })
  await redis.zadd(keys.heldDevices('clock'), 1, '0123')
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([ahead])
})

const USUAL = { ...VAN, route_id: '1' }
const hold = { ...FILTER, holdsSuspicious: true }
const part = (n = 0) => ({
  held: 'suspicious' as const,
  device: USUAL.id,
  records: packRecords(
    [{ timestamp: NOW - 30 + n, latitude: 52.5, longitude: 13.4, accuracy: 5 }],
    packDevice(USUAL.id),
    Date.now(),
  ),
  isProven: true,
  lookAt: 0,
  rosterVersion: 0,
})

it('holds fixes off the track with suspicious: hold, and stores them in their lane with report', async () => {
  const one = await gateway([USUAL], [], HOLD, {}, hold)
  await one.store(part())
  one.holding.rosterChanged(undefined)
  await expect.poll(() => isReleasing('123'), soon).toBe(false)
  expect(await held()).toEqual([['suspicious', USUAL.id, 1]])
  await one.holding.close()
  await gateway([USUAL])
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual([NOW - 30])
  expect(await held()).toEqual([])
})

it('releases all suspicious fixes to their lane in order', async () => {
  const one = await gateway([USUAL], [], HOLD, { maxFixesConfigured: 8 }, hold)
  for (let n = 0; n < 7; n++) await one.store(part(n))
  await one.store({ ...part(7), isProven: false })
  expect(await releaseSuspicious(redis, new Set(['123', USUAL.id]))).toBe(8)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual(Array.from({ length: 8 }, (_, n) => NOW - 30 + n))
  expect([
    await held(),
    [...(await custodyCounters(redis)).keys()].filter((name) => name.startsWith('discarded')),
  ]).toEqual([[], []])
})

it('loses no suspicious fix that arrives while others are released', async () => {
  const one = await gateway([USUAL], [], HOLD, {}, hold)
  await one.store(part(0))
  await Promise.all([releaseSuspicious(redis, new Set([USUAL.id])), one.store(part(1)), one.store(part(2))])
  await expect.poll(() => waitingIn('7/42/1'), soon).toContain(NOW - 30)
  await expect.poll(() => isReleasing('123'), soon).toBe(false)
  const stayed = (await held()).map(([, , fixes]) => Number(fixes))
  expect((await waitingIn('7/42/1')).length + stayed.reduce((sum, fixes) => sum + fixes, 0)).toBe(3)
})

it('releases suspicious fixes once if two callers do it at the same time', async () => {
  const [one] = [await gateway([USUAL], [], HOLD, {}, hold), await gateway([USUAL], [], HOLD, {}, hold)]
  for (let n = 0; n < 4; n++) await one.store(part(n))
  const counts = await Promise.all([1, 2].map(() => releaseSuspicious(redis, new Set([USUAL.id]))))
  expect(counts[0] + counts[1]).toBe(4)
  await expect.poll(() => waitingIn('7/42/1'), soon).toEqual(Array.from({ length: 4 }, (_, n) => NOW - 30 + n))
})

it('reports suspicious fixes that are discarded after being held too long', async () => {
  const one = await gateway([USUAL], [], { ...HOLD, max_age: 1 }, {}, hold)
  await one.store(part(0))
  await expect.poll(held, soon).toEqual([])
  const found = inEnglish(observations.current()).find(
    ({ code, subject }) => code === 'held_too_long' && subject.device === USUAL.id,
  )
  expect(found?.evidence).toContain('held as suspicious')
})

it('stores fixes again though Redis could not be told of a change that concerns no device', async () => {
  const { configure, holding } = await gateway([routed])
  await redis.config('SET', 'min-replicas-to-write', 1)
  await configure([routed], [], new Set())
  expect(await holding.marking).toBe(false)
  await redis.config('SET', 'min-replicas-to-write', 0)
  await expect.poll(() => holding.marking, soon).toBeUndefined()
})

it('are not discarded by a gateway that starts with a clock that is ahead', async () => {
  const { holding, options, send, storing } = await gateway([VAN])
  await send('0123', NOW)
  await holding.close()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * HOLD.max_age })
  onTestFinished(() => void vi.useRealTimers())
  const clock = new OwnClock(redis, async () => undefined)
  const after = new Holding({ ...storing, redis, appender: options, clock, journal: journalOf(), logger })
  onTestFinished(() => after.close())
  await after.look()
  expect(await held()).toEqual([['no_route', '0123', 1]])
})
