import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { Fix } from '../../protocols/kit/index.ts'
import { factsOf } from '../../src/admin/device/condition.ts'
import { DeviceIndex } from '../../src/admin/device/device-index.ts'
import { conditionOf } from '../../src/diagnose/devices.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import type { RosterFollower } from '../../src/roster/replica.ts'
import type { Roster } from '../../src/roster/roster.ts'
import { forgetDevice, keys, type Store } from '../../src/store/index.ts'
import { hold } from '../support/admin.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const S = 1000
const MIN = 60 * S
const H = 60 * MIN
const DAY = 24 * H
const NOW = Date.now()
let redis: Store
let roster: Roster
let tell: RosterFollower = () => {}

withRedis((_, connection) => (redis = connection))
beforeEach(async () => {
  roster = await createDirectory([{ id: '1', name: 'Van 1', company_id: '7', source: 'devices.yaml:1' }], [])
})

function openIndex(): DeviceIndex {
  const index = new DeviceIndex({ redis, directory: () => roster, follow: (changed) => (tell = changed) })
  return index
}

interface Message {
  readonly at: number
  readonly fix?: Partial<Fix>
  readonly filtered?: string
  /** The fix is a duplicate. */
  readonly again?: 'duplicate'
  readonly ignition?: boolean
  /** It has no fix. */
  readonly isHeartbeat?: boolean
}

/** Sends messages of the device, each written before the next one. */
async function hear(device: string, ...messages: readonly Message[]): Promise<void> {
  for (const { again, at, fix, filtered, ignition, isHeartbeat } of messages) {
    const book = new HeardBook(redis)
    book.of(device).spoke(Object.assign(new Conversation('udp', '10.1.2.3:40001'), { device, now: at }), 'teltonika')
    const whole = { time: at, latitude: 52.5, longitude: 13.4, valid: true, ...fix }
    const reason = filtered ?? again
    book.of(device).stored({
      ...(filtered === undefined && !isHeartbeat && { fix: { at, fix: whole } }),
      ...(reason !== undefined && { filtered: { at, reason, fix: whole } }),
    })
    if (ignition !== undefined) book.of(device).said({ ignition }, { at, cameAt: at })
    await book.close()
  }
}

function facts(index: DeviceIndex, id: string, now = NOW) {
  const device = index.find(id)
  if (!device) throw new Error(`no device ${id}`)
  return factsOf(device, { index, roster, now })
}

const ids = (index: DeviceIndex) => index.inOrder.map(({ id }) => id)

const every = (ms: number, count: number, from = NOW - 100_000 * S) =>
  Array.from({ length: count }, (_, n) => ({ at: from + n * ms }))

const late = (ms: number, count = 6, step = 10 * S) =>
  Array.from({ length: count }, (_, n) => ({ at: NOW + n * step, fix: { time: NOW + n * step - ms } }))

async function usual(messages: readonly Message[]): Promise<number | undefined> {
  const index = openIndex()
  for (const message of messages) {
    await hear('1', message)
    await index.catchUp()
  }
  return facts(index, '1').usualMs
}

/** Returns the facts of a device after these messages; `restart`: a last one, to an index that starts after them. */
async function heardOf(messages: readonly Message[], restart?: Message) {
  const index = openIndex()
  for (const message of messages) {
    await hear('1', message)
    await index.catchUp()
  }
  if (!restart) return facts(index, '1')
  const another = openIndex()
  await another.catchUp()
  await hear('1', restart)
  await another.catchUp()
  return facts(another, '1')
}

/** Returns the condition of a device on a route at its last message. */
async function conditionAfter(messages: readonly Message[]) {
  const last = await heardOf(messages)
  return conditionOf({ ...last, route: { courier: '1', route: '1' } }, last.heardAt ?? 0)
}

/** Returns the messages of a van on one day: it drives, sleeps for the given hours, and drives again. */
function day(daysAgo: number, ...hours: readonly number[]): Message[] {
  let at = Math.floor(NOW / DAY) * DAY - daysAgo * DAY
  const drives = () => [10, 20].map((s) => ({ at: (at += s * S), ignition: true }))
  return [
    ...drives(),
    ...hours.flatMap((h) => [{ at: (at += 10 * S), ignition: false }, { at: (at += h * H) }]),
    ...drives(),
  ]
}

async function behind(messages: readonly Message[], time_zone?: string) {
  roster = await createDirectory([{ id: '1', company_id: '7', source: 'devices.yaml:1', time_zone }], [])
  const index = openIndex()
  for (const message of messages) {
    await hear('1', message)
    await index.catchUp()
  }
  return facts(index, '1').behind
}

