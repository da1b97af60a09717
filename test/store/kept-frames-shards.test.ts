import { afterEach, expect, it } from 'vitest'
import {
  claimFrames,
  connect,
  countFrames,
  decodeAgain,
  devicesWithFrames,
  dropFrames,
  dropOld,
  type FrameKind,
  FrameStore,
  forgetDevice,
  frameId,
  markReleasing,
  readFrames,
  rewriteFrame,
  type Store,
} from '../../src/store/index.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

/** A device of each of the three shards. */
const VANS = ['1', '3', '7']

let server: TestRedis
let redis: Store
const open: Store[] = []

withRedis((one, store) => {
  server = one
  redis = store
}, 3)
afterEach(() => open.splice(0).forEach((store) => store.disconnect()))

let clock = 1_790_000_000_000
interface Sent {
  readonly kind?: FrameKind
  readonly rosterVersion?: number
  readonly into?: Store
}

/** Keeps a frame whose text is that of its time. Returns whether it is kept. */
function keep(device: string, { into = redis, kind = 'position', rosterVersion = 0 }: Sent = {}, share = 1e9) {
  const sent = { kind, isConfigured: true, isProven: true, rosterVersion, text: `${device} ${clock}` }
  return new FrameStore(into, { misunderstoodBytes: share }).keep({ id: frameId(clock++, device), ...sent })
}

const devicesOf = (frames: readonly { readonly text: string }[]) => frames.map(({ text }) => text.split(' ')[0])
const shardsWithFrames = async () => {
  const counts = await redis.inShards((shard) => shard.hlen(shard.keyNames.misunderstood('frames')))
  return [0, 1, 2].filter((number) => counts[number] > 0)
}

it('kept frames are in the shard of their device, and listed from all shards, latest first', async () => {
  expect(VANS.map((van) => redis.shardOf(van).number)).toEqual([0, 1, 2])
  for (const van of [...VANS, ...VANS]) expect(await keep(van)).toBe(true)
  expect(await keep('3', { kind: 'unknown' })).toBe(true)
  const counts = await redis.inShards((shard) => shard.hlen(shard.keyNames.misunderstood('frames')))
  expect(counts).toEqual([2, 3, 2])
  const latest = await readFrames(redis, { count: 3 })
  expect(devicesOf(latest)).toEqual(['3', '7', '3'])
  const before = latest.at(-1)?.id
  expect(devicesOf(await readFrames(redis, { before, count: 10 }))).toEqual(['1', '7', '3', '1'])
  expect(devicesOf(await readFrames(redis, { devices: ['7'], count: 10 }))).toEqual(['7', '7'])
  expect(await countFrames(redis)).toMatchObject({ position: 6, unknown: 1, guessed: 0 })
  expect((await devicesWithFrames(redis)).toSorted()).toEqual(VANS)
})

it('rewrites and drops kept frames in their shard, and leaves nothing', async () => {
  for (const van of [...VANS, ...VANS]) await keep(van)
  const [seven, three, one] = await readFrames(redis, { count: 3 })
  await rewriteFrame({ ...three, text: '3 again, longer' })
  expect((await readFrames(redis, { devices: ['3'], count: 1 }))[0].text).toBe('3 again, longer')
  expect([await dropFrames([seven, three, one]), await dropFrames([seven, three, one])]).toEqual([3, 0])
  expect(await forgetDevice(redis, new Set(['7']))).toMatchObject({ frames: 1 })
  expect(await dropOld(redis, clock)).toBe(2)
  expect(await redis.keys('*misunderstood*')).toEqual([])
})

it('a shard whose share is used up refuses frames, and others keep theirs', async () => {
  const [share, kept] = [4000, [] as boolean[]]
  for (let each = 0; each < 20; each++) kept.push(await keep('3', {}, share))
  expect(kept).toContain(false)
  expect(await keep('7', {}, share)).toBe(true)
})

it('reads, decodes and drops frames where they are that were kept while the data had one shard', async () => {
  const before = connect({ url: server.url, shards: 1 }, 'test')
  open.push(before)
  await expect.poll(() => before.status).toBe('ready')
  await keep('3', { into: before })
  await keep('3')
  expect(await shardsWithFrames()).toEqual([0, 1])
  expect(await claimFrames(redis)).toBeUndefined()
  await decodeAgain(redis, ['3'])
  expect([await claimFrames(redis), await claimFrames(redis), await claimFrames(redis)]).toEqual(['3', '3', undefined])
  const frames = await readFrames(redis, { devices: ['3'], count: 10 })
  expect(frames.map(({ shard }) => shard.number)).toEqual([1, 0])
  expect(await countFrames(redis)).toMatchObject({ position: 2 })
  await rewriteFrame({ ...frames[1], text: 'older' })
  expect((await readFrames(redis, { count: 10 })).map(({ text }) => text)).toEqual([frames[0].text, 'older'])
  expect(await forgetDevice(redis, new Set(['3']))).toMatchObject({ frames: 2 })
  expect(await redis.keys('*misunderstood*')).toEqual([])
})

it('a device is due at once if its frame was decoded by an earlier roster than its shard knows', async () => {
  await redis.set(redis.keyNames.rosterVersion, 8)
  await markReleasing(redis, 8, [])
  for (const van of VANS) await keep(van, { rosterVersion: 8 })
  expect(await claimFrames(redis)).toBeUndefined()
  for (const van of VANS) await keep(van, { rosterVersion: 7 })
  const claimed = [await claimFrames(redis), await claimFrames(redis), await claimFrames(redis)]
  expect([new Set(claimed), await claimFrames(redis)]).toEqual([new Set(VANS), undefined])
})
