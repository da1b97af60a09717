import { expect, it } from 'vitest'
import {
  claimFrames,
  countFrames,
  decodeAgain,
  endClaim,
  dropFrames,
  type FrameKind,
  FrameStore,
  frameId,
  frameIds,
  keys,
  type Store,
  readFrames,
  rewriteFrame,
} from '../../src/store/index.ts'
import { count } from '../support/listen.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

interface Sent {
  readonly device?: string
  readonly kind?: FrameKind
  readonly isConfigured?: boolean
  readonly isProven?: boolean
  readonly rosterVersion?: number
}

let clock = 1_790_000_000_000

/** Keeps frames with these texts, one after the other. Returns whether each is kept. */
async function keep(texts: readonly string[], sent: Sent = {}, misunderstoodBytes = 1e9): Promise<boolean[]> {
  const store = new FrameStore(redis, { misunderstoodBytes })
  const { device = '1', kind = 'position', isConfigured = true, isProven = true, rosterVersion = 0 } = sent
  return Promise.all(
    texts.map((text) =>
      store.keep({ id: frameId(clock++, device), kind, isConfigured, isProven, rosterVersion, text }),
    ),
  )
}

const LONG_TEXT = 'x'.repeat(1 << 17)
const textsOf = async (...devices: string[]) =>
  (await readFrames(redis, { devices: devices.length > 0 ? devices : undefined, count: 5000 })).map(({ text }) => text)
const numbered = (length: number, text = 'frame') => Array.from({ length }, (_, index) => `${text} ${index}`)
const madeRoom = () => count('misunderstood_left_total', { reason: 'made_room' })
/** How many scripts have run. */
const calls = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
const sizes = () => redis.hgetall(keys.misunderstood('sizes'))
/** Nothing may be left of frames that are gone. */
const expectNothing = async () => expect(await redis.keys('*misunderstood*')).toEqual([])

it('lists kept frames latest first, of all devices or one, in pages', async () => {
  await keep(['a', 'b'])
  await keep(['c'], { device: '2', kind: 'unknown' })
  await keep(['d'], { device: '3', isConfigured: false })
  await keep(['e'])
  expect(await textsOf()).toEqual(['e', 'd', 'c', 'b', 'a'])
  expect(await textsOf('1')).toEqual(['e', 'b', 'a'])
  const [, last] = await readFrames(redis, { count: 2 })
  expect((await readFrames(redis, { count: 2, before: last.id })).map(({ text }) => text)).toEqual(['c', 'b'])
})

it('keeps frames that arrive together in one call', async () => {
  await keep(['first'])
  const before = await calls()
  await keep(numbered(100))
  expect((await calls()) - before).toBe(1)
})

it('keeps a frame once though the script runs twice', async () => {
  const store = new FrameStore(redis, { misunderstoodBytes: 1e9 })
  const frame = { id: frameId(1, '1'), isConfigured: true, isProven: true, rosterVersion: 0 }
  for (const kind of ['position', 'position'] as const)
    expect(await store.keep({ ...frame, kind, text: 'a' })).toBe(true)
  const [found] = await readFrames(redis, { count: 10 })
  expect(await countFrames(redis)).toMatchObject({ position: 1 })
  expect([await dropFrames([found]), await dropFrames([found])]).toEqual([1, 0])
  await expectNothing()
})

it('refuses to keep frames while 4 MiB are on their way to Redis, so that fixes do not wait', async () => {
  const store = new FrameStore(redis, { misunderstoodBytes: 1e9 })
  const sent = { kind: 'unknown', isConfigured: true, isProven: true, rosterVersion: 0 } as const
  const keepOne = (_: unknown, index: number) =>
    store.keep({ ...sent, id: frameId(clock++, String(index)), text: 'x'.repeat(1 << 17) })
  const kept = await Promise.all(Array.from({ length: 40 }, keepOne))
  expect(kept.indexOf(false)).toBe(32)
  expect(kept.filter(Boolean)).toHaveLength(32)
  expect(await keepOne(undefined, 40)).toBe(true)
})