it('the index of devices has what was heard before it started, and learns every change when it catches up', async () => {
  await hear('2', { at: NOW - 20 * S })
  const index = openIndex()
  await index.catchUp()
  expect(ids(index)).toEqual(['1', '2'])
  expect(facts(index, '1').heardAt).toBeUndefined()
  await hear('1', { at: NOW - 10 * S, fix: { speed: 3 } })
  await hold(redis, 'unknown', '3')
  await index.catchUp()
  expect(ids(index)).toEqual(['1', '2', '3'])
  expect(facts(index, '1')).toMatchObject({ heardAt: NOW - 10 * S, fix: { speed: 3 } })
  expect(facts(index, '3')).toMatchObject({ company: undefined, isHeldUnknown: true })
})

it('the index of devices follows the roster', async () => {
  const index = openIndex()
  await index.catchUp()
  roster.apply({
    devices: [
      ['2', { id: '02', name: 'A', company_id: '7', source: 'devices.yaml:2' }],
      ['1', undefined],
    ],
  })
  tell(new Set(['1', '2']))
  await index.catchUp()
  expect(ids(index)).toEqual(['02'])
  await hear('2', { at: NOW })
  await hear('02', { at: NOW - S })
  await index.catchUp()
  // Only data under its own id belong to the device.
  expect(facts(index, '2').heardAt).toBe(NOW - S)
})

it('the index of devices reads everything again after Redis was emptied', async () => {
  const index = openIndex()
  await hear('2', { at: NOW })
  await index.catchUp()
  await redis.flushall()
  await hear('3', { at: NOW })
  await index.catchUp()
  expect(ids(index)).toEqual(['1', '3'])
})

it('the index of devices drops the data of a deleted device', async () => {
  const index = openIndex()
  await hear('1', { at: NOW })
  await hear('2', { at: NOW })
  await index.catchUp()
  await forgetDevice(redis, new Set(['1']))
  await forgetDevice(redis, new Set(['2']))
  await index.catchUp()
  expect(ids(index)).toEqual(['1'])
  expect(facts(index, '1').heardAt).toBeUndefined()
})

it('the index of devices reads everything if the recorded changes are no longer complete', async () => {
  const index = openIndex()
  await hear('2', { at: NOW })
  await index.catchUp()
  await hear('3', { at: NOW })
  await hear('4', { at: NOW })
  await redis.xtrim(keys.heardChanges, 'MAXLEN', 1)
  await index.catchUp()
  expect(ids(index)).toEqual(['1', '2', '3', '4'])
  await redis.hset(keys.devices, '5', (await redis.hget(keys.devices, '4')) ?? '')
  await redis.del(keys.heardChanges)
  await index.catchUp()
  expect(ids(index)).toEqual(['1', '2', '3', '4', '5'])
})

it('the index of devices costs Redis the same few commands for any number of devices', async () => {
  // Stops the timers by which an index catches up once a second.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1])
  const cost = async (index: DeviceIndex) => {
    await index.catchUp()
    // The index has caught up once: a second INFO then counts only the first INFO.
    await expect.poll(async () => (await commands()) - (await commands())).toBe(-1)
    const before = await commands()
    await index.catchUp()
    return (await commands()) - before
  }
  const index = openIndex()
  await hear('2', { at: NOW })
  const one = await cost(index)
  const contact = (await redis.hget(keys.devices, '2')) ?? ''
  await redis.hset(keys.devices, ...Array.from({ length: 5000 }, (_, n) => [String(1000 + n), contact]).flat())
  const many = openIndex()
  await many.catchUp()
  expect(many.inOrder).toHaveLength(5002)
  expect(await cost(many)).toBe(one)
})

it('the usual interval of a device is the second longest of its last intervals between two messages', async () => {
  const drives = every(10 * S, 5)
  const stands = every(600 * S, 3, drives[4].at + 600 * S)
  expect(await usual([...drives, ...stands])).toBe(600 * S)
  await redis.flushall()
  expect(await usual(drives)).toBe(10 * S)
})

it('the usual interval of a device is still known after a restart if it is long', async () => {
  await usual(every(3600 * S, 5))
  const index = openIndex()
  await index.catchUp()
  await hear('1', { at: NOW })
  await index.catchUp()
  expect(facts(index, '1').usualMs).toBe(3600 * S)
})

