import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { DeviceIndex } from '../../src/admin/device/device-index.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { rememberHeard } from '../../src/gateway/guesses.ts'
import {
  type DeviceNews,
  type DeviceRecord,
  forgetRecord,
  readEvents,
  readRecords,
  recordedDevices,
  writeRecords,
} from '../../src/store/device-record.ts'
import type { Store } from '../../src/store/index.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'
import { beatingHeardBook } from '../support/beat.ts'

/** A van in each of the three shards. */
const [HOME_VAN, VAN, OTHER_VAN] = ['1', '3', '7']
const NOW = Date.now()
const HELD = `{"at":${NOW},"event":"held","reason":"no_route"}`
const soon = { timeout: 30_000 }
let redis: Store

withRedis((_, connection) => (redis = connection), 3)

/** What a gateway has of a message that came so many ms after `NOW`. */
function message(gateway: string, afterMs: number, connectedAt?: number): DeviceNews & Pick<DeviceRecord, 'fix'> {
  const at = NOW - 60_000 + afterMs
  const fix = { time: at, latitude: 52.5, longitude: 13.4, valid: true }
  const contact = { at, transport: 'tcp', remote: '10.1.2.3:4000', connectedAt, gateway } as const
  return { device: VAN, contact, fix: { at, fix } }
}

async function write(...news: readonly Partial<DeviceNews>[]): Promise<void> {
  for (const each of news) await writeRecords(redis.shardOf(VAN), [{ device: VAN, ...each }])
}

async function recordOfVan(device = VAN): Promise<DeviceRecord | undefined> {
  return (await readRecords(redis.shardOf(device), [device]))[0]
}

async function hear(afterMs: number, ...indexes: readonly DeviceIndex[]): Promise<void> {
  await write(message('one', afterMs))
  for (const index of indexes) await index.catchUp()
}

async function openIndex(): Promise<DeviceIndex> {
  const roster = await createDirectory([], [])
  const index = new DeviceIndex({ redis, directory: () => roster, follow: () => {} })
  return index
}

it('a device record has the later contact of two gateways, in whichever order they write', async () => {
  const [before, after] = [message('one', 0), message('other', 1000, NOW - 59_500)]
  await write(after, { contact: before.contact })
  expect(await recordOfVan()).toEqual({ ...after.contact, fix: after.fix })
  await redis.flushall()
  await write(before, { contact: after.contact })
  expect(await recordOfVan()).toEqual({ ...after.contact, fix: before.fix })
})

it('a device record keeps each part that a later message does not have', async () => {
  const first = message('one', 0)
  const filtered = { reason: 'invalid', at: NOW - 59_000, fix: first.fix!.fix }
  await write(first, { filtered }, { usualMs: 3_600_000 }, { contact: message('one', 2000).contact })
  expect(await recordOfVan()).toEqual({
    ...message('one', 2000).contact,
    fix: first.fix,
    filtered,
    usualMs: 3_600_000,
  })
})

it('a device record follows the next message after one of a gateway whose clock is ahead', async () => {
  await write(message('ahead', 3_600_000), message('one', 0))
  expect(await recordOfVan()).toMatchObject({ gateway: 'one', fix: message('one', 0).fix })
})

it('a device record has the later fix of two gateways, even if a message without one came after it', async () => {
  const [earlier, later] = [message('one', 200), message('other', 900)]
  await write(later, { contact: message('one', 1000).contact, fix: earlier.fix })
  expect(await recordOfVan()).toMatchObject({ at: NOW - 59_000, fix: later.fix })
})

it('a device record follows the next message after one of a gateway whose clock stood in 1970', async () => {
  const { contact, fix } = message('one', 0)
  const { contact: early } = message('early', 0)
  if (early) await write({ contact: { ...early, at: 200_000 } }, { contact, fix })
  expect(await recordOfVan()).toMatchObject({ gateway: 'one', fix })
})

it('a device record replaces the contact that an older version stored', async () => {
  const { contact, fix } = message('one', 0)
  const shard = redis.shardOf(VAN)
  await shard.hset(shard.keyNames.devices, VAN, JSON.stringify(contact))
  await write({ fix }, { usualMs: 7_200_000 })
  expect(await recordOfVan()).toEqual({ ...contact, fix, usualMs: 7_200_000 })
})