it.each([
  ['datagrams', { isConfigured: true, isProven: false }],
  ['unknown devices', { isConfigured: false, isProven: true }],
])('frames of %s take at most half of the 4 MiB that may be on their way to Redis', async (_, sent) => {
  const store = new FrameStore(redis, { misunderstoodBytes: 1e9 })
  const keepOne = (proof: typeof sent) => (_none: unknown, index: number) =>
    store.keep({ ...proof, kind: 'unknown', rosterVersion: 0, id: frameId(clock++, String(index)), text: LONG_TEXT })
  const forged = Array.from({ length: 20 }, keepOne(sent))
  const own = Array.from({ length: 16 }, keepOne({ isConfigured: true, isProven: true }))
  expect((await Promise.all(forged)).indexOf(false)).toBe(16)
  expect(await Promise.all(own)).not.toContain(false)
})

it('frames are on disk before they count as kept', async () => {
  expect(await keep(['a'])).toEqual([true])
  await server.kill('SIGKILL')
  await server.restart()
  await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
  expect(await textsOf()).toEqual(['a'])
})

it('keeps no frame if Redis has no memory left', async () => {
  const [, limit] = await redis.config('GET', 'maxmemory')
  await redis.config('SET', 'maxmemory', '1')
  await expect(keep(['a'])).rejects.toThrow('OOM')
  await redis.config('SET', 'maxmemory', limit)
  expect(await textsOf()).toEqual([])
})

it('rewrites a kept frame only while it is there', async () => {
  await keep(['a'])
  const [frame] = await readFrames(redis, { count: 1 })
  await rewriteFrame({ ...frame, text: 'a longer text' })
  expect(await textsOf()).toEqual(['a longer text'])
  await dropFrames([frame])
  await rewriteFrame({ ...frame, text: 'again' })
  await expectNothing()
})

it('refuses frames of a position type after 1,000 of a device, and keeps those of others', async () => {
  expect(new Set(await keep(numbered(1000)))).toEqual(new Set([true]))
  expect(await keep(['one too many'])).toEqual([false])
  expect(await keep(['another'], { device: '2' })).toEqual([true])
  expect(await countFrames(redis)).toMatchObject({ position: 1001 })
})

it('refuses frames of a position type of a device beyond a mebibyte', async () => {
  const kept = await keep(Array.from({ length: 12 }, () => 'x'.repeat(100_000)))
  expect(kept.filter((isKept) => isKept)).toHaveLength(10)
})

it('deletes and counts the oldest frames of an unknown type of a device beyond 100', async () => {
  const before = await madeRoom()
  await keep(['of a position type'])
  expect(new Set(await keep(numbered(130), { kind: 'unknown' }))).toEqual(new Set([true]))
  expect(await textsOf()).toEqual([...numbered(130).slice(30).toReversed(), 'of a position type'])
  expect(await madeRoom()).toBe(before + 30)
})

it('gives datagrams, whose sender may be forged, half of the places of a device', async () => {
  await keep(numbered(500), { isProven: false })
  expect(await keep(['forged?'], { isProven: false })).toEqual([false])
  expect(await keep(['over a connection'])).toEqual([true])
})

it('frames of an unknown type in datagrams displace none that came over a connection', async () => {
  const proven = numbered(60, 'proven')
  await keep(proven, { kind: 'unknown' })
  const before = await madeRoom()
  expect(await keep(numbered(200, 'forged'), { kind: 'unknown', isProven: false })).not.toContain(false)
  expect((await textsOf('1')).toReversed()).toEqual(proven)
  expect((await madeRoom()) - before).toBe(200)
})

it('kept frames of datagrams take at most half of the memory for frames, whatever ids they name', async () => {
  const forged = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      keep(['x'.repeat(1000)], { device: `forged ${index}`, isProven: false }, 100_000),
    ),
  )
  expect(forged.flat()).toContain(false)
  expect(await keep(numbered(10, 'y'.repeat(1000)), { device: '1' }, 100_000)).not.toContain(false)
})

it('keeps as many frames of an unknown device, so that no answer tells whether it is configured', async () => {
  expect(await keep(['x'.repeat(90_000)], { isConfigured: false })).toEqual([true])
  expect(new Set(await keep(numbered(999), { isConfigured: false }))).toEqual(new Set([true]))
  expect(await keep(['one too many'], { isConfigured: false })).toEqual([false])
})

