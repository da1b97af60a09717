import { describe, expect, it } from 'vitest'
import type { Said } from '../../protocols/kit/index.ts'
import { type DeviceRecord, readRecords, recordOf, writeRecords } from '../../src/store/device-record.ts'
import type { Store } from '../../src/store/index.ts'
import { alarmsIn, mergedSaid, partsOf, type SaidParts, type SaidTimes, saidFrom } from '../../src/store/said.ts'
import { withRedis } from '../support/with-redis.ts'

const VAN = '356307042441013'
const OTHER = '356307042441021'
const NOW = Date.now() - 60_000
let redis: Store

withRedis((_, connection) => (redis = connection))

/** What a tracker says so many seconds after `NOW`; it comes two seconds later. */
function at(seconds: number, said: Said): SaidParts {
  const time = NOW + 1000 * seconds
  return partsOf(said, { at: time, cameAt: time + 2000 } satisfies SaidTimes)
}

const on = (seconds: number) => at(seconds, { ignition: true })
const off = (seconds: number) => at(seconds, { ignition: false })

/** One value with its times, as seconds after `NOW`. */
function shown({ ignition }: SaidParts) {
  if (!ignition) return undefined
  const { at: lastAt, since_at = 0, value } = ignition
  return { value, since: (since_at - NOW) / 1000, at: (lastAt - NOW) / 1000 }
}

/** How several pieces of news come together. */
const WAYS: Readonly<Record<string, (news: readonly SaidParts[]) => Promise<SaidParts>>> = {
  'in the memory of a gateway': async (news) => news.reduce(mergedSaid),
  'in the record, one after the other': async (news) => {
    for (const said of news) await write(said)
    return (await recordOfVan())?.said ?? {}
  },
  'in the record, written in two parts': async ([first, ...others]) => {
    await write(first)
    if (others.length > 0) await write(others.reduce(mergedSaid))
    return (await recordOfVan())?.said ?? {}
  },
}

async function write(said?: SaidParts, more: Partial<DeviceRecord> = {}): Promise<void> {
  const contact = { at: NOW, transport: 'tcp', remote: '10.1.2.3:4000', gateway: 'one' } as const
  await writeRecords(redis.shardOf(VAN), [{ device: VAN, contact, said, ...more }])
}

async function recordOfVan(): Promise<DeviceRecord | undefined> {
  return (await readRecords(redis.shardOf(VAN), [VAN]))[0]
}

