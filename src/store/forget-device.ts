import { forgetRecord } from './device-record.ts'
import { HELD_LISTS, heldList } from './held.ts'
import { companyOfLog } from './copied.ts'
import { forgetCopied } from './copies.ts'
import { forgetCorrections } from './corrections.ts'
import { forgetKept } from './kept-fixes.ts'
import { dropFrames, frameIds } from './kept-frames.ts'
import { keys } from './keys.ts'
import { type Fate, sweep, sweepAll } from './move.ts'
import { listOf, seize, sweepRefused } from './parked.ts'
import { forgetParkedCopies } from './parked-copies.ts'
import { deviceOf, MAX_DEVICE_BYTES, packDevice } from './record.ts'
import type { Shard, Store } from './shards.ts'
import { membersOf } from './slices.ts'
import { sumOver } from './survey.ts'
import { forgetTried } from './trial.ts'
import { forgetWatched } from './watched-frames.ts'

/** How much was deleted of a device. */
export interface ForgottenDevice {
  /** Fixes, counted as discarded. */
  readonly waiting: number
  readonly parked: number
  readonly held: number
  /** Strings of duplicate marks, one for each 34 minutes of fixes. */
  readonly marks: number
  /** Lists and entries about the last messages of the device. */
  readonly contacts: number
  /** Frames that were not understood. */
  readonly frames: number
  /** Deliveries that were kept. */
  readonly kept: number
  /** Fixes that waited, or were parked, for copies. */
  readonly copied: number
  /** Lanes that a worker pushes at this moment: fixes of the device may be left there. */
  readonly busy: number
}

/**
 * Deletes everything that Redis has of a device, except its entry, its assignments and the audit log. `ids`: spellings of its
 * id; `isReached`: the lanes to delete its fixes from. Data that arrive in the meantime stay.
 */
export async function forgetDevice(
  redis: Store,
  ids: ReadonlySet<string>,
  isReached: (lane: string) => boolean = () => true,
): Promise<ForgottenDevice> {
  const [shard] = Array.from(ids, (id) => redis.shardOf(id))
  const fate = (record: Buffer): Fate => (ids.has(deviceOf(record)) ? DELETED : 'stays')
  for (const id of ids) await forgetCorrections(shard, id)
  const places = Array.from(ids, (device) => HELD_LISTS.map((lists) => ({ lists, device }))).flat()
  const held = await sumOver(places, (place) => sweepAll(shard, heldList(shard, place), fate))
  const lanesIn = async (zset: 'refusedLanes' | 'schedule') => {
    return (await membersOf(shard, shard.keyNames[zset])).filter(isReached)
  }
  const forgetRefused = async () =>
    sumOver(await lanesIn('refusedLanes'), async (lane) => (await sweepRefused(shard, lane, fate)).left)
  const refused = await forgetRefused()
  const { parked, ...lanes } = await forgetInLanes(shard, { ids, lanes: await lanesIn('schedule'), fate })
  // A worker may have refused some before its lane was seized.
  const refusedSince = await forgetRefused()
  const marks = await forgetMarks(shard, ids)
  const contacts = await sumOver([...ids], (id) => forgetContacts(redis, id))
  const kept = await sumOver([...ids], (id) => forgetKept(shard, id))
  const frames = await dropFrames(await frameIds(redis, [...ids]))
  const isReachedLog = (log: string) => isReached(`${companyOfLog(log)}/`)
  const copied = (await forgetCopied(shard, ids, isReachedLog)) + (await forgetParkedCopies(shard, ids, isReachedLog))
  return { held, parked: parked + refused + refusedSince, ...lanes, marks, contacts, frames, kept, copied }
}

/** Leases only the lanes that have something of the device, and gives them back. */
async function forgetInLanes(
  shard: Shard,
  { ids, lanes, fate }: { ids: ReadonlySet<string>; lanes: readonly string[]; fate: (record: Buffer) => Fate },
) {
  const gone = { waiting: 0, parked: 0, busy: 0 }
  const shardKeys = shard.keyNames
  for (const lane of await lanesWith(shard, ids, lanes)) {
    if (!(await hasAny(shard, shardKeys.lane(lane), ids))) continue
    const isParked = (await shard.hexists(shardKeys.parked, lane)) === 1
    const token = await seize(shard, lane)
    if (token === undefined) gone.busy++
    if (!token) continue
    const { left } = await sweep(shard, { ...listOf(shard, lane), token }, fate)
    gone[isParked ? 'parked' : 'waiting'] += left
    await shard.run('postpone', [shardKeys.schedule, shardKeys.upstream], [lane, token, 0])
  }
  return gone
}

/** Resolves to the lanes that may have records of the device, including all lanes with many records. */
async function lanesWith(shard: Shard, ids: ReadonlySet<string>, lanes: readonly string[]): Promise<string[]> {
  const texts = [...ids]
    .filter((id) => Buffer.byteLength(id) <= MAX_DEVICE_BYTES)
    .map((id) => packDevice(id).subarray(1))
  const found: string[] = []
  for (let at = 0; at < lanes.length; at += LANES_AT_ONCE) {
    const asked = [texts.length, ...texts, ...lanes.slice(at, at + LANES_AT_ONCE)]
    const having = await shard.run('lanes_with', [shard.keyNames.lanePrefix], asked)
    found.push(...(having as Buffer[]).map(String))
  }
  return found
}

async function hasAny(shard: Shard, list: string, ids: ReadonlySet<string>): Promise<boolean> {
  for (let at = 0; ; at += SLICE) {
    const records = await shard.lrangeBuffer(list, at, at + SLICE - 1)
    if (records.some((record) => ids.has(deviceOf(record)))) return true
    if (records.length < SLICE) return false
  }
}

/**
 * Lets the marks of a device expire, and the script that deletes expired marks deletes them. Returns how many strings
 * there were.
 */
async function forgetMarks(shard: Shard, ids: ReadonlySet<string>): Promise<number> {
  const { marksPrefix, markExpiries, markBytes, latestSpans } = shard.keyNames
  const names: string[] = []
  for (const id of ids) {
    const scan = shard.zscanStream(markExpiries, { match: `${id.replaceAll(/[[\]*?\\^]/g, '\\$&')}:*`, count: SLICE })
    for await (const slice of scan) names.push(...(slice as string[]).filter((_, index) => index % 2 === 0))
  }
  const own = [...new Set(names)].filter((name) => ids.has(name.slice(0, name.lastIndexOf(':'))))
  for (let at = 0; at < own.length; at += SLICE)
    await shard.zadd(markExpiries, 'XX', ...own.slice(at, at + SLICE).flatMap((name) => [0, name]))
  const touched = [marksPrefix, markExpiries, markBytes]
  while (own.length > 0 && ((await shard.run('forget', touched, [SLICE, 0])) as number) > 0);
  await shard.hdel(latestSpans, ...ids)
  return own.length
}

/** Deletes when the device was last heard, and its events. */
async function forgetContacts(redis: Store, id: string): Promise<number> {
  const [noted, arrived] = await Promise.all([
    forgetRecord(redis, id),
    redis.hdel(keys.arrivedDevices, id),
    // The former company of the device is no longer needed.
    redis.hdel(keys.roster('former'), id),
    forgetWatched(redis, id),
    forgetTried(redis, id),
  ])
  return noted + arrived
}

const DELETED = { gone: 'discarded:deleted' } as const
const SLICE = 500
/** This many lanes with 100 records each take Redis a millisecond. */
const LANES_AT_ONCE = 40
