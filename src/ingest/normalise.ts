import type { Fix } from '../../protocols/kit/index.ts'
import type { Position } from '../lanes/index.ts'

/** Why a fix is not pushed. `clock`: from the future; `no_route` is found later, by the directory. */
export type FilterReason = 'invalid' | 'zero' | 'out_of_range' | 'past' | 'clock' | 'no_route'

/** Of `filter` in gateway.yaml. */
export interface FilterOptions {
  /** Metres of error that one unit of HDOP stands for. */
  readonly uereM: number
  /** Metres, of a device that says nothing of its error. */
  readonly defaultAccuracyM: number
  readonly maxFutureMs: number
  /** null: a fix is never too old. */
  readonly maxAgeMs: number | null
}

/**
 * A device's fix as the tracking API takes it, or the reason why it is not pushed. `now`, and `time`, the fix's own where
 * that is not UTC: ms UTC.
 */
export function normalise(fix: Fix, now: number, options: FilterOptions, time = fix.time): Position | FilterReason {
  const { latitude, longitude } = fix
  if (!fix.valid) return 'invalid'
  if (latitude === 0 && longitude === 0) return 'zero'
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return 'out_of_range'
  if (!(time >= 0) || (options.maxAgeMs !== null && time < now - options.maxAgeMs)) return 'past'
  if (time > now + options.maxFutureMs || time > LAST_TIME) return 'clock'
  return {
    timestamp: Math.floor(time / 1000),
    latitude,
    longitude,
    accuracy: accuracyOf(fix, options),
    heading: fix.heading !== undefined && fix.heading >= 0 ? Math.round(fix.heading) % 360 : undefined,
    speed: fix.speed !== undefined && fix.speed >= 0 ? fix.speed : undefined,
  }
}

/**
 * The time of a fix whose receiver counts GPS weeks from 0 to 1023: such a one is 1,024 weeks early. Only where that
 * makes it a fix of the last year, else the time as it is. ms UTC.
 */
export function repairRollover(time: number, now: number): number {
  const repaired = time + ROLLOVER
  return repaired <= now + DAY && repaired > now - 366 * DAY ? repaired : time
}

const DAY = 86_400_000
const ROLLOVER = 1024 * 7 * DAY
/** Records keep seconds in 32 bits. */
const LAST_TIME = 0xffff_ffff * 1000

function accuracyOf({ accuracy, hdop }: Fix, { uereM, defaultAccuracyM }: FilterOptions): number {
  if (accuracy !== undefined && accuracy >= 0) return wholeMetres(accuracy)
  if (hdop !== undefined && hdop > 0) return wholeMetres(hdop * uereM)
  return wholeMetres(defaultAccuracyM)
}

/** Rounded up, but not for the noise of a product such as 1.1 × 5. */
function wholeMetres(metres: number): number {
  return Math.max(1, Math.ceil(metres - 1e-9))
}
