import { type Fate, type ShardList, type Swept, sweep, sweepAll } from './move.ts'
import { deviceOf, HOLD_REASONS, type HoldReason, packDevice, packRecords, positionOf, receivedAt } from './record.ts'
import { type Redis, scripts } from './redis.ts'
import { inShards, isHome, keysOf, shardsOf } from './shards.ts'
import { membersOf } from './slices.ts'
import type { AppenderOptions } from './store.ts'
import { sumOver } from './survey.ts'

/** The lists of held fixes for one reason, either of proven or of unproven senders: one list for each device. */
export interface HeldLists {
  readonly reason: HoldReason
  readonly isProven: boolean
  /** The part of their keys that names the list. */
  readonly name: string
}

export const HELD_LISTS: readonly HeldLists[] = HOLD_REASONS.flatMap((reason) => [
  { reason, isProven: true, name: reason },
  { reason, isProven: false, name: `${reason}~` },
])

/**
 * Held fixes of one device in one of the lists of a shard: in that of the device, or behind these in those of its lanes, where they
 * arrived while the former were being released.
 */
export interface HeldPlace {
  readonly shard: Redis
  readonly lists: HeldLists
  readonly device: string
}

/** Held fixes of one device for one reason, of proven or unproven senders. */
export interface HeldDevice {
  readonly reason: HoldReason
  readonly device: string
  readonly fixes: number
  /** When the oldest was received, ms UTC. */
  readonly oldestAt?: number
}

/** The devices that have held fixes in some lists: in all of them, unless others are named. */
export async function heldDevices(redis: Redis, ...some: readonly HeldLists[]): Promise<string[]> {
  const lists = some.length > 0 ? some : HELD_LISTS
  const found = await inShards(redis, (shard) => Promise.all(lists.map((each) => heldDevicesIn(shard, each))))
  return [...new Set(found.flat(2))]
}

function heldDevicesIn(shard: Redis, { name }: HeldLists): Promise<string[]> {
  return membersOf(shard, keysOf(shard).heldDevices(name))
}

/** How many devices have held fixes, for each reason and kind of sender, and what changes with them. */
export async function heldMark(redis: Redis): Promise<{ readonly devices: number; readonly mark: string }> {
  const ofShards = await inShards(redis, async (shard) => {
    const keys = keysOf(shard)
    const counts = await Promise.all(HELD_LISTS.map(({ name }) => shard.zcard(keys.heldDevices(name))))
    return { counts, fixes: await shard.get(keys.heldFixes) }
  })
  const devices = ofShards.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)
  return { devices, mark: ofShards.flatMap(({ counts, fixes }) => [...counts, fixes]).join() }
}

/** How many fixes are held. */
export async function countHeldFixes(redis: Redis): Promise<number> {
  const counts = await inShards(redis, (shard) => shard.get(keysOf(shard).heldFixes))
  return counts.reduce((sum, count) => sum + Number(count), 0)
}

/** How many fixes these places hold, in their order. */
export async function countHeld(places: readonly HeldPlace[]): Promise<number[]> {
  return Promise.all(places.map(({ shard, lists, device }) => shard.llen(keysOf(shard).held(lists.name, device))))
}

/** How many fixes lists hold of devices in all shards, in their order. */
export async function countHeldOf(redis: Redis, entries: readonly Omit<HeldPlace, 'shard'>[]): Promise<number[]> {
  const ofShards = await inShards(redis, (shard) => countHeld(entries.map((entry) => ({ ...entry, shard }))))
  return entries.map((_, index) => ofShards.reduce((sum, counts) => sum + counts[index], 0))
}

/** The places of all shards where some of these lists may hold fixes of a device. */
export function heldPlaces(redis: Redis, some: readonly HeldLists[], device: string): HeldPlace[] {
  return shardsOf(redis).flatMap((shard) => some.map((lists) => ({ shard, lists, device })))
}