it('a device record is in the shard of its device, with its events', async () => {
  await write({ ...message('one', 0), events: [HELD] })
  const devices = await Promise.all(redis.shards.map((shard) => Array.fromAsync(recordedDevices(shard))))
  expect(devices.map((slices) => slices.flat())).toEqual([[], [VAN], []])
  const shard = redis.shardOf(VAN)
  expect(await shard.lrange(shard.keyNames.eventsPrefix + VAN, 0, -1)).toEqual([HELD])
})

it('two admin processes that know different intervals of a device do not overwrite each other', async () => {
  const HOUR = 3_600_000
  const older = await openIndex()
  for (let hours = 24; hours > 0; hours -= 4) await hear(-hours * HOUR, older)
  const newer = await openIndex()
  await newer.catchUp()
  for (let n = 0; n < 5; n++) await hear(n * 10_000, older, newer)
  expect([older, newer].map((index) => index.find(VAN)?.learnt.usualMs)).toEqual([4 * HOUR, 10_000])
  const shard = redis.shardOf(VAN)
  const written = await shard.xlen(shard.keyNames.heardChanges)
  for (let n = 0; n < 3; n++) for (const index of [older, newer]) await index.catchUp()
  expect(await shard.xlen(shard.keyNames.heardChanges)).toBe(written)
})

it('forgets a device without a trace, however many gateways write meanwhile', async () => {
  const index = await openIndex()
  const writes = Array.from({ length: 50 }, (_, n) => write({ ...message(`${n % 2}`, n), events: [HELD] }))
  const deleted = await Promise.all([...writes, forgetRecord(redis, VAN)])
  expect(deleted.at(-1)).toBe(2)
  await index.catchUp()
  expect(index.find(VAN)?.heard).toEqual(await recordOfVan())
  await forgetRecord(redis, VAN)
  await index.catchUp()
  expect([index.find(VAN), await recordOfVan(), await readEvents(redis, VAN)]).toEqual([undefined, undefined, []])
})

it('forgets a device while the memory of Redis is full', async () => {
  await write({ ...message('one', 0), events: [HELD] })
  await redis.config('SET', 'maxmemory', '1')
  onTestFinished(async () => void (await redis.config('SET', 'maxmemory', '0')))
  await expect(write(message('one', 1000))).rejects.toThrow('OOM')
  expect([await forgetRecord(redis, VAN), await recordOfVan()]).toEqual([2, undefined])
})

it('a forgotten device does not come back by an interval that was learnt before', async () => {
  await write(message('one', 0))
  await Promise.all([forgetRecord(redis, VAN), write({ usualMs: 3_600_000 })])
  expect(await recordOfVan()).toBeUndefined()
})

it('asks a shard for the devices heard before once it is back', async () => {
  await write(message('one', 0))
  const shard = redis.shardOf(VAN)
  const ended = once(shard, 'end')
  shard.disconnect()
  await ended
  const accepted: string[] = []
  await rememberHeard(shard, { accepted: (device) => void accepted.push(device) })
  expect(accepted).toEqual([])
  await shard.connect()
  await expect.poll(() => accepted, soon).toEqual([VAN])
})

it('keeps the news of a shard that is away until it is back, while the others write and are read', async () => {
  const book = beatingHeardBook(redis)
  onTestFinished(() => book.close())
  const index = await openIndex()
  await index.catchUp()
  const shard = redis.shardOf(VAN)
  shard.disconnect()
  for (const device of [HOME_VAN, VAN, OTHER_VAN]) {
    const session = new Conversation('tcp', '10.1.2.3:4000', { device })
    book.of(device).spoke(session, 'teltonika')
    book.of(device).became('routed', `7/42/${device}`)
  }
  await expect.poll(() => Promise.all([recordOfVan(HOME_VAN), recordOfVan(OTHER_VAN)]), soon).not.toContain(undefined)
  await expect(index.catchUp()).rejects.toThrow('Connection is closed')
  expect([HOME_VAN, VAN, OTHER_VAN].map((id) => index.find(id) !== undefined)).toEqual([true, false, true])
  await shard.connect()
  await expect.poll(() => recordOfVan(), soon).toMatchObject({ remote: '10.1.2.3:4000' })
  expect(await readEvents(redis, VAN)).toMatchObject([{ lane: '7/42/3' }, { event: 'connected' }])
  await index.catchUp()
  expect(index.find(VAN)?.heard?.remote).toBe('10.1.2.3:4000')
})
