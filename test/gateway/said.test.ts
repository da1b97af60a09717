import type { Said } from '../../protocols/kit/index.ts'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { Arrivals } from '../../src/gateway/arrivals.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { DayBook } from '../../src/gateway/day-book.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { createLogger } from '../../src/observe/log.ts'
import { readRecords } from '../../src/store/device-record.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { beating } from '../support/beat.ts'
import { at, gateway, line, van } from '../support/ingest.ts'
import { journalOf } from '../support/journal.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const NOW = Date.UTC(2026, 10, 28, 17, 42)
const MIN = 60_000
const OFF = { ignition: false }
const ON = { ignition: true }
let redis: Store

withRedis((_, connection) => (redis = connection))

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))
afterEach(() => void vi.useRealTimers())

it('the device record has the values of each fix with its time and arrival, earliest first', async () => {
  const { said, say } = await gateway()
  await say({ device: van.id, fixes: [at(NOW, { said: OFF }), at(NOW - MIN), at(NOW - 2 * MIN, { said: ON })] })
  expect(said).toEqual([
    [van.id, ON, { at: NOW - 2 * MIN, cameAt: NOW }],
    [van.id, OFF, { at: NOW, cameAt: NOW }],
  ])
})

it('the device record has the values of a message without a fix with the time of its arrival', async () => {
  const { said, say } = await gateway()
  await say({ device: van.id, none: 'heartbeat', said: OFF })
  expect(said).toEqual([[van.id, OFF, { at: NOW, cameAt: NOW }]])
})

it.each([
  ['in local time becomes UTC', NOW + 180 * MIN, NOW, '+03:00'],
  ['ahead of our clock becomes that of the arrival', NOW + 30 * MIN, NOW, undefined],
  ['of a clock that was never set becomes that of the arrival', Date.UTC(1980, 0, 6), NOW, undefined],
  ['of a backlog stays its own', NOW - 9 * 1440 * MIN, NOW - 9 * 1440 * MIN, undefined],
])('the time of a value %s', async (_, time, expected, time_zone) => {
  const { said, say } = await gateway({ devices: [{ ...van, time_zone }] })
  await say({ device: van.id, fixes: [at(time, { said: OFF })] })
  expect(said).toEqual([[van.id, OFF, { at: expected, cameAt: NOW }]])
})

it('the device record has the values of filtered and held fixes, too', async () => {
  const { said, say } = await gateway({ devices: [{ ...van, route_id: undefined }], hold: { no_route: true } })
  await say({ device: van.id, fixes: [at(NOW - MIN, { said: OFF }), at(NOW, { valid: false, said: ON })] })
  expect(said.map(([, words]) => words)).toEqual([OFF, ON])
})

it('the device record has no values of unknown or refused devices, nor of fixes that are not stored', async () => {
  const spoken = { fixes: [at(NOW, { said: OFF })], said: OFF }
  const { said, say, state } = await gateway({
    devices: [van, { ...van, id: '9', secret: 'canary' }],
    hold: { unknown: true },
  })
  await say({ device: '12345', ...spoken }, new Conversation('tcp', '127.0.0.1:2'))
  await say({ device: '9', ...spoken }, new Conversation('tcp', '127.0.0.1:3'))
  state.fails = true
  await say({ device: van.id, ...spoken }, new Conversation('tcp', '127.0.0.1:4'))
  expect(said).toEqual([])
})

it('the device records of a relay frame have the values of each device', async () => {
  const { said, say } = await gateway({ devices: [van, { ...van, id: '9' }] })
  await say({ fixes: [at(NOW, { device: van.id, said: OFF }), at(NOW, { device: '9', said: ON })] })
  expect(said.map(([device, words]) => [device, words])).toEqual([
    [van.id, OFF],
    ['9', ON],
  ])
})

it.each([
  ['a lane', {}],
  ['held fixes', { devices: [{ ...van, route_id: undefined }], lines: [line('42', 1, 2)], hold: { no_route: true } }],
])('the records of %s have the same bytes with values beside the positions and without', async (_, setup) => {
  const [saying, silent] = [await gateway(setup), await gateway(setup)]
  const times = [NOW - 2000, NOW - 1000, NOW]
  await saying.say({ device: van.id, fixes: times.map((time) => at(time, { said: { ...OFF, driver: 'canary' } })) })
  await silent.say({ device: van.id, fixes: times.map((time) => at(time)) })
  expect(saying.stored.map(({ parts }) => parts)).toEqual(silent.stored.map(({ parts }) => parts))
  expect(saying.stored).toHaveLength(1)
})

