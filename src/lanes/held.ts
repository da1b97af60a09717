import { keys } from './keys.ts'
import { type Fate, type Swept, sweep } from './move.ts'
import { HOLD_REASONS, type HoldReason, receivedAt } from './record.ts'
import { type Redis, scripts } from './redis.ts'
import type { AppenderOptions } from './store.ts'

/** The lists of what is held for one reason, those of proven or of unproven senders: one for each device. */
export interface HeldLists {
  readonly reason: HoldReason
  readonly isProven: boolean
  /** As it is in their keys. */
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

/** The devices that have some of these held fixes. */
export function heldDevices(redis: Redis, { name }: HeldLists): Promise<string[]> {
  return redis.zrange(keys.heldDevices(name), '0', '-1')
}

/** How many devices have held fixes, for each reason and kind of sender, and what changes with them. */
export async function heldMark(redis: Redis): Promise<{ readonly devices: number; readonly mark: string }> {
  const counts = await Promise.all(HELD_LISTS.map(({ name }) => redis.zcard(keys.heldDevices(name))))
  const fixes = await redis.get(keys.heldFixes)
  return { devices: counts.reduce((sum, count) => sum + count, 0), mark: [...counts, fixes].join() }
}

/** How many fixes these lists hold of devices, in their order. */
export async function countHeld(redis: Redis, places: readonly HeldPlace[]): Promise<number[]> {
  return Promise.all(places.map(({ lists, device }) => redis.llen(keys.held(lists.name, device))))
}

/** Those of these devices that have some of these held fixes. */
export async function heldAmong(redis: Redis, { name }: HeldLists, devices: readonly string[]): Promise<string[]> {
  const asked = [...new Set(devices)]
  if (asked.length === 0) return []
  const scores = await redis.zmscore(keys.heldDevices(name), ...asked)
  return asked.filter((_, index) => scores[index] !== null)
}

/**
 * Claims devices whose held fixes are to be looked at by now, up to 200 for each of the lists. Another gateway does not get them
 * for a minute.
 */
export async function claimHeld(redis: Redis): Promise<HeldPlace[]> {
  const claimed = (await scripts(redis)('claim_held', ZSETS, [SLICE, CLAIM_MS])) as Buffer[][]
  return claimed.flatMap((names, index) => names.map((name) => ({ lists: HELD_LISTS[index], device: name.toString() })))
}

/**
 * Marks those of these devices (undefined: all) that have held fixes: the version of the roster may give these a place, so new
 * fixes go behind them. Commands are sent before this returns. Answers how many were found; a device may count several times.
 */
export async function markReleasing(redis: Redis, version: number, names: readonly string[] | undefined) {
  const calls: Promise<unknown>[] = []
  for (let at = 0; at === 0 || at < (names?.length ?? 0); at += MARKED_AT_ONCE) {
    const args = names ? [version, '1', ...names.slice(at, at + MARKED_AT_ONCE)] : [version, '']
    calls.push(scripts(redis)('mark_releasing', [keys.releasing, ...ZSETS], args))
  }
  const found = (await Promise.all(calls)) as number[]
  return found.reduce((sum, count) => sum + count, 0)
}

/** The devices that are marked, by ids without leading zeros. */
export function releasingDevices(redis: Redis): Promise<string[]> {
  return redis.zrange(keys.releasing, '0', '-1')
}

/** Whether a device is marked. */
export async function isReleasing(redis: Redis, device: string): Promise<boolean> {
  return (await redis.zscore(keys.releasing, device)) !== null
}

/**
 * Removes the mark of a device, whose held fixes were looked at by this version of the roster. Answers false where more has come,
 * or where a later version has marked it.
 */
export async function endRelease(
  redis: Redis,
  { device, version, looked }: { device: string; version: number; looked: readonly LookedAt[] },
): Promise<boolean> {
  const lists = looked.map(({ place }) => keys.held(place.lists.name, place.device))
  const stayed = looked.map((each) => each.stayed)
  return (await scripts(redis)('end_release', [keys.releasing, ...lists], [device, version, ...stayed])) === 1
}

/** How many held fixes stayed in a list. */
interface LookedAt {
  readonly place: HeldPlace
  readonly stayed: number
}

/** Has held fixes, of which so many were looked at, looked at again at a time, ms UTC: earlier where more has come that needs it. */
export async function lookAgain(redis: Redis, place: HeldPlace, { stayed, at }: { stayed: number; at: number }) {
  const { device, lists } = place
  const touched = [keys.heldDevices(lists.name), keys.held(lists.name, device)]
  await scripts(redis)('look_again', touched, [device, stayed, Math.round(at)])
}

/** Has all held fixes of these lists looked at soon. */
export async function lookAtAll(redis: Redis, lists: readonly HeldLists[]): Promise<void> {
  for (const { name } of lists) await redis.zunionstore(keys.heldDevices(name), 1, keys.heldDevices(name), 'WEIGHTS', 0)
}

/** Sweeps held fixes of a device. A list that is changed meanwhile waits for the next time. */
export async function sweepHeld(
  redis: Redis,
  options: AppenderOptions,
  { lists, device, fate }: { lists: HeldLists; device: string; fate: (record: Buffer) => Fate },
): Promise<Swept> {
  const list = { list: keys.held(lists.name, device), index: keys.heldDevices(lists.name), name: device, options }
  return sweep(redis, list, fate)
}

/** Every device with held fixes, counted from what is stored. */
export async function* surveyHeld(redis: Redis): AsyncGenerator<HeldDevice> {
  for (const lists of HELD_LISTS) {
    const devices = await heldDevices(redis, lists)
    for (let at = 0; at < devices.length; at += SLICE) {
      const some = await Promise.all(devices.slice(at, at + SLICE).map((device) => heldFor(redis, lists, device)))
      yield* some.filter(({ fixes }) => fixes > 0)
    }
  }
}

/** What is held of one device, each with its latest record. */
export async function heldOf(redis: Redis, device: string): Promise<(HeldDevice & { readonly latest: Buffer })[]> {
  const found = HELD_LISTS.map(async (lists) => {
    const latest = await redis.lindexBuffer(keys.held(lists.name, device), -1)
    return latest ? [{ ...(await heldFor(redis, lists, device)), latest }] : []
  })
  return (await Promise.all(found)).flat()
}

async function heldFor(redis: Redis, { name, reason }: HeldLists, device: string): Promise<HeldDevice> {
  const list = keys.held(name, device)
  const [fixes, oldest] = await Promise.all([redis.llen(list), redis.lindexBuffer(list, 0)])
  return { reason, device, fixes, oldestAt: oldest ? receivedAt(oldest) : undefined }
}

/** Devices at once. */
const SLICE = 200
const CLAIM_MS = 60_000
const MARKED_AT_ONCE = 500
const ZSETS = HELD_LISTS.map(({ name }) => keys.heldDevices(name))
