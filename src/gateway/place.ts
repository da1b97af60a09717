import type { Fix } from '../../protocols/kit/index.ts'
import { LATE_MS } from '../domain/late.ts'
import { utcFromLocal } from '../domain/times.ts'
import type { DeviceEntry, Lane } from '../roster/device-entry.ts'
import type { Replica } from '../roster/replica.ts'
import type { Roster } from '../roster/roster.ts'
import {
  type CompanyLogs,
  type HoldReason,
  type Part,
  type Position,
  packDevice,
  packRecords,
  type Spoken,
  type Storable,
  withCopied,
} from '../store/index.ts'
import type { OwnClock } from './clock.ts'
import type { DeviceTrail } from './suspicion.ts'

/** Why a fix is not stored. `clock`: its time is in the future; `trial`: it came through a trial that pushes nothing. */
export type FilterReason = 'invalid' | 'zero' | 'out_of_range' | 'past' | 'clock' | 'no_route' | 'trial'

/** `filter` of gateway.yaml. */
export interface FilterOptions {
  /** Metres of error for one unit of HDOP. */
  readonly uereM: number
  /** Metres, for a device that reports no error. */
  readonly defaultAccuracyM: number
  readonly maxFutureMs: number
  /** null: a fix is never too old. */
  readonly maxAgeMs: number | null
  /** Whether fixes are held that are off the track of their device: see suspicion.ts. */
  readonly holdsSuspicious: boolean
}

/** `hold` of gateway.yaml: which fixes are kept until the configuration tells where they belong. */
export interface HoldOptions {
  readonly unknown: boolean
  readonly no_route: boolean
  readonly clock: boolean
  /** How long they are kept, ms. */
  readonly max_age: number
}

/** What decides where fixes go. */
export interface PlacingOptions {
  /** While it is not current, no fix is placed. */
  readonly replica: Pick<Replica, 'current' | 'roster' | 'version'>
  readonly clock: Pick<OwnClock, 'isInDoubt' | 'jumps' | 'now'>
  readonly filter: FilterOptions
  readonly hold: HoldOptions
  /** Returns which copies get the fixes of a company; undefined: none. */
  readonly logsOf?: (company: string) => CompanyLogs | undefined
}

/** The rules that decide where a fix goes. */
export interface PlacementRules extends Pick<PlacingOptions, 'filter' | 'hold' | 'logsOf'> {
  readonly roster: Roster
  readonly rosterVersion: number
  /** Whether our own clock is in doubt; fixes that seem too old are then held as well. */
  readonly isClockInDoubt: boolean
}

export interface FixOrigin {
  readonly device: string
  /** undefined: the device is not configured. */
  readonly entry: DeviceEntry | undefined
  /** When they arrived, ms UTC. */
  readonly now: number
  /** When they are stored, ms UTC, if their frame was understood later than it arrived. */
  readonly lateAt?: number
  /** Whether they came over a connection. The sender of a datagram may be forged. */
  readonly isProven: boolean
  /** How they were read, if the device is not configured; held fixes keep it. */
  readonly spoken?: Spoken
  /** The track of the device so far; the placed fixes extend it. */
  readonly trail?: Pick<DeviceTrail, 'isOff'>
}

/**
 * Where one fix goes. A held position keeps the device's time, and is converted to UTC when it is released. `lookAt`: when it
 * may belong somewhere else without a change of the roster, ms UTC; Infinity: never.
 */
export type Verdict =
  | { readonly lane: Lane; readonly held?: undefined; readonly position: Position; readonly lookAt?: undefined }
  | { readonly lane?: undefined; readonly held: HoldReason; readonly position: Position; readonly lookAt: number }
  | { readonly filtered: FilterReason }

/** Where the fixes of one frame go. */
export interface Placement extends Storable {
  readonly filtered: readonly FilterReason[]
  /** How far the last fix in the future is ahead of our clock, ms; 0: none is. */
  readonly aheadMs: number
  /** Number of fixes whose GPS week was repaired, without filtered ones. */
  readonly repaired: number
  /** The times of fixes with a lane and of held fixes, ms UTC; none is in the future. */
  readonly times: readonly number[]
  readonly heldTimes: readonly number[]
  /** Number of these fixes that arrived more than five minutes after their time. */
  readonly late: number
  /** The newest fix with a lane, or held with a known time: in UTC. */
  readonly lastFix: Fix | undefined
  /** The last fix without a lane. `held`: it is stored among the held fixes; with a known time it is in UTC. */
  readonly lastUnplaced: { readonly reason: string; readonly fix: Fix; readonly held?: true } | undefined
}

/**
 * Places each fix of one device in the lane of its own time, among the held fixes, or nowhere; keeps their order. Pure, except
 * that it extends `origin.trail`.
 */
