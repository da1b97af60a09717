import type { AppenderOptions } from './append.ts'
import type { HoldReason, Part } from './group.ts'
import { keys } from './keys.ts'
import { move } from './move.ts'
import { receivedAt } from './record.ts'
import type { Redis } from './redis.ts'

export const HOLD_REASONS = ['unknown', 'no_route', 'clock'] as const satisfies readonly HoldReason[]

/** What is to become of a held record: it stays, it goes (a part of a lane), or it is gone under a name of the account. */
export type Fate = 'stays' | Part | { readonly gone: string }

/** Held fixes of one device for one reason. */
export interface HeldDevice {
  readonly reason: HoldReason
  readonly device: string
  readonly fixes: number
  /** When the oldest was received, ms UTC. */
  readonly oldestAt?: number
}

/** The devices of which fixes are held for a reason. */
export async function heldDevices(redis: Redis, reason: HoldReason): Promise<string[]> {
  return redis.zrange(index(reason), '0', '-1')
}

/** Every device with held fixes, counted from what is stored. */
export async function* surveyHeld(redis: Redis): AsyncGenerator<HeldDevice> {
  for (const reason of HOLD_REASONS) {
    const devices = await heldDevices(redis, reason)
    for (let at = 0; at < devices.length; at += SLICE) {
      const some = await Promise.all(devices.slice(at, at + SLICE).map((device) => heldFor(redis, reason, device)))
      yield* some.filter(({ fixes }) => fixes > 0)
    }
  }
}

/** What is held of one device, by reason, each with its latest record. */
export async function heldOf(redis: Redis, device: string): Promise<(HeldDevice & { readonly latest: Buffer })[]> {
  const found = await Promise.all(
    HOLD_REASONS.map(async (reason) => {
      const [held, latest] = await Promise.all([
        heldFor(redis, reason, device),
        redis.lindexBuffer(list(reason, device), -1),
      ])
      return latest ? [{ ...held, latest }] : []
    }),
  )
  return found.flat()
}

async function heldFor(redis: Redis, reason: HoldReason, device: string): Promise<HeldDevice> {
  const [fixes, head] = await Promise.all([
    redis.llen(list(reason, device)),
    redis.lindexBuffer(list(reason, device), 0),
  ])
  return { reason, device, fixes, oldestAt: head ? receivedAt(head) : undefined }
}

/**
 * Goes through what is held of a device, in order, and does with each record what `fate` says. A list that somebody else
 * changes meanwhile is left for the next time. Answers how many records did not stay.
 */
export async function sweepHeld(
  redis: Redis,
  options: AppenderOptions,
  { reason, device, fate }: { reason: HoldReason; device: string; fate: (record: Buffer) => Fate },
): Promise<number> {
  const where = { list: list(reason, device), index: index(reason), name: device }
  let moved = 0
  for (let from = 0; ; ) {
    const entries = await redis.lrangeBuffer(where.list, from, from + SLICE - 1)
    if (entries.length === 0) return moved
    const parts: Part[] = []
    const leaving: [number, Buffer][] = []
    const counters = new Map<string, number>()
    for (const [position, record] of entries.entries()) {
      const of = fate(record)
      if (of === 'stays') continue
      leaving.push([from + position, record])
      if ('gone' in of) counters.set(of.gone, (counters.get(of.gone) ?? 0) + 1)
      else parts.push(of)
    }
    const what = { ...where, entries: leaving, parts, counters: [...counters] }
    if (leaving.length > 0 && !(await move(redis, options, what))) return moved
    moved += leaving.length
    from += entries.length - leaving.length
  }
}

function index(reason: HoldReason): string {
  return keys.heldPrefix + reason
}

function list(reason: HoldReason, device: string): string {
  return `${keys.heldPrefix}${reason}:${device}`
}

const SLICE = 200
