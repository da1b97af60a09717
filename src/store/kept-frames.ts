import { randomBytes } from 'node:crypto'
import { metrics } from '../observe/metrics.ts'
import { grouped } from '../redis/grouped.ts'
import { keys } from './keys.ts'
import type { Redis } from '../redis/connection.ts'
import type { MemoryShares } from './store.ts'
import type { Store } from './shards.ts'

/*
 * Frames that were not understood, as they came, until they are understood or there are too many. Lists, each with bounds of
 * its own: frames of types that hold positions (`position`), which are never given up; those whose type nobody knows
 * (`unknown`), and those that were read with a protocol that is a guess and whose fixes are held (`guessed`), of which the
 * oldest make room; `~`: of devices that are not configured.
 */
export type FrameKind = 'position' | 'unknown' | 'guessed'

export interface KeptFrame {
  /** As `frameId` made it. */
  readonly id: string
  readonly kind: FrameKind
  readonly isConfigured: boolean
  /**
   * Whether its sender is certain: a connection, or a secret in it. That of a datagram may be forged: these have half of the
   * places of their device and of all, and displace nothing.
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
  readonly list: string
  readonly id: string
  readonly text: string
}

/** Keeps the frames of a gateway: all that come while the previous call is away leave in the next one. */
export class FrameStore {
  readonly #store: Store
  readonly #shares: Readonly<Pick<MemoryShares, 'misunderstoodBytes'>>
  readonly #group = grouped((frames: KeptFrame[]) => this.#keep(frames), { maxWeight: MAX_CALL_BYTES })
  #waitingBytes = 0

  constructor(store: Store, shares: Readonly<Pick<MemoryShares, 'misunderstoodBytes'>>) {
    this.#store = store
    this.#shares = shares
  }