it('the usual interval of a device is at least the interval of its entry', async () => {
  const device = { id: '1', company_id: '7', source: 'devices.yaml:1', settings: { interval: '2h' } }
  roster = await createDirectory([device], [])
  expect(await usual(every(10 * S, 5))).toBe(7200 * S)
})

it('the usual sleeping interval is at least six hours until a device has slept on three days', async () => {
  expect((await heardOf(day(3))).sleepMs).toBeUndefined()
  expect((await heardOf([...day(3, 1), ...day(2, 2)])).sleepMs).toBe(6 * H)
  await redis.flushall()
  expect((await heardOf([...day(3, 1), ...day(2, 9)])).sleepMs).toBe(9 * H)
})

it('the usual sleeping interval is the second longest of the longest sleeps of the last days', async () => {
  const stops = Array.from({ length: 12 }, () => 0.2)
  const known = await heardOf([...day(5, 1), ...day(4, 1, 1), ...day(3, 9), ...day(2, 2), ...day(1, ...stops)])
  expect(known).toMatchObject({ sleepMs: 2 * H, usualMs: 10 * S })
})

it('the usual sleeping interval is still known after a restart', async () => {
  const slept = [...day(4, 1), ...day(3, 1), ...day(2, 1)]
  expect((await heardOf(slept, { at: NOW, ignition: true })).sleepMs).toBe(H)
})

it('the usual sleeping interval is not learnt with the ignition on or unknown, or from more than 26 hours', async () => {
  const said = (ignition?: boolean) =>
    [5, 4, 3, 2].map((days) => ({ at: NOW - days * DAY, ignition })).concat({ at: NOW - 2 * DAY + H, ignition })
  expect(await heardOf(said(true))).toMatchObject({ sleepMs: undefined, usualMs: DAY })
  await redis.flushall()
  expect(await heardOf(said())).toMatchObject({ sleepMs: undefined, usualMs: DAY })
  await redis.flushall()
  const long = [8, 6, 4, 2].map((days) => ({ at: NOW - days * DAY, ignition: false }))
  expect(await heardOf([{ at: NOW - 8 * DAY - S, ignition: true }, ...long])).toMatchObject({
    sleepMs: undefined,
    usualMs: 0,
  })
})

it.each([
  ['never says that its ignition is on', [], { speed: 15 }],
  ['says that its ignition is off, and moves', [{ at: NOW - 6000 * S, ignition: true }], { speed: 15 }],
  ['says that its ignition is off, and comes to be elsewhere', [{ at: NOW - 6000 * S, ignition: true }], { speed: 0 }],
])(
  'the usual sleeping interval is not learnt from a van that %s: it sends every ten minutes',
  async (_, before, { speed }) => {
    const drive = [0, 1, 2, 3, 4, 5].map((n) => {
      return { at: NOW + (n - 9) * 600 * S, ignition: false, fix: { latitude: 52 + 0.08 * n, speed } }
    })
    expect(await heardOf([...before, ...drive])).toMatchObject({ sleepMs: undefined, usualMs: 600 * S })
  },
)

it('the usual sleeping interval is learnt from a van that wakes up some metres from where it slept', async () => {
  const nights = [4, 3, 2].flatMap((daysAgo) => {
    return day(daysAgo, 9).map((message, n) => ({ ...message, fix: { latitude: 52.5 + 0.001 * n, speed: 0 } }))
  })
  expect((await heardOf(nights)).sleepMs).toBe(9 * H)
})

it('the usual sleeping interval is the interval of the entry', async () => {
  const device = { id: '1', company_id: '7', source: 'devices.yaml:1', settings: { interval: '2h' } }
  roster = await createDirectory([device], [])
  expect((await heardOf(day(3, 9))).sleepMs).toBe(2 * H)
})

const sent = (stepMs: number, again?: 'duplicate') =>
  Array.from({ length: 10 }, (_, n) => ({ at: NOW + n * 60 * S, fix: { time: NOW - H + n * stepMs }, again }))

it.each([60 * S, -60 * S])(
  'a device that delivers its backlog has new positions, each later by %i ms',
  async (stepMs) => expect(await conditionAfter(sent(stepMs))).toBe('standing'),
)

it.each([
  ['the same one', sent(0)],
  ['known ones', sent(-60 * S, 'duplicate')],
])('a device has no new position if it sends %s again and again', async (_, messages) =>
  expect(await conditionAfter(messages)).toBe('gps_old'),
)

