import { randomBytes } from 'node:crypto'
import { metrics } from '../observe/metrics.ts'
import { grouped } from '../redis/grouped.ts'
import type { MemoryShares } from './store-records.ts'
import type { Shard, Store } from './shards.ts'

/*
 * Frames that were not understood, as they came, until they are understood or there are too many. Lists, each with bounds of
 * its own: frames of types that hold positions (`position`), which are never given up; those whose type nobody knows
 * (`unknown`), and those that were read with a protocol that is a guess and whose fixes are held (`guessed`), of which the
 * oldest make room; `~`: of devices that are not configured. They are in the shard of their device, with bounds of that shard; those
 * that were kept while the data had fewer shards stay where they are, so readers ask all shards.
 */
export type FrameKind = 'position' | 'unknown' | 'guessed'

export interface KeptFrame {
  /** As `frameId` made it. */
  readonly id: string
  readonly kind: FrameKind
  readonly isConfigured: boolean
  /**
   * Whether its sender is certain: a connection, or a secret in the frame. The sender of a datagram may be forged: such
   * frames get half of the places, of their device and in all, and displace nothing.
   */
  readonly isProven: boolean
  readonly rosterVersion: number
  /** Everything that is known of the frame, as JSON. */
  readonly text: string
}

/** A new id for a frame of a device that arrived at a time, ms UTC. Ids sort by arrival. */
export function frameId(at: number, device: string): string {
  return `${at}-${randomBytes(4).toString('hex')}-${device}`
}

/** A kept frame in its list. */
export interface StoredFrame {
  readonly shard: Shard
  readonly list: string
  readonly id: string
  readonly text: string
}

/** Keeps the frames of a gateway: all of a shard that come while the previous call is away leave in the next one. */
export class FrameStore {
  readonly #store: Store
  readonly #shares: Readonly<Pick<MemoryShares, 'misunderstoodBytes'>>
  readonly #groups: readonly ((frame: KeptFrame, weight: number) => Promise<boolean>)[]
  #waitingBytes = 0

  /** `shares`: those of one shard. */
  constructor(store: Store, shares: Readonly<Pick<MemoryShares, 'misunderstoodBytes'>>) {
    this.#store = store
    this.#shares = shares
    this.#groups = store.shards.map((shard) =>
      grouped((frames: KeptFrame[]) => this.#keep(shard, frames), { maxWeight: MAX_CALL_BYTES }),
    )
  }

  /**
   * Resolves to true once the frame is on disk in Redis; to false if there is no room for it, or if too many frames are on
   * their way, which would delay fixes. Rejects if that is not certain.
   */
  async keep(frame: KeptFrame): Promise<boolean> {
    const { length } = frame.text
    const most = frame.isConfigured && frame.isProven ? MAX_WAITING_BYTES : MAX_WAITING_BYTES / 2
    if (this.#waitingBytes + length > most) return false
    this.#waitingBytes += length
    const { number } = this.#store.shardOf(deviceOfFrame(frame))
    return this.#groups[number](frame, length).finally(() => (this.#waitingBytes -= length))
  }

  async #keep(shard: Shard, frames: readonly KeptFrame[]): Promise<boolean[]> {
    const args = frames.flatMap((frame) => {
      const { id, isConfigured, isProven, kind, rosterVersion, text } = frame
      const { bytes, frames: most, shares } = BOUNDS[kind]
      const share = shares[isConfigured ? 0 : 1]
      const places = isProven ? 1 : 1 / 2
      const ofAll = this.#shares.misunderstoodBytes * share * (kind === 'guessed' ? 1 : places)
      const bounds = [most * places, bytes * places, ofAll]
      return [isConfigured ? kind : `${kind}~`, id, text, rosterVersion, whenFull(frame), ...bounds]
    })
    const [madeRoom, ...kept] = (await shard.run('keep_frames', keysOf(shard), args)) as number[]
    if (madeRoom > 0) metrics.misunderstoodLeft.inc({ reason: 'made_room' }, madeRoom)
    return kept.map((answer) => answer === 1)
  }
}