  /**
   * Resolves with true once the frame is on disk in Redis, with false if there is no room for it, or if too many are on their
   * way already: fixes would wait behind them. Rejects if that is not certain.
   */
  async keep(frame: KeptFrame): Promise<boolean> {
    const { length } = frame.text
    const most = frame.isConfigured && frame.isProven ? MAX_WAITING_BYTES : MAX_WAITING_BYTES / 2
    if (this.#waitingBytes + length > most) return false
    this.#waitingBytes += length
    return this.#group(frame, length).finally(() => (this.#waitingBytes -= length))
  }

  async #keep(frames: readonly KeptFrame[]): Promise<boolean[]> {
    const args = frames.flatMap((frame) => {
      const { id, isConfigured, isProven, kind, rosterVersion, text } = frame
      const { bytes, frames: most, shares } = BOUNDS[kind]
      const share = shares[isConfigured ? 0 : 1]
      const places = isProven ? 1 : 1 / 2
      const ofAll = this.#shares.misunderstoodBytes * share * (kind === 'guessed' ? 1 : places)
      const bounds = [most * places, bytes * places, ofAll]
      return [isConfigured ? kind : `${kind}~`, id, text, rosterVersion, whenFull(frame), ...bounds]
    })
    const [madeRoom, ...kept] = (await this.#store.run('keep_frames', KEYS, args)) as number[]
    if (madeRoom > 0) metrics.misunderstoodLeft.inc({ reason: 'made_room' }, madeRoom)
    return kept.map((answer) => answer === 1)
  }
}

/** The `count` latest frames of these devices (undefined: of all) that came before the frame with the id `before`. */
export interface FrameSelection {
  readonly devices?: readonly string[]
  readonly before?: string
  readonly count: number
}

/** Frames, latest first. */
export async function readFrames(redis: Redis, { devices, before, count }: FrameSelection): Promise<StoredFrame[]> {
  const end = before === undefined ? '+' : `(${before}`
  const found = await Promise.all(
    idLists(devices).map(async ({ list, key }) => {
      const ids = await redis.zrevrangebylex(key, end, '-', 'LIMIT', 0, count)
      return ids.map((id) => ({ list, id }))
    }),
  )
  const latest = found.flat().toSorted((one, other) => (one.id < other.id ? 1 : -1))
  return withTexts(redis, latest.slice(0, count))
}

/** The texts of frames that are still there, in their order. */
export async function withTexts(redis: Redis, some: readonly FrameId[]): Promise<StoredFrame[]> {
  if (some.length === 0) return []
  const texts = await redis.hmget(keys.misunderstood('frames'), ...some.map(({ id }) => id))
  return some.flatMap((each, index) => {
    const text = texts[index]
    return text === null ? [] : [{ ...each, text }]
  })
}

export type FrameId = Pick<StoredFrame, 'list' | 'id'>

/** The frames of a device by these ids of it, oldest first. */
export async function frameIds(redis: Redis, devices: readonly string[]): Promise<FrameId[]> {
  const found = await Promise.all(
    idLists(devices).map(async ({ list, key }) => (await redis.zrange(key, '0', '-1')).map((id) => ({ list, id }))),
  )
  return found.flat().toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** Drops some of the frames that arrived before a time, ms UTC. Answers how many. */
export async function dropOld(redis: Store, before: number): Promise<number> {
  const found = await Promise.all(
    LISTS.map(async (list) => {
      const ids = await redis.zrangebylex(keys.misunderstood(list), '-', `(${before}`, 'LIMIT', 0, SLICE)
      return ids.map((id) => ({ list, id }))
    }),
  )
  return dropFrames(redis, found.flat())
}

/** Drops frames. Answers how many there were. */
export async function dropFrames(redis: Store, some: readonly FrameId[]): Promise<number> {
  let dropped = 0
  for (let at = 0; at < some.length; at += SLICE) {
    const args = some.slice(at, at + SLICE).flatMap(({ list, id }) => [list, id])
    dropped += (await redis.run('drop_frames', KEYS, args)) as number
  }
  return dropped
}

/** Replaces the text of a frame, if the frame is still there. */
export async function rewriteFrame(redis: Store, { list, id, text }: StoredFrame): Promise<void> {
  await redis.run('rewrite_frame', KEYS, [list, id, text])
}

/** Has the frames of some devices decoded again (undefined: of all); `at`: not before that, ms UTC. */
export async function decodeAgain(redis: Redis, devices?: readonly string[], at = 0): Promise<void> {
  const due = keys.misunderstood('due')
  if (!devices) return void (await redis.zunionstore(due, 1, due, 'WEIGHTS', 0))
  for (let from = 0; from < devices.length; from += SLICE)
    await redis.zadd(due, 'XX', 'LT', ...devices.slice(from, from + SLICE).flatMap((device) => [at, device]))
}

export function devicesWithFrames(redis: Redis): Promise<string[]> {
  return redis.zrange(keys.misunderstood('due'), '0', '-1')
}

/** Claims a device whose frames are to be decoded again. No other gateway gets it until something changes again. */
export async function claimFrames(redis: Store): Promise<string | undefined> {
  const due = keys.misunderstood('due')
  const [[device]] = (await redis.run('claim_held', [due], [1, NEVER_MS])) as Buffer[][]
  return device?.toString()
}

/** How many frames are kept of each kind, and the bytes of all. */
export async function countFrames(redis: Redis): Promise<Record<FrameKind, number> & { readonly bytes: number }> {
  const [sizes, ...counts] = await Promise.all([
    redis.hmget(keys.misunderstood('sizes'), ...LISTS),
    ...LISTS.map((list) => redis.zcard(keys.misunderstood(list))),
  ])
  const [position, unknown, otherPosition, otherUnknown, guessed] = counts
  const bytes = sizes.reduce((sum, size) => sum + Number(size ?? 0), 0)
  return { position: position + otherPosition, unknown: unknown + otherUnknown, guessed, bytes }
}

function idLists(devices?: readonly string[]): { list: string; key: string }[] {
  if (!devices) return LISTS.map((list) => ({ list, key: keys.misunderstood(list) }))
  return devices.flatMap((device) => LISTS.map((list) => ({ list, key: keys.misunderstood(`${list}:${device}`) })))
}

const LISTS = ['position', 'unknown', 'position~', 'unknown~', 'guessed~'] as const

/**
 * What one device may have in a list: as much where it is not configured, so that no answer tells whether it is. `shares`: the
 * part of the share of memory that the lists may have in all, of configured devices, and of others.
 */
const BOUNDS = {
  position: { frames: 1000, bytes: 1 << 20, shares: [0.4, 0.1] },
  unknown: { frames: 100, bytes: 1 << 18, shares: [0.2, 0.1] },
  guessed: { frames: 1000, bytes: 1 << 20, shares: [0.2, 0.2] },
} as const

/** What becomes of a frame for which there is no room: see `keep_frames`. */
function whenFull({ isProven, kind }: KeptFrame): 0 | 1 | 2 {
  if (kind === 'position') return 0
  return isProven || kind === 'guessed' ? 1 : 2
}

const KEYS = [...['frames', 'sizes', 'due', ''].map((part) => keys.misunderstood(part)), keys.roster('version')]
const MAX_CALL_BYTES = 1 << 19
/** On their way to Redis, half of it of senders that are not certain. Redis writes as much in a tenth of a second. */
const MAX_WAITING_BYTES = 4 << 20
const SLICE = 500
/** Ten years. */
const NEVER_MS = 3650 * 86_400_000
