import { localDay } from '../../domain/times.ts'
import { type AirDay, readAir, type Store } from '../../store/index.ts'
import { dateOf } from '../json.ts'
import type { AirJson } from '../schemas/devices.ts'

/** A local day, ms UTC, and what a device carried on the air on it. */
export interface DayOnAir extends Partial<AirDay> {
  readonly from: number
  readonly until: number
}

interface AirQuestion {
  readonly zone: string
  /** ms UTC. */
  readonly now: number
  /** Whether a local day belongs to the company that asks. */
  readonly isOwn: (day: number) => boolean
}

/** Resolves to the data volume of a device in a month: see `airOf`. */
export async function airOfDevice(
  redis: Store,
  device: string,
  { zone, now, isOwn }: AirQuestion,
): Promise<AirJson | undefined> {
  const today = localDay(now, zone)
  const yesterday = localDay(today.from - 1, zone)
  const days = [localDay(yesterday.from - 1, zone), yesterday, today].filter(({ from }) => isOwn(from))
  const noted = await readAir(
    redis,
    device,
    days.map(({ from }) => from),
  )
  const all = days.map((day, index) => ({ ...day, ...noted[index] }))
  return airOf(all, now, (at) => dateOf(at, zone))
}

/**
 * Pure. Returns the data volume of a device in a month, estimated from its last full day; without a full day, from the whole
 * time of counting, which must be at least an hour. `days`: the latest ones, earliest first, the present one included.
 */
export function airOf(days: readonly DayOnAir[], now: number, date: (at: number) => string): AirJson | undefined {
  const counted = days.filter((day) => day.bytes !== undefined)
  const [first, ...rest] = counted
  if (!first) return undefined
  const { since = now } = first
  const isFull = ({ from, until }: DayOnAir) => until <= now && (from !== first.from || since < from + HOUR_MS)
  const full = [first, ...rest].findLast(isFull)
  const ms = full ? full.until - full.from : now - since
  if (ms < HOUR_MS) return undefined
  const sum = (figure: 'bytes' | 'connections' | 'fixes') =>
    (full ? [full] : counted).reduce((all, day) => all + (day[figure] ?? 0), 0)
  const [bytes, connections, fixes] = [sum('bytes'), sum('connections'), sum('fixes')]
  return {
    bytes_per_month: Math.round((bytes * MONTH_MS) / ms),
    connections_per_day: Math.round((connections * DAY_MS) / ms),
    fixes_per_day: Math.round((fixes * DAY_MS) / ms),
    connects_anew: connections >= ANEW && connections >= fixes * ANEW_SHARE,
    day: date(full?.from ?? now),
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MONTH_MS = 30 * DAY_MS
/** Fewer connections do not show that the device connects anew for each fix. */
const ANEW = 10
const ANEW_SHARE = 0.8