/** Those of `devices` that have held fixes in this list. */
export async function heldAmong(redis: Redis, { name }: HeldLists, devices: readonly string[]): Promise<string[]> {
  const asked = [...new Set(devices)]
  if (asked.length === 0) return []
  const scores = await inShards(redis, (shard) => shard.zmscore(keysOf(shard).heldDevices(name), ...asked))
  return asked.filter((_, index) => scores.some((ofShard) => ofShard[index] !== null))
}

/**
 * Claims devices whose held fixes are due to be judged, up to 200 for each list of a shard. Other gateways do not get
 * them for a minute.
 */
export async function claimHeld(redis: Redis): Promise<HeldPlace[]> {
  const places = await inShards(redis, async (shard) => {
    const claimed = (await scripts(shard)('claim_held', zsetsOf(shard), [SLICE, CLAIM_MS])) as Buffer[][]
    return claimed.flatMap((names, index) =>
      names.map((name) => ({ shard, lists: HELD_LISTS[index], device: name.toString() })),
    )
  })
  return places.flat()
}

/**
 * Marks the devices in `names` that have held fixes. The version of the roster may give these fixes a lane, so new fixes
 * go behind them. Returns how many were found; a device may count several times.
 */
export async function markReleasing(redis: Redis, version: number, names: readonly string[]): Promise<number> {
  const found = (await inShards(redis, (shard) => mark(shard, { version, names, isHeld: true }))).flat()
  if (found.length > 0 && shardsOf(redis).length > 1) await markInAllShards(redis, version, found)
  return found.length
}

/** Marks devices in every shard, since their lanes may be in any. */
export async function markInAllShards(redis: Redis, version: number, names: readonly string[]): Promise<void> {
  await inShards(redis, (shard) => mark(shard, { version, names: [...new Set(names)], isHeld: false }))
}

interface Marking {
  readonly version: number
  readonly names: readonly string[]
  /** Whether only those are marked that have held fixes. */
  readonly isHeld: boolean
}

async function mark(shard: Redis, { version, names, isHeld }: Marking): Promise<string[]> {
  const keys = keysOf(shard)
  const touched = [keys.releasing, keys.rosterVersion, ...zsetsOf(shard)]
  const calls: Promise<unknown>[] = []
  for (let at = 0; at === 0 || at < names.length; at += MARKED_AT_ONCE) {
    const args = [version, isHome(shard) ? '' : '1', isHeld ? '1' : '', ...names.slice(at, at + MARKED_AT_ONCE)]
    calls.push(scripts(shard)('mark_releasing', touched, args))
  }
  return ((await Promise.all(calls)) as Buffer[][]).flat().map(String)
}

/** The devices that are marked in any shard, by ids without leading zeros. */
export async function releasingDevices(redis: Redis): Promise<Set<string>> {
  return new Set((await inShards(redis, (shard) => shard.zrange(keysOf(shard).releasing, '0', '-1'))).flat())
}

/** Whether a device is marked in a shard. */
export async function isReleasing(shard: Redis, device: string): Promise<boolean> {
  return (await shard.zscore(keysOf(shard).releasing, device)) !== null
}

/**
 * Removes the mark of a device in a shard after its held fixes there were judged by this version of the roster. Returns
 * false if fixes have come since or are on their way to another shard, or if a later version has marked it.
 */
export async function endRelease(
  shard: Redis,
  { device, version, looked }: { device: string; version: number; looked: readonly LookedAt[] },
): Promise<boolean> {
  const { departing, held, releasing } = keysOf(shard)
  const lists = looked.map(({ place }) => held(place.lists.name, place.device))
  const stayed = looked.map((each) => each.stayed)
  return (await scripts(shard)('end_release', [releasing, departing, ...lists], [device, version, ...stayed])) === 1
}

/** How many held fixes stayed in a list. */
interface LookedAt {
  readonly place: HeldPlace
  readonly stayed: number
}