it('accepts and gives up at once a frame of an unknown type that is too large by itself', async () => {
  const before = await madeRoom()
  await keep(numbered(3), { kind: 'unknown' })
  expect(await keep(['x'.repeat(1 << 18)], { kind: 'unknown' })).toEqual([true])
  expect([await textsOf(), await madeRoom()]).toEqual([[], before + 4])
  await expectNothing()
})

const share = 50_000
const vans = Array.from({ length: 100 }, (_, index) => `${index}`)

it('refuses frames of position types of all devices beyond six tenths of their share of memory', async () => {
  const kept = await Promise.all(vans.map((device) => keep(['x'.repeat(500)], { device }, share)))
  const stored = kept.flat().filter((isKept) => isKept).length
  expect(stored).toBeGreaterThan(20)
  expect(stored).toBeLessThan(60)
  expect(Number((await sizes()).position)).toBeLessThanOrEqual(0.6 * share)
})

it('deletes the oldest frames of unknown types, whatever their device', async () => {
  for (const device of vans) expect(await keep([device], { device, kind: 'unknown' }, share)).toEqual([true])
  const left = await textsOf()
  expect(left.length).toBeLessThan(40)
  expect(left).toEqual(vans.slice(-left.length).toReversed())
  expect(Number((await sizes()).unknown)).toBeLessThanOrEqual(0.2 * share)
})

it('leaves a tenth of the memory for frames to unknown devices, which take nothing from the others', async () => {
  const others = await Promise.all(vans.map((device) => keep(['x'], { device, isConfigured: false }, share)))
  expect(others.flat().filter((isKept) => isKept).length).toBeLessThan(20)
  expect(await keep(['of ours'], { device: 'ours' }, share)).toEqual([true])
})

it('counts exactly the bytes of all kept frames, which are none once they are dropped', async () => {
  for (const [index, device] of vans.entries())
    await keep(['a', 'ü'.repeat(index)], {
      device,
      kind: index % 2 ? 'position' : 'unknown',
      isConfigured: index % 3 > 0,
    })
  expect((await countFrames(redis)).bytes).toBeGreaterThan(200 * 300)
  await dropFrames(await frameIds(redis, vans))
  await expectNothing()
})

it('counts about as many bytes for kept frames as Redis uses', async () => {
  for (const device of vans) await keep(numbered(20, 'x'.repeat(300)), { device })
  const used = (await redis.keys('*')).map((key) => redis.memory('USAGE', key, 'SAMPLES', 0))
  const took = (await Promise.all(used)).reduce<number>((sum, size) => sum + (size ?? 0), 0)
  const { bytes } = await countFrames(redis)
  expect(bytes / took).toBeGreaterThan(0.7)
  expect(bytes / took).toBeLessThan(1.5)
})

it('one gateway claims a device whose frames are to be decoded again, until it ends the claim or something changes', async () => {
  await keep(['a'])
  await keep(['b'], { device: '2' })
  expect(await claimFrames(redis)).toBeUndefined()
  await decodeAgain(redis, ['2', 'of which there is nothing'])
  expect([await claimFrames(redis), await claimFrames(redis)]).toEqual(['2', undefined])
  await decodeAgain(redis)
  const claimed = new Set([await claimFrames(redis), await claimFrames(redis), await claimFrames(redis)])
  expect(claimed).toEqual(new Set(['1', '2', undefined]))
  await endClaim(redis, '1', 60_000)
  expect(await claimFrames(redis)).toBeUndefined()
  await endClaim(redis, '2', -1)
  await endClaim(redis, '2')
  expect([await claimFrames(redis), await claimFrames(redis)]).toEqual(['2', undefined])
})

it('a device is due at once if a gateway that lags behind the roster keeps its frame', async () => {
  await redis.set(keys.roster('version'), 7)
  await keep(['a'], { rosterVersion: 7 })
  expect(await claimFrames(redis)).toBeUndefined()
  await keep(['b'], { rosterVersion: 6 })
  expect(await claimFrames(redis)).toBe('1')
})