export function placeFixes(fixes: readonly Fix[], origin: FixOrigin, rules: PlacementRules): Placement {
  const { now } = origin
  const runs: PositionRun[] = []
  const filtered: FilterReason[] = []
  const times: number[] = []
  const heldTimes: number[] = []
  let [aheadMs, repaired, late, lastTime] = [0, 0, 0, -Infinity]
  let lastFix: Fix | undefined
  let lastUnplaced: Placement['lastUnplaced']
  for (const fix of fixes) {
    const verdict = judge(fix, origin, rules)
    const isAhead = ('filtered' in verdict ? verdict.filtered : verdict.held) === 'clock'
    if (isAhead) aheadMs = fix.time - now
    if ('filtered' in verdict) {
      filtered.push(verdict.filtered)
      lastUnplaced = { reason: verdict.filtered, fix }
      continue
    }
    const { held, lane, lookAt = Infinity, position } = verdict
    const run = runs[runs.length - 1]
    if (run && run.lane?.key === lane?.key && run.held === held) {
      run.positions.push(position)
      run.fixes.push(fix)
      run.lookAt = Math.min(run.lookAt, lookAt)
    } else runs.push({ lane, held, lookAt, positions: [position], fixes: [fix] })
    const time = lane ? position.timestamp * 1000 : utcOf(fix.time, origin)
    if (time - fix.time > ROLLOVER_MS / 2) repaired++
    if (now - time > LATE_MS) late++
    const past = Math.min(time, now)
    if (held) heldTimes.push(past)
    else times.push(past)
    const inUtc = time === Math.floor(fix.time / 1000) * 1000 ? fix : { ...fix, time }
    if (held) lastUnplaced = { reason: held, fix: isAhead ? fix : inUtc, held: true }
    if (isAhead || time < lastTime) continue
    lastTime = time
    lastFix = inUtc
  }
  const parts = partsOf(runs, origin, rules)
  return { parts, received: fixes.length, filtered, aheadMs, repaired, times, heldTimes, late, lastFix, lastUnplaced }
}

/** Pure. Returns the same placement for fixes that are judged but not stored. */
export function unstored(placed: Placement): Placement {
  const { filtered, lastFix, lastUnplaced, received } = placed
  const dropped = Array<FilterReason>(received - filtered.length).fill('trial')
  return {
    ...placed,
    parts: [],
    filtered: [...filtered, ...dropped],
    times: [],
    heldTimes: [],
    lastUnplaced: lastFix ? { reason: 'trial', fix: lastFix } : lastUnplaced && { ...lastUnplaced, held: undefined },
  }
}

/** Returns where one fix goes. Pure, except that it extends `origin.trail`. */
export function judge(fix: Fix, origin: Omit<FixOrigin, 'device' | 'isProven'>, rules: PlacementRules): Verdict {
  const { entry, now, trail } = origin
  const time = utcOf(fix.time, origin)
  const position = normalise(fix, { now, time }, rules.filter)
  const isOutOfTime = position === 'clock' || (position === 'past' && rules.isClockInDoubt)
  if (typeof position === 'string' && !isOutOfTime) return { filtered: position }
  // Held as `unknown` even if its time is wrong: all held fixes of a device that is not configured count together.
  // Whether the device may have held fixes was decided before.
  if (!entry) return hold('unknown', fix, rules, { filtered: 'clock' })
  if (typeof position === 'string') {
    // A time that seems too old is judged again soon: our clock may not be in doubt any more.
    const lookAt = position === 'clock' ? time - rules.filter.maxFutureMs : now + DOUBT_AGAIN_MS
    return hold('clock', fix, rules, { filtered: position, lookAt })
  }
  // Most devices have only their usual route.
  const stay = entry.stays.length === 0 ? entry.usual : rules.roster.stayAt(entry, position.timestamp)
  const lane = stay?.lane
  if (!lane) return hold('no_route', fix, rules, { filtered: 'no_route' })
  // A fix without its own time has that of its arrival, so several such fixes would seem simultaneous.
  const isOff = trail !== undefined && fix.time !== now && trail.isOff(position, now / 1000)
  if (isOff && rules.filter.holdsSuspicious) return hold('suspicious', fix, rules, { filtered: 'no_route' })
  return { lane, position }
}

/** Returns a device's fix in the form of the tracking API, or why it is not pushed. `now` and `time`, the fix's own: ms UTC. */
export function normalise(
  fix: Fix,
  { now, time }: { readonly now: number; readonly time: number },
  options: FilterOptions,
): Position | FilterReason {
  const { accuracy, hdop, latitude, longitude } = fix
  if (!fix.valid) return 'invalid'
  if (latitude === 0 && longitude === 0) return 'zero'
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return 'out_of_range'
  if (!(time >= 0) || (options.maxAgeMs !== null && time < now - options.maxAgeMs)) return 'past'
  if (time > now + options.maxFutureMs || time > LAST_TIME_MS) return 'clock'
  let metres = options.defaultAccuracyM
  if (accuracy !== undefined && accuracy >= 0) metres = accuracy
  else if (hdop !== undefined && hdop > 0) metres = hdop * options.uereM
  return {
    timestamp: Math.floor(time / 1000),
    latitude,
    longitude,
    // Rounded up, but not for the noise of a product such as 1.1 × 5.
    accuracy: Math.max(1, Math.ceil(metres - 1e-9)),
    heading: fix.heading !== undefined && fix.heading >= 0 ? Math.round(fix.heading) % 360 : undefined,
    speed: fix.speed !== undefined && fix.speed >= 0 ? fix.speed : undefined,
  }
}