/** Sends fixes that are `lateMs` late, 15 s apart. Returns a function that sends values, and reads the device record. */
async function late(lateMs: number, fixes: number) {
  const heard = new HeardBook(redis)
  onTestFinished(() => heard.close())
  const { say } = await gateway({ journal: journalOf({ heard }) })
  const sendFix = (said: Said, ms = lateMs) => say({ device: van.id, fixes: [at(Date.now() - ms, { said })] })
  for (let n = 0; n < fixes; n++) {
    vi.setSystemTime(NOW + 15_000 * n)
    await sendFix({})
  }
  vi.setSystemTime(NOW + MIN)
  await say({ device: van.id, none: 'heartbeat', said: OFF })
  vi.setSystemTime(NOW + 2 * MIN)
  return async (ms?: number) => {
    await sendFix({ ...ON, alarms: ['sos'] }, ms)
    await heard.close()
    const [record] = await readRecords(redis, [van.id])
    return record?.said
  }
}

it.each([
  ['of a device that is two hours behind', 120, 4],
  ['of a device that is a quarter of an hour behind', 15, 5],
])('the values of a fix %s have the time of its arrival', async (_, min, fixes) => {
  const saidNow = await late(min * MIN, fixes)
  expect(await saidNow()).toEqual({
    ignition: { at: NOW + 2 * MIN, since_at: NOW + 2 * MIN, other_at: NOW + MIN, value: true },
    'alarm:sos': { at: NOW + 2 * MIN, since_at: NOW + 2 * MIN, value: NOW + 2 * MIN },
  })
})

it.each([
  ['of a device that is not known to be behind', 120, 2, 120],
  ['of a device that is not behind by whole quarters of an hour', 127, 4, 127],
  ['that was kept by a device whose clock is right', 0, 4, 120],
  ['that was kept by a device that is behind', 120, 4, 160],
])('the values of a fix %s have the time of the fix', async (_, min, fixes, thenMin) => {
  const saidNow = await late(min * MIN, fixes)
  expect(await saidNow(thenMin * MIN)).toMatchObject({
    ignition: { at: NOW + MIN, value: false },
    'alarm:sos': { at: NOW + (2 - thenMin) * MIN, value: NOW + 2 * MIN },
  })
})

it('a repeated frame of a device that is behind does not change its values', async () => {
  const saidNow = await late(120 * MIN, 4)
  const said = await saidNow()
  vi.setSystemTime(NOW + 4 * MIN)
  expect((await saidNow(122 * MIN))?.ignition).toEqual(said?.ignition)
})

it('the values of a fix after the clock was set right have the time of the fix', async () => {
  const saidNow = await late(120 * MIN, 4)
  await saidNow(0)
  expect((await saidNow(20_000))?.ignition).toMatchObject({ at: NOW + 2 * MIN, value: true })
})

it('values beside a position are stored once, in the device record alone', async () => {
  const heard = new HeardBook(redis)
  const days = new DayBook(redis, { zone: 'UTC', capacity: { isScarce: false }, heard })
  const logger = createLogger('test', { level: 'fatal', format: 'json' })
  const replica = { roster: await createDirectory([van], []) }
  const arrivals = beating(new Arrivals({ redis, maxDevices: 9, replica, logger }), (each) => each.write())
  onTestFinished(async () => void (await Promise.all([heard.close(), days.close(), arrivals.close()])))
  const { say } = await gateway({ journal: journalOf({ heard, days, arrivals }), hold: { unknown: true } })
  const said = { ...OFF, driver: 'canary' }
  await say({ device: van.id, fixes: [at(NOW, { said }), at(NOW, { said, valid: false })], said })
  await say({ device: '12345', fixes: [at(NOW, { said })] }, new Conversation('tcp', '127.0.0.1:2'))
  await Promise.all([heard.close(), days.close(), arrivals.close()])
  const everything = await Promise.all(
    (await redis.keys('*')).map(async (key) => [key, await redis.dump(key)] as const),
  )
  expect(everything.length).toBeGreaterThan(3)
  const having = everything.filter(([, dump]) => dump?.includes('canary')).map(([key]) => key)
  expect(having).toEqual([keys.devices])
  const [record] = await readRecords(redis, [van.id])
  expect(JSON.stringify(record).split('canary')).toHaveLength(2)
  expect(record?.said?.ignition).toEqual({ at: NOW, since_at: NOW, value: false })
})