/**
 * Notes that the held fixes of a place were judged: `stayed` of them stay, and are judged again at `at` (ms UTC), or
 * earlier if fixes have come meanwhile that need it.
 */
export async function lookAgain(place: HeldPlace, { stayed, at }: { stayed: number; at: number }) {
  const { shard, index, list, name } = heldList(place)
  await scripts(shard)('look_again', [index, list], [name, stayed, Math.round(at)])
}

/** Makes all held fixes of these lists due to be judged. */
export async function lookAtAll(redis: Redis, lists: readonly HeldLists[]): Promise<void> {
  await inShards(redis, async (shard) => {
    for (const { name } of lists) {
      const devices = keysOf(shard).heldDevices(name)
      await shard.zunionstore(devices, 1, devices, 'WEIGHTS', 0)
    }
  })
}

/** Sweeps held fixes of a device. A list that is changed meanwhile waits for the next time. */
export async function sweepHeld(
  redis: Redis,
  options: AppenderOptions,
  { place, fate }: { place: HeldPlace; fate: (record: Buffer) => Fate },
): Promise<Swept> {
  return sweep(redis, { ...heldList(place), options }, fate)
}

/**
 * Releases the fixes of a device that are held because they are off its track: they are held as if they had no route, and due at
 * once, so that a gateway finds their lanes. `ids`: the ways in which its id is written. Returns how many they are.
 */
export async function releaseSuspicious(redis: Redis, ids: ReadonlySet<string>): Promise<number> {
  const places = Array.from(ids, (id) => heldPlaces(redis, SUSPICIOUS_LISTS, id)).flat()
  return sumOver(places, (place) => {
    const { device, lists } = place
    const fate = (record: Buffer): Fate => {
      const records = packRecords([positionOf(record)], packDevice(deviceOf(record)), receivedAt(record))
      return { held: 'no_route', device, records, isProven: lists.isProven, lookAt: 0, rosterVersion: 0 }
    }
    return sweepAll(redis, heldList(place), fate)
  })
}

const SUSPICIOUS_LISTS = HELD_LISTS.filter(({ reason }) => reason === 'suspicious')

/** The list of a place. */
export function heldList({ shard, lists: { name }, device }: HeldPlace): ShardList {
  const { held, heldDevices: devices } = keysOf(shard)
  return { shard, list: held(name, device), index: devices(name), name: device }
}

/** Every device with held fixes, counted from what is stored. */
export async function* surveyHeld(redis: Redis): AsyncGenerator<HeldDevice> {
  for (const shard of shardsOf(redis))
    for (const lists of HELD_LISTS) {
      const devices = await heldDevicesIn(shard, lists)
      for (let at = 0; at < devices.length; at += SLICE) {
        const places = devices.slice(at, at + SLICE).map((device) => ({ shard, lists, device }))
        yield* (await Promise.all(places.map(heldIn))).filter(({ fixes }) => fixes > 0)
      }
    }
}

/** What is held of one device, each with its latest record. */
export async function heldOf(redis: Redis, device: string): Promise<(HeldDevice & { readonly latest: Buffer })[]> {
  const found = heldPlaces(redis, HELD_LISTS, device).map(async (place) => {
    const latest = await place.shard.lindexBuffer(heldList(place).list, -1)
    return latest ? [{ ...(await heldIn(place)), latest }] : []
  })
  return (await Promise.all(found)).flat()
}

async function heldIn(place: HeldPlace): Promise<HeldDevice> {
  const { shard, list } = heldList(place)
  const [fixes, oldest] = await Promise.all([shard.llen(list), shard.lindexBuffer(list, 0)])
  return { reason: place.lists.reason, device: place.device, fixes, oldestAt: oldest ? receivedAt(oldest) : undefined }
}

function zsetsOf(shard: Redis): string[] {
  return HELD_LISTS.map(({ name }) => keysOf(shard).heldDevices(name))
}

/** Devices at once. */
const SLICE = 200
const CLAIM_MS = 60_000
const MARKED_AT_ONCE = 500