it.each([
  [5 * 3_600_000 + 3 * S, undefined, '-05:00'],
  [3.5 * 3_600_000, undefined, '-03:30'],
  [3 * 3_600_000, '+03:00', '+00:00'],
  [3_600_000, '+03:00', '+02:00'],
])('a device whose times are late by %i ms with the zone %s has the zone %s', async (ms, configured, zone) =>
  expect(await behind(late(ms), configured)).toMatchObject({ ms: Math.round(ms / 900_000) * 900_000, zone }),
)

it('times of a live device or of a delivered backlog are not late', async () => {
  expect(await behind(late(3 * S))).toBeUndefined()
  expect(await behind(late(7 * 60 * S))).toBeUndefined()
  const backlog = Array.from({ length: 8 }, (_, n) => ({
    at: NOW + n * 10 * S,
    fix: { time: NOW - 3_600_000 + n * 300 * S },
  }))
  expect(await behind(backlog)).toBeUndefined()
})

it.each([
  ['a year, of which nothing is taken', 365 * DAY + 7 * 60 * S, 'past'],
  ['three weeks and some minutes', 21 * DAY + 7 * 60 * S, undefined],
])('a device whose times are late by %s has a wrong clock after two minutes', async (_, ms, filtered) => {
  const sending = (from: number, stepMs: number) =>
    Array.from({ length: 8 }, (_each, n) => ({
      at: NOW + n * 20 * S,
      fix: { time: NOW - ms + from + n * stepMs + (n % 2) * S },
      filtered,
    }))
  expect(await behind(sending(0, 20 * S).slice(0, 6))).toBeUndefined()
  expect(await behind(sending(0, 20 * S))).toMatchObject({ ms, zone: undefined })
  // A backlog is sent faster than it was recorded.
  expect(await behind(sending(0, 30 * S))).toBeUndefined()
})

it('times of a backlog that is sent as fast as it was recorded are not late', async () => {
  const right = { at: NOW - 20 * H, fix: { time: NOW - 20 * H } }
  const kept = Array.from({ length: 30 }, (_, n) => ({
    at: NOW + n * 20 * S,
    fix: { time: NOW - 20 * H + 7 * 60 * S + n * 21 * S },
  }))
  expect(await behind([right, ...kept])).toBeUndefined()
  const earlier = kept.map(({ at, fix }) => ({ at, fix: { time: fix.time - H } }))
  expect(await behind([right, ...earlier.slice(0, 10)])).toMatchObject({ zone: undefined })
  const inTime = { at: NOW + H, fix: { time: NOW + H } }
  const behindThen = late(7_200_000).map(({ at, fix }) => ({ at: at + 4 * H, fix: { time: fix.time + 4 * H } }))
  expect(await behind([right, ...kept, inTime, ...behindThen])).toMatchObject({ ms: 7_200_000 })
})

it('a device is noticed as late if its clock was right before', async () => {
  const right = { at: NOW - 10 * S, fix: { time: NOW - 10 * S } }
  expect(await behind([right, ...late(7_200_000)])).toMatchObject({ ms: 7_200_000 })
})

it('a device is no longer late after its first fix in time', async () =>
  expect(await behind([...late(3_600_000), { at: NOW + 70 * S }])).toBeUndefined())

it.each([
  ['standing', 'it stood at the last', 0, H],
  ['gps_old', 'it stood at the last, and may have slept for so long', 0, 13 * H],
  ['gps_old', 'it moved at the last', 9, H],
])('a device that sends heartbeats alone after its positions is %s if %s', async (condition, _, speed, forMs) => {
  const before = every(10 * S, 4, NOW - DAY).map((each) => ({ ...each, fix: { speed } }))
  const again = {
    ...before[3],
    at: before[3].at + 10 * S,
    again: 'duplicate' as const,
    fix: { time: before[3].at, speed },
  }
  const beats = every(4 * MIN, forMs / (4 * MIN), again.at + MIN).map((each) => ({ ...each, isHeartbeat: true }))
  expect(await conditionAfter([...before, again, ...beats])).toBe(condition)
})

it('a device that is heard again without satellites has no old position until it has sent for five minutes', async () => {
  const before = every(10 * S, 4, NOW - 3 * H)
  const woken = every(10 * S, 40, NOW - H).map(({ at }) => ({ at, filtered: 'invalid' }))
  expect(await conditionAfter([...before, woken[0]])).not.toBe('gps_old')
  expect(await conditionAfter([...before, ...woken])).toBe('gps_old')
})
