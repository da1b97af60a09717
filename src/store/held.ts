import { type Fate, type Swept, sweep, sweepAll } from './move.ts'
import { deviceOf, HOLD_REASONS, type HoldReason, packDevice, packRecords, positionOf, receivedAt } from './record.ts'
import { membersOf } from './slices.ts'
import type { AppenderOptions, RecordSource } from './store-records.ts'
import { sumOver } from './survey.ts'
import type { Shard, Store } from './shards.ts'

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

/** Held fixes of one device in one of the lists. */
export interface HeldPlace {
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

/** Resolves to the devices with held fixes in these lists; default: in all lists. */
export async function heldDevices(redis: Store, ...some: readonly HeldLists[]): Promise<string[]> {
  const lists = some.length > 0 ? some : HELD_LISTS
  const found = await redis.inShards((shard) => Promise.all(lists.map((each) => heldDevicesIn(shard, each))))
  return [...new Set(found.flat(2))]
}

function heldDevicesIn(shard: Shard, { name }: HeldLists): Promise<string[]> {
  return membersOf(shard, shard.keyNames.heldDevices(name))
}

/** Resolves to the number of devices with held fixes, and to a mark that changes with the held fixes. */
export async function heldMark(redis: Store): Promise<{ readonly devices: number; readonly mark: string }> {
  const ofShards = await redis.inShards(async (shard) => {
    const keys = shard.keyNames
    const counts = await Promise.all(HELD_LISTS.map(({ name }) => shard.zcard(keys.heldDevices(name))))
    return { counts, fixes: await shard.get(keys.heldFixes) }
  })
  const devices = ofShards.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)
  return { devices, mark: ofShards.flatMap(({ counts, fixes }) => [...counts, fixes]).join() }
}

export async function countHeldFixes(redis: Store): Promise<number> {
  const counts = await redis.inShards((shard) => shard.get(shard.keyNames.heldFixes))
  return counts.reduce((sum, count) => sum + Number(count), 0)
}

/** How many fixes these places hold, in their order. */
export async function countHeld(redis: Store, places: readonly HeldPlace[]): Promise<number[]> {
  const counts = places.map((place) => {
    const shard = redis.shardOf(place.device)
    return shard.llen(heldList(shard, place).list)
  })
  return Promise.all(counts)
}

/** Resolves to those of `devices` that have held fixes in this list. */
export async function heldAmong(redis: Store, { name }: HeldLists, devices: readonly string[]): Promise<string[]> {
  const asked = [...new Set(devices)]
  if (asked.length === 0) return []
  const scores = await redis.inShards((shard) => shard.zmscore(shard.keyNames.heldDevices(name), ...asked))
  return asked.filter((_, index) => scores.some((ofShard) => ofShard[index] !== null))
}

/**
 * Claims devices whose held fixes are due to be judged, at most 200 for each list of a shard. Other gateways do not get them
 * for a minute.
 */
export async function claimHeld(redis: Store): Promise<HeldPlace[]> {
  const places = await redis.inShards(async (shard) => {
    const claimed = (await shard.run('claim_held', zsetsOf(shard), [SLICE, CLAIM_MS])) as Buffer[][]
    return claimed.flatMap((names, index) =>
      names.map((name) => ({ lists: HELD_LISTS[index], device: name.toString() })),
    )
  })
  return places.flat()
}

/**
 * Marks the devices in `names` that have held fixes, and tells every shard the version of the roster. The roster may give
 * these fixes a lane, so new fixes go behind them. Resolves to the number of marked devices, which may count some several
 * times.
 */
export async function markReleasing(redis: Store, version: number, names: readonly string[]): Promise<number> {
  const byShard = Map.groupBy(names, (name) => redis.shardOf(name))
  const found = await redis.inShards((shard) => markIn(shard, version, byShard.get(shard) ?? []))
  return found.reduce((sum, count) => sum + count, 0)
}

async function markIn(shard: Shard, version: number, names: readonly string[]): Promise<number> {
  const keys = shard.keyNames
  const touched = [keys.releasing, keys.rosterVersion, ...zsetsOf(shard)]
  const calls: Promise<unknown>[] = []
  for (let at = 0; at === 0 || at < names.length; at += MARKED_AT_ONCE) {
    const args = [version, shard.number === 0 ? '' : '1', ...names.slice(at, at + MARKED_AT_ONCE)]
    calls.push(shard.run('mark_releasing', touched, args))
  }
  return ((await Promise.all(calls)) as number[]).reduce((sum, count) => sum + count, 0)
}

/** The devices that are marked in any shard, by ids without leading zeros. */
export async function releasingDevices(redis: Store): Promise<Set<string>> {
  return new Set((await redis.inShards((shard) => shard.zrange(shard.keyNames.releasing, '0', '-1'))).flat())
}

/**
 * Resolves to the mark of a device, by its id without leading zeros: the version of the roster, or up to 1 more; null: it has
 * none.
 */
export async function releaseMark(redis: Store, device: string): Promise<string | null> {
  const shard = redis.shardOf(device)
  return shard.zscore(shard.keyNames.releasing, device)
}

