import { expect, it, vi } from 'vitest'
import { FileRewrite } from '../../src/admin/device/forget.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { Appender, DuplicateFilter, keys, packDevice, packRecords, readFrames } from '../../src/store/index.ts'
import { adminFixture, hold, READ_TOKEN, refuse, store, TOKEN, workerOf } from '../support/admin.ts'
import { UNFILTERED } from '../support/appending.ts'
import { waybridge } from '../support/cli.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { beatingHeardBook } from '../support/beat.ts'

const admin = adminFixture()
const VAN = '356307042441014'
const OTHER = '356307042441015'
const NOTHING = { waiting: 0, parked: 0, held: 0, marks: 0, contacts: 0, frames: 0, kept: 0, copied: 0, busy: 0 }

const env = () => ({ WAYBRIDGE_ADMIN_URL: admin.url, WAYBRIDGE_ADMIN_TOKEN: TOKEN })
const forget = (id = VAN, token = TOKEN) =>
  admin.ask(`/admin/devices/${id}/data`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })

/** Both devices get waiting, held, and in two ways parked fixes. */
async function fill(): Promise<void> {
  const { redis } = admin
  for (const device of [VAN, OTHER]) {
    await store(redis, '7/42/1', { device, count: 3 })
    await store(redis, '7/42/2', { device, count: 2 })
    await store(redis, '7/42/3', { device, count: 2 })
    await hold(redis, 'no_route', device, { count: 4 })
    await hold(redis, 'clock', device)
  }
  const { leases, lease } = workerOf(redis)
  await leases.park(await lease('7/42/2'), { status: 403, message: 'no' })
  await refuse(redis, '7/42/3', 4, { status: 422, message: 'no' })
}

/** Stores duplicate marks of two devices in three spans. */
async function mark(): Promise<void> {
  const duplicates = new DuplicateFilter(admin.redis, { windowMs: 86_400_000, maxFutureMs: 300_000 })
  const appender = new Appender(admin.redis, { ...UNFILTERED, duplicates })
  for (const device of [VAN, OTHER])
    for (const hours of [0, 1, 2]) {
      const timestamp = 1_763_626_442 + hours * 3600
      const position = { timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }
      const records = packRecords([position], packDevice(device), Date.now())
      await appender.append({ parts: [{ lane: '7/42/4', device, records }], received: 1, filtered: [] })
    }
  await appender.close()
}

/** Stores contacts of the device, and frames of two devices that were not understood. */
async function hear(): Promise<void> {
  const book = beatingHeardBook(admin.redis)
  book.of(VAN).spoke(Object.assign(new Conversation('tcp', '10.1.2.3:1'), { device: VAN }), 'teltonika')
  await expect.poll(() => admin.redis.exists(keys.eventsPrefix + VAN), { timeout: 30_000 }).toBe(1)
  await book.close()
  await keepFrame(admin.redis, VAN)
  await keepFrame(admin.redis, VAN, { kind: 'unknown', company: undefined })
  await keepFrame(admin.redis, OTHER)
}

async function custody() {
  return ((await admin.ask('/admin/status')).json as { custody: Record<string, number> }).custody
}

async function rewrites(): Promise<string> {
  return /cmdstat_bgrewriteaof:calls=(\d+)/.exec(await admin.redis.info('commandstats'))?.[1] ?? '0'
}

async function isRewritten(): Promise<void> {
  expect(await admin.redis.info('persistence')).toContain('aof_rewrite_in_progress:0')
}

it('DELETE /admin/devices/{id}/data deletes the fixes of one device in a lane with fixes of others', async () => {
  await store(admin.redis, '7/42/1', { device: OTHER, count: 150 })
  await store(admin.redis, '7/42/1', { device: VAN })
  await store(admin.redis, '7/42/2', { device: OTHER })
  await store(admin.redis, '7/42/2', { device: 'van-15', count: 2 })
  expect((await forget()).json).toEqual({ ...NOTHING, waiting: 1 })
  expect((await forget('van-15')).json).toEqual({ ...NOTHING, waiting: 2 })
})

it('DELETE /admin/devices/{id}/data deletes the fixes of a device everywhere, and the account adds up', async () => {
  await fill()
  const { received } = await custody()
  const { status, json } = await forget()
  expect([status, json]).toEqual([200, { ...NOTHING, waiting: 3, parked: 4, held: 5 }])
  expect(await custody()).toEqual({
    received,
    filtered: 0,
    delivered: 0,
    redelivered: 0,
    waiting: 3,
    parked: 4,
    held: 5,
    discarded: 12,
    difference: 0,
  })
  expect(await admin.redis.hget(keys.custody, 'discarded:deleted')).toBe('12')
  expect(await admin.redis.get(keys.heldFixes)).toBe('5')
})