/** Selects the `count` latest frames of these devices (undefined: of all) that came before the frame with the id `before`. */
export interface FrameSelection {
  readonly devices?: readonly string[]
  readonly before?: string
  readonly count: number
}

/** Frames, latest first. */
export async function readFrames(redis: Store, { devices, before, count }: FrameSelection): Promise<StoredFrame[]> {
  const end = before === undefined ? '+' : `(${before}`
  const found = await inLists(redis, devices, (shard, key) => shard.zrevrangebylex(key, end, '-', 'LIMIT', 0, count))
  const latest = found.toSorted((one, other) => (one.id < other.id ? 1 : -1))
  return withTexts(latest.slice(0, count))
}

/** The texts of frames that are still there, in their order. */
export async function withTexts(some: readonly FrameId[]): Promise<StoredFrame[]> {
  const texts = new Map<string, string | null>()
  const byShard = Map.groupBy(some, ({ shard }) => shard)
  const reads = Array.from(byShard, async ([shard, own]) => {
    const read = await shard.hmget(shard.keyNames.misunderstood('frames'), ...own.map(({ id }) => id))
    for (const [index, text] of read.entries()) texts.set(own[index].id, text)
  })
  await Promise.all(reads)
  return some.flatMap((each) => {
    const text = texts.get(each.id) ?? null
    return text === null ? [] : [{ ...each, text }]
  })
}

export type FrameId = Omit<StoredFrame, 'text'>