/**
 * A device's time in UTC, ms: local times are converted, GPS week rollovers repaired. A decoder without a time from the
 * device uses `now`, which stays.
 */
export function utcOf(time: number, { entry, now }: Pick<FixOrigin, 'entry' | 'now'>): number {
  const zone = entry?.time_zone
  const utc = zone === undefined || time === now ? time : utcFromLocal(time, zone)
  // A receiver that counts GPS weeks from 0 to 1023 is 1,024 weeks early; repaired only into the last year.
  const repaired = utc + ROLLOVER_MS
  return repaired <= now + DAY_MS && repaired > now - 366 * DAY_MS ? repaired : utc
}

/**
 * Holds a fix for a reason if the configuration allows that, or our clock may be the reason, and a record can store its time;
 * else filters it.
 */
function hold(
  reason: HoldReason,
  fix: Fix,
  { filter, hold: wanted, isClockInDoubt }: PlacementRules,
  { filtered, lookAt = Infinity }: { filtered: FilterReason; lookAt?: number },
): Verdict {
  const isWanted = reason === 'unknown' || reason === 'suspicious' || wanted[reason]
  const isOurs = reason === 'clock' && isClockInDoubt
  const position = isWanted || isOurs ? asReported(fix, filter) : undefined
  return position ? { held: reason, position, lookAt } : { filtered }
}

/** Returns a position with the time that the device reported; undefined if a record cannot store it. */
function asReported(fix: Fix, filter: FilterOptions): Position | undefined {
  const position = normalise(fix, { now: 0, time: fix.time }, { ...filter, maxFutureMs: Infinity, maxAgeMs: null })
  return typeof position === 'string' ? undefined : position
}

/** Consecutive positions that go to the same place, with their fixes. */
interface PositionRun {
  readonly lane?: Lane
  readonly held?: HoldReason
  lookAt: number
  readonly positions: Position[]
  readonly fixes: Fix[]
}

/** The records of runs. */
function partsOf(runs: readonly PositionRun[], origin: FixOrigin, rules: PlacementRules): Part[] {
  const { device, entry, isProven, now, lateAt: storedAt = now } = origin
  const { rosterVersion } = rules
  const oldestAt = storedAt + rules.hold.max_age
  const packed = (entry && packedDevices.get(entry)) ?? packOnce(origin)
  const logs = entry && rules.logsOf?.(entry.company_id)
  return runs.map((run) => {
    const { lane, held, lookAt, positions } = run
    const own = packRecords(positions, packed, storedAt)
    const { records, copied } = logs ? copiedOf(run, own, { logs, origin }) : { records: own, copied: undefined }
    if (lane) return { lane: lane.key, device, records, copied, isProven }
    const heldFor = held ?? 'no_route'
    return { held: heldFor, device, records, copied, isProven, lookAt: Math.min(lookAt, oldestAt), rosterVersion }
  })
}

/** Returns the records of a run, with the copies that get them. */
function copiedOf(
  { lane, held, positions, fixes }: PositionRun,
  records: Buffer,
  { logs, origin }: { readonly logs: CompanyLogs; readonly origin: FixOrigin },
) {
  const names = lane ? logs.arriving : held === 'no_route' ? logs.unassigned : ''
  if (names === '') return { records, copied: undefined }
  // A held position has the time that the device reported.
  const known = lane
    ? positions
    : positions.map((position, index) => {
        return { ...position, timestamp: Math.floor(utcOf(fixes[index].time, origin) / 1000) }
      })
  const place = { device: origin.entry?.id ?? origin.device, lane }
  return withCopied(records, { positions: known, beside: fixes, place, logs: names, hasSaid: logs.hasSaid })
}

function packOnce({ device, entry, spoken }: FixOrigin): Buffer {
  const packed = packDevice(device, entry ? undefined : spoken)
  if (entry) packedDevices.set(entry, packed)
  return packed
}

/** When fixes are judged again while our clock is in doubt, ms. */
export const DOUBT_AGAIN_MS = 5000
const packedDevices = new WeakMap<DeviceEntry, Buffer>()
const DAY_MS = 86_400_000
const ROLLOVER_MS = 1024 * 7 * DAY_MS
/** Records keep seconds in 32 bits. */
const LAST_TIME_MS = 0xffff_ffff * 1000