describe.each(Object.keys(WAYS))('values of a tracker, merged %s', (way) => {
  const merge = WAYS[way]

  it.each<[string, readonly SaidParts[], ReturnType<typeof shown>]>([
    ['a value lasts since it was said first', [off(0), off(10), off(20)], { value: false, since: 0, at: 20 }],
    ['a value begins anew after another value', [on(0), off(10), off(20)], { value: false, since: 10, at: 20 }],
    [
      'a value begins anew if another value was in between',
      [off(0), on(10), off(20)],
      { value: false, since: 20, at: 20 },
    ],
    ['a backlog does not overwrite a newer value', [on(20), off(0), off(10)], { value: true, since: 20, at: 20 }],
    [
      'a value lasts on although a backlog with another value comes with it',
      [on(0), on(20), off(-90), on(30)],
      { value: true, since: 0, at: 30 },
    ],
    ['the last of several values of one time stays', [on(0), off(0)], { value: false, since: 0, at: 0 }],
  ])('%s', async (_, news, expected) => expect(shown(await merge(news))).toEqual(expected))

  it.each<[string, readonly SaidParts[], number | undefined]>([
    ['no time of another value if there was none', [off(0), off(10)], undefined],
    ['when another value was said last', [on(0), on(5), off(10)], 5],
    ['when another value was said last, while it lasts', [on(0), off(10), off(20), off(30)], 0],
    ['when another value was said last, of several', [on(0), off(10), on(20), off(30), off(40)], 20],
  ])('a value notes %s', async (_, news, expected) => {
    const { ignition } = await merge(news)
    expect(ignition.other_at).toBe(expected === undefined ? undefined : NOW + 1000 * expected)
  })

  it('an alarm in a frame that is sent again keeps the time at which it came first', async () => {
    const said = await merge([raised(NOW, NOW + 1000), raised(NOW, NOW + 30_000), raised(NOW, NOW + 40_000)])
    expect(alarmsIn(said)).toEqual([{ alarm: 'sos', at: NOW, sinceAt: NOW, cameAt: NOW + 1000 }])
    expect(alarmsIn(await merge([said, raised(NOW + 1, NOW + 50_000)]))).toMatchObject([{ cameAt: NOW + 50_000 }])
  })

  it.each<[string, readonly number[], number]>([
    ['is repeated within ten minutes', [-3000, -2401, -1802], -3000],
    ['is raised again after ten minutes', [-3000, -2400], -2400],
    ['is raised again and then repeated', [-3000, -2400, -2390, -2380], -2400],
    ['comes late', [-600, -3000], -600],
  ])('dates an alarm that %s from its first time', async (_, seconds, since) => {
    const [sos] = alarmsIn(await merge(seconds.map((each) => at(each, { alarms: ['sos'] }))))
    expect((sos.sinceAt - NOW) / 1000).toBe(since)
    expect((sos.at - NOW) / 1000).toBe(Math.max(...seconds))
  })

  it('a device keeps each value that a later frame does not have', async () => {
    const said = await merge([
      at(0, { ignition: true, driver: '0001A2' }),
      at(10, { external_voltage: 12.4, alarms: ['power_cut', 'sos'] }),
      at(20, { external_voltage: 12.4, battery_percent: 80 }),
      at(30, { alarms: ['sos'] }),
    ])
    expect(said).toEqual({
      ignition: { at: NOW, since_at: NOW, value: true },
      driver: { at: NOW, since_at: NOW, value: '0001A2' },
      external_voltage: { at: NOW + 20_000, value: 12.4 },
      battery_percent: { at: NOW + 20_000, value: 80 },
      'alarm:power_cut': { at: NOW + 10_000, since_at: NOW + 10_000, value: NOW + 12_000 },
      'alarm:sos': { at: NOW + 30_000, since_at: NOW + 10_000, value: NOW + 32_000 },
    })
    expect(alarmsIn(said).map(({ alarm, at: raisedAt }) => [alarm, raisedAt - NOW])).toEqual([
      ['sos', 30_000],
      ['power_cut', 10_000],
    ])
  })
})

const fix = { time: NOW, latitude: 52.5, longitude: 13.4, valid: true }
const filtered = { at: NOW, reason: 'invalid', fix }

it('a device record keeps its values when other parts are written, and the other way round', async () => {
  await write(at(0, { ignition: false }), { fix: { at: NOW, fix } })
  await write(undefined, { filtered })
  await write(undefined, { usualMs: 3_600_000 })
  await write(undefined, { fix: { at: NOW + 1, fix } })
  const { said = {}, ...rest } = (await recordOfVan()) ?? {}
  expect(rest).toMatchObject({ fix: { at: NOW + 1 }, filtered: { reason: 'invalid' }, usualMs: 3_600_000 })
  expect(shown(said)).toEqual({ value: false, since: 0, at: 0 })
})

it('a device record without values has the same bytes as before', async () => {
  await write(undefined, { fix: { at: NOW, fix } })
  const shard = redis.shardOf(VAN)
  expect((await shard.hget(shard.keyNames.devices, VAN))?.split('\n')).toHaveLength(4)
})

it('a device record has the later value of two gateways that write at once', async () => {
  const news = Array.from({ length: 40 }, (_, n) => at(n, { ignition: n < 30, battery_percent: n }))
  const shuffled = news.toSorted((one, other) => ((one.ignition.at * 7919) % 41) - ((other.ignition.at * 7919) % 41))
  await Promise.all(shuffled.map((said) => write(said)))
  const { said = {} } = (await recordOfVan()) ?? {}
  expect(said.ignition).toMatchObject({ value: false, at: NOW + 39_000 })
  expect(said.battery_percent).toEqual({ at: NOW + 39_000, value: 39 })
})