/**
 * Removes the mark of a device after its held fixes were judged. Returns false if fixes have come since, or if the device was
 * marked again.
 */
export async function endRelease(
  redis: Store,
  { device, mark, looked }: { device: string; mark: string; looked: readonly LookedAt[] },
): Promise<boolean> {
  const shard = redis.shardOf(device)
  const lists = looked.map(({ place }) => heldList(shard, place).list)
  const stayed = looked.map((each) => each.stayed)
  return (await shard.run('end_release', [shard.keyNames.releasing, ...lists], [device, mark, ...stayed])) === 1
}

/** How many held fixes stayed in a list. */
interface LookedAt {
  readonly place: HeldPlace
  readonly stayed: number
}

/**
 * Notes that the held fixes of a place were judged: `stayed` of them stay, and are judged again at `at` (ms UTC), or earlier
 * if new fixes need it.
 */
export async function lookAgain(redis: Store, place: HeldPlace, { stayed, at }: { stayed: number; at: number }) {
  const shard = redis.shardOf(place.device)
  const { index, list, name } = heldList(shard, place)
  await shard.run('look_again', [index, list], [name, stayed, Math.round(at)])
}

/** Makes all held fixes of these lists due to be judged. */
export async function lookAtAll(redis: Store, lists: readonly HeldLists[]): Promise<void> {
  await redis.inShards(async (shard) => {
    for (const { name } of lists) {
      const devices = shard.keyNames.heldDevices(name)
      await shard.zunionstore(devices, 1, devices, 'WEIGHTS', 0)
    }
  })
}

/** Sweeps held fixes of a device. A list that changes during the sweep waits for the next time. */
export async function sweepHeld(
  redis: Store,
  options: AppenderOptions,
  { place, fate }: { place: HeldPlace; fate: (record: Buffer) => Fate },
): Promise<Swept> {
  const shard = redis.shardOf(place.device)
  return sweep(shard, { ...heldList(shard, place), options }, fate)
}

/**
 * Releases the fixes of a device that are held because they are off its track: makes them held fixes without a route that are
 * due at once, so that a gateway finds their lanes. `ids`: spellings of its id. Resolves to their number.
 */
export async function releaseSuspicious(redis: Store, ids: ReadonlySet<string>): Promise<number> {
  const places = Array.from(ids, (device) => SUSPICIOUS_LISTS.map((lists) => ({ lists, device }))).flat()
  return sumOver(places, (place) => {
    const { device, lists } = place
    const fate = (record: Buffer): Fate => {
      const records = packRecords([positionOf(record)], packDevice(deviceOf(record)), receivedAt(record))
      return { held: 'no_route', device, records, isProven: lists.isProven, lookAt: 0, rosterVersion: 0 }
    }
    const shard = redis.shardOf(device)
    return sweepAll(shard, heldList(shard, place), fate)
  })
}

const SUSPICIOUS_LISTS = HELD_LISTS.filter(({ reason }) => reason === 'suspicious')

/** The list of a place, in the shard of its device. */
export function heldList(shard: Shard, { lists: { name }, device }: HeldPlace): RecordSource {
  const { held, heldDevices: devices } = shard.keyNames
  return { list: held(name, device), index: devices(name), name: device }
}

/** Yields every device with held fixes, counted from the stored lists. */
export async function* surveyHeld(redis: Store): AsyncGenerator<HeldDevice> {
  for (const shard of redis.shards)
    for (const lists of HELD_LISTS) {
      const devices = await heldDevicesIn(shard, lists)
      for (let at = 0; at < devices.length; at += SLICE) {
        const states = devices.slice(at, at + SLICE).map((device) => heldIn(shard, { lists, device }))
        yield* (await Promise.all(states)).filter(({ fixes }) => fixes > 0)
      }
    }
}

/** Resolves to the held fixes of one device, each list with its latest record. */
export async function heldOf(redis: Store, device: string): Promise<(HeldDevice & { readonly latest: Buffer })[]> {
  const shard = redis.shardOf(device)
  const found = HELD_LISTS.map(async (lists) => {
    const latest = await shard.lindexBuffer(heldList(shard, { lists, device }).list, -1)
    return latest ? [{ ...(await heldIn(shard, { lists, device })), latest }] : []
  })
  return (await Promise.all(found)).flat()
}

async function heldIn(shard: Shard, place: HeldPlace): Promise<HeldDevice> {
  const { list } = heldList(shard, place)
  const [fixes, oldest] = await Promise.all([shard.llen(list), shard.lindexBuffer(list, 0)])
  return { reason: place.lists.reason, device: place.device, fixes, oldestAt: oldest ? receivedAt(oldest) : undefined }
}

function zsetsOf(shard: Shard): string[] {
  return HELD_LISTS.map(({ name }) => shard.keyNames.heldDevices(name))
}

/** Devices at once. */
const SLICE = 200
const CLAIM_MS = 60_000
const MARKED_AT_ONCE = 500