/** Resolves to the frames of a device, by these spellings of its id, oldest first. */
export async function frameIds(redis: Store, devices: readonly string[]): Promise<FrameId[]> {
  const found = await inLists(redis, devices, (shard, key) => shard.zrange(key, '0', '-1'))
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** Drops some of the frames that arrived before a time, ms UTC. Resolves to their number. */
export async function dropOld(redis: Store, before: number): Promise<number> {
  return dropFrames(
    await inLists(redis, undefined, (shard, key) => shard.zrangebylex(key, '-', `(${before}`, 'LIMIT', 0, SLICE)),
  )
}

/** Drops frames. Resolves to the number that existed. */
export async function dropFrames(some: readonly FrameId[]): Promise<number> {
  let dropped = 0
  for (const [shard, own] of Map.groupBy(some, (each) => each.shard))
    for (let at = 0; at < own.length; at += SLICE) {
      const args = own.slice(at, at + SLICE).flatMap(({ list, id }) => [list, id])
      dropped += (await shard.run('drop_frames', keysOf(shard), args)) as number
    }
  return dropped
}

/** Replaces the text of a frame, if the frame is still there. */
export async function rewriteFrame({ shard, list, id, text }: StoredFrame): Promise<void> {
  await shard.run('rewrite_frame', keysOf(shard), [list, id, text])
}

/** Makes the frames of some devices due to be decoded again (undefined: of all). */
export async function decodeAgain(redis: Store, devices?: readonly string[]): Promise<void> {
  await redis.inShards(async (shard) => {
    const due = shard.keyNames.misunderstood('due')
    if (!devices) await shard.zunionstore(due, 1, due, 'WEIGHTS', 0)
    const some = devices ?? []
    for (let from = 0; from < some.length; from += SLICE)
      await shard.zadd(due, 'XX', 'LT', ...some.slice(from, from + SLICE).flatMap((device) => [0, device]))
  })
}

/** The devices that have kept frames in any shard. */
export async function devicesWithFrames(redis: Store): Promise<string[]> {
  const found = await redis.inShards((shard) => shard.zrange(shard.keyNames.misunderstood('due'), '0', '-1'))
  return [...new Set(found.flat())]
}

/** Claims a device whose frames are to be decoded again. No other gateway gets it for ten minutes. */
export async function claimFrames(redis: Store): Promise<string | undefined> {
  for (const shard of redis.shards) {
    const due = shard.keyNames.misunderstood('due')
    const [[device]] = (await shard.run('claim_held', [due], [1, CLAIM_MS])) as Buffer[][]
    if (device) return device.toString()
  }
  return undefined
}

/** Ends the claim of a device: its frames are due after a time (undefined: not until something changes), unless something has changed. */
export async function endClaim(redis: Store, device: string, afterMs = NEVER_MS): Promise<void> {
  await redis.inShards((shard) => shard.run('end_claim', keysOf(shard), [device, Date.now() + afterMs]))
}

/** How many frames are kept of each kind, and the bytes of all. */
export async function countFrames(redis: Store): Promise<Record<FrameKind, number> & { readonly bytes: number }> {
  const ofShards = await redis.inShards(async (shard) => {
    const { misunderstood } = shard.keyNames
    return Promise.all([
      shard.hmget(misunderstood('sizes'), ...LISTS),
      ...LISTS.map((list) => shard.zcard(misunderstood(list))),
    ])
  })
  const sum = { position: 0, unknown: 0, guessed: 0, bytes: 0 }
  for (const [sizes, position, unknown, otherPosition, otherUnknown, guessed] of ofShards) {
    sum.position += position + otherPosition
    sum.unknown += unknown + otherUnknown
    sum.guessed += guessed
    for (const size of sizes) sum.bytes += Number(size ?? 0)
  }
  return sum
}

/** The frames that a command finds in the lists of devices (undefined: of all) in all shards, in no order. */
async function inLists(
  redis: Store,
  devices: readonly string[] | undefined,
  find: (shard: Shard, key: string) => Promise<string[]>,
): Promise<FrameId[]> {
  const names = LISTS.flatMap((list) =>
    devices ? devices.map((device) => ({ list, part: `${list}:${device}` })) : [{ list, part: list }],
  )
  const found = await redis.inShards(async (shard) =>
    Promise.all(
      names.map(async ({ list, part }) => {
        const ids = await find(shard, shard.keyNames.misunderstood(part))
        return ids.map((id) => ({ shard, list, id }))
      }),
    ),
  )
  return found.flat(2)
}

/** The device of a frame, which its id ends with. */
function deviceOfFrame({ id }: Pick<KeptFrame, 'id'>): string {
  return id.slice(id.indexOf('-', id.indexOf('-') + 1) + 1)
}

const LISTS = ['position', 'unknown', 'position~', 'unknown~', 'guessed~'] as const

/**
 * The bounds of one device in a list, the same for unconfigured devices, so that no answer tells whether a device is
 * configured. `shares`: the parts of the lists' memory for configured and for other devices.
 */
const BOUNDS = {
  position: { frames: 1000, bytes: 1 << 20, shares: [0.4, 0.1] },
  unknown: { frames: 100, bytes: 1 << 18, shares: [0.2, 0.1] },
  guessed: { frames: 1000, bytes: 1 << 20, shares: [0.2, 0.2] },
} as const

/** Returns what happens to a frame without room: see `keep_frames`. */
function whenFull({ isProven, kind }: KeptFrame): 0 | 1 | 2 {
  if (kind === 'position') return 0
  return isProven || kind === 'guessed' ? 1 : 2
}

/** The keys of a shard that lua/misunderstood.lua uses. */
function keysOf({ keyNames: { misunderstood, rosterVersion } }: Shard): string[] {
  return [...['frames', 'sizes', 'due', ''].map(misunderstood), rosterVersion]
}

const MAX_CALL_BYTES = 1 << 19
/** Bytes on their way to Redis, half of them from uncertain senders. Redis writes this much in a tenth of a second. */
const MAX_WAITING_BYTES = 4 << 20
const SLICE = 500
/** Longer than decoding the frames of a device takes. */
const CLAIM_MS = 600_000
/** Ten years. */
const NEVER_MS = 3650 * 86_400_000