it('a device record has the first arrival of an alarm that several gateways write at once', async () => {
  const sos = (cameAt: number) => write(partsOf({ alarms: ['sos'] }, { at: NOW, cameAt }))
  await sos(NOW + 1000)
  await Promise.all(Array.from({ length: 20 }, (_, n) => sos(NOW + 2000 + n)))
  expect(alarmsIn((await recordOfVan())?.said ?? {})).toMatchObject([{ at: NOW, cameAt: NOW + 1000 }])
})

it('a device record has one beginning of an alarm that two gateways repeat at once', async () => {
  const seconds = Array.from({ length: 40 }, (_, n) => ((n * 7) % 40) - 1300)
  await Promise.all(seconds.map((each) => write(sosAt(each))))
  const { sinceAt, at: lastAt } = await knownAlarm()
  expect(lastAt).toBe(NOW - 1_261_000)
  expect(sinceAt).toBeLessThanOrEqual(lastAt)
  await Promise.all([write(sosAt(-1290)), write(sosAt(-1000))])
  expect(await knownAlarm()).toMatchObject({ at: NOW - 1_000_000, sinceAt })
  await Promise.all([write(sosAt(-1290)), write(sosAt(-400))])
  expect(await knownAlarm()).toMatchObject({ at: NOW - 400_000, sinceAt: NOW - 400_000 })
})

it('a device record follows the next value after one of a gateway whose clock is ahead', async () => {
  await write(at(86_400, { ignition: true }))
  await write(at(1, { ignition: true }))
  const { said = {} } = (await recordOfVan()) ?? {}
  expect(shown(said)).toEqual({ value: true, since: 1, at: 1 })
})

it.each<[string, string]>([
  ['half a character', 'card \ud83d'],
  ['more characters than are kept, an emoji at the limit', 'x'.repeat(63) + '\u{1f600}y'],
])('a device record is written again after a driver of %s', async (_, driver) => {
  await write(at(0, { ignition: true, driver }))
  await write(at(10, { ignition: false, driver }))
  const { said = {} } = (await recordOfVan()) ?? {}
  expect(shown(said)).toEqual({ value: false, since: 10, at: 10 })
  expect(said.driver).toMatchObject({ since_at: NOW, value: driver.slice(0, 64).toWellFormed() })
})

it.each<[string, (record: string) => string]>([
  ['its values cannot be read', (record) => record.replace('0001A2', '\\ud83d')],
  ['nothing of it can be read', () => 'not\na record'],
])('a device record is replaced if %s, and those of other devices are still written', async (_, damage) => {
  const shard = redis.shardOf(VAN)
  await write(at(0, { driver: '0001A2' }))
  await shard.hset(shard.keyNames.devices, VAN, damage((await shard.hget(shard.keyNames.devices, VAN)) ?? ''))
  const contact = { at: NOW, transport: 'tcp', remote: '10.1.2.3:4001', gateway: 'one' } as const
  const said = at(10, { ignition: true })
  await writeRecords(
    shard,
    [VAN, OTHER].map((device) => ({ device, contact, said })),
  )
  expect(await readRecords(shard, [VAN, OTHER])).toEqual([
    { ...contact, said },
    { ...contact, said },
  ])
})

it('a device record shows a company nothing from before it had the device', async () => {
  const said = mergedSaid(at(0, { ignition: false, driver: '0001A2' }), at(30, { ignition: false }))
  await write(said)
  const record = (await recordOfVan()) as DeviceRecord
  expect(recordOf({ companySince: NOW + 10_000 }, { ...record, at: NOW + 30_000 })?.said).toEqual({
    ignition: { at: NOW + 30_000, since_at: NOW + 10_000, value: false },
  })
  expect(saidFrom(said, NOW)).toEqual(said)
})

function raised(raisedAt: number, cameAt: number) {
  return partsOf({ alarms: ['sos'] }, { at: raisedAt, cameAt })
}

function sosAt(seconds: number) {
  return at(seconds, { alarms: ['sos'] })
}

async function knownAlarm() {
  return alarmsIn((await recordOfVan())?.said ?? {})[0]
}