it('DELETE /admin/devices/{id}/data deletes the duplicate marks of the device, and accounts for their memory', async () => {
  await mark()
  expect((await forget()).json).toEqual({ ...NOTHING, waiting: 3, marks: 3 })
  const left = await admin.redis.keys(`${keys.marksPrefix}*`)
  expect(left.filter((key) => key.includes(VAN))).toEqual([])
  expect(left).toHaveLength(3)
  expect(await admin.redis.hexists(keys.latestSpans, VAN)).toBe(0)
  const bytes = await admin.redis.hgetall(keys.markBytes)
  expect(bytes).toEqual({ '': bytes[OTHER], [OTHER]: bytes[OTHER] })
})

it('DELETE /admin/devices/{id}/data deletes contacts, events and kept frames, and nothing a second time', async () => {
  await hear()
  const { json } = await forget()
  expect(json).toEqual({ ...NOTHING, contacts: 2, frames: 2 })
  const { redis } = admin
  expect(await redis.keys(`*${VAN}*`)).toEqual([])
  expect(await redis.hexists(keys.devices, VAN)).toBe(0)
  const frames = await readFrames(redis, { count: 10 })
  expect(frames.map(({ text }) => (JSON.parse(text) as { device: string }).device)).toEqual([OTHER])
  expect((await forget()).json).toEqual(NOTHING)
})

it('DELETE /admin/devices/{id}/data releases the lanes at once', async () => {
  await fill()
  await forget()
  const { lease } = workerOf(admin.redis)
  expect(await lease('7/42/1')).toMatchObject({ lane: '7/42/1' })
})

it('DELETE /admin/devices/{id}/data treats pattern characters in an id literally', async () => {
  await mark()
  for (const id of ['35630704244101*', '[0-9]*', '%2A'])
    expect((await forget(encodeURIComponent(id))).json).toEqual(NOTHING)
})

it('DELETE /admin/devices/{id}/data needs a token that may change things, and is in the audit log', async () => {
  expect((await forget(VAN, READ_TOKEN)).status).toBe(403)
  await store(admin.redis, '7/42/1', { device: VAN })
  await forget()
  const { results } = (await admin.ask('/admin/audit?max_results=1')).json as { results: object[] }
  expect(results[0]).toMatchObject({
    method: 'DELETE',
    path: `/admin/devices/${VAN}/data`,
    status: 200,
    summary: { ...NOTHING, waiting: 1 },
  })
})

it('the AOF is rewritten at once after a deletion, then once for all deletions of the next ten minutes', async () => {
  await admin.redis.config('RESETSTAT')
  const files = new FileRewrite(admin.redis)
  for (let n = 0; n < 5; n++) await files.deleted()
  expect(await rewrites()).toBe('1')
  await files.close()
  expect(await rewrites()).toBe('2')
})

it('the AOF is rewritten again if a rewrite was in progress during a deletion', async () => {
  const { redis } = admin
  await redis.mset('one', '1', 'two', '2', 'three', '3')
  await vi.waitFor(isRewritten, { timeout: 30_000 })
  const slow = (us: number) => redis.config('SET', 'rdb-key-save-delay', us)
  await slow(300_000)
  await redis.bgrewriteaof()
  const files = new FileRewrite(redis)
  await files.deleted()
  await slow(0)
  await vi.waitFor(isRewritten, { timeout: 30_000 })
  await redis.config('RESETSTAT')
  await files.close()
  expect(await rewrites()).toBe('1')
})

it('waybridge forget says what it deleted of a device that is given by its name', async () => {
  await store(admin.redis, '7/43/2001', { device: VAN, count: 2 })
  expect(await waybridge(['forget', 'Van 14', '--yes'], { env: env() })).toEqual({
    code: 0,
    out: `${VAN}: deleted 2 waiting, 0 parked and 0 held fixes, 0 marks of duplicates, 0 contacts and events, 0 frames that were not understood, 0 delivered fixes that were kept, 0 fixes for copies\n`,
    errors: '',
  })
})

it('waybridge forget deletes nothing if it cannot ask and has no --yes', async () => {
  await store(admin.redis, '7/43/2001', { device: VAN, count: 2 })
  expect(await waybridge(['forget', 'Van 14'], { env: env() })).toEqual({
    code: 1,
    out: '',
    errors: 'Nothing is changed: this deletes what is stored; add --yes.\n',
  })
  expect(await admin.redis.llen(keys.lane('7/43/2001'))).toBe(2)
})

it('waybridge forget accepts a name in small letters', async () => {
  await store(admin.redis, '7/43/2001', { device: VAN })
  const { out } = await waybridge(['forget', 'van 14', '--yes'], { env: env() })
  expect(out).toContain(`${VAN}: deleted 1 waiting`)
})

it('waybridge forget says that no device has a name if nothing is stored under it', async () => {
  const { code, errors } = await waybridge(['forget', 'Van 77', '--yes'], { env: env() })
  expect([code, errors]).toEqual([1, expect.stringMatching(/^No device has the id or name "Van 77": did you mean /)])
})

it('waybridge forget accepts the id of an unconfigured device', async () => {
  await hold(admin.redis, 'unknown', '99')
  const { out } = await waybridge(['forget', '99', '--yes'], { env: env() })
  expect(out).toContain('99: deleted 0 waiting, 0 parked and 1 held fixes')
})
