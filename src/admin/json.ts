import { laneIds } from '../domain/ids.ts'
import { type Interval, localFromUtc } from '../domain/times.ts'
import type { Stay } from '../roster/device-entry.ts'

/** An instant as the admin port writes it, RFC 3339; undefined if there is none. */
export function instant(ms: number | undefined): string | undefined {
  return ms !== undefined && Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : undefined
}

/** From when until when, ms UTC. */
export function spanJson({ from, until }: Interval) {
  return { from_at: instant(from) ?? '', until_at: instant(until) ?? '' }
}

/** The local date of an instant, ms UTC: `2026-11-20`. */
export function dateOf(at: number, zone: string): string {
  return new Date(localFromUtc(at, zone)).toISOString().slice(0, 10)
}

/** The lane of a device, when the assignment holds, and what assigns it. */
export function stayJson({ lane, from, until, source }: Stay) {
  return { ...laneIds(lane.key), from_at: instant(from * 1000), until_at: instant(until * 1000), source }
}

/** The last instant that a Date can hold, ms UTC. */
const LAST_MS = 8.64e15
