import { isParked, LEAST_MS, leastSilenceMs, UNKNOWN_SLEEP_MS } from '../../diagnose/parked.ts'
import { isBehind, type Late, lateNow } from '../../domain/late.ts'
import { localFromUtc, zoneAhead } from '../../domain/times.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import { type DeviceRecord, latestTimed } from '../../store/device-record.ts'
import { saidFacts } from './said-facts.ts'

/** What is learnt from the messages of a device. Instants and durations in ms. */
export interface Learnt {
  /** Its first message, as far as that is known here. */
  readonly heardSince: number
  /** When it was heard again after it had been silent; undefined: it was not, as far as known. */
  readonly wokenAt?: number
  /** The usual time between two messages; 0: not known yet. */
  readonly usualMs: number
  /**
   * The longest recent time between two messages, at most two minutes. It halves in every ten minutes in which the device
   * sends.
   */
  readonly paceMs: number
  /** The last times between two of its messages, without those in which it slept. */
  readonly gaps: readonly number[]
  /** How long it usually sleeps while its ignition is off; undefined: it has never slept, as far as known. */
  readonly sleepMs?: number
  /** The longest sleep of each of the last days on which it slept. `day`: since 1970, in UTC. */
  readonly sleeps: readonly Sleep[]
  /** When a fix came that is newer than all before it, or was not known before. */
  readonly newAt: number
  /** The latest time of its fixes. */
  readonly newest: number
  /** m/s, as sent by the device; else computed from its last two fixes. */
  readonly speed?: number
  /** Consecutive fixes that are late by the same time. */
  readonly late?: Late
}

interface Sleep {
  readonly day: number
  readonly ms: number
}

export const UNLEARNT: Learnt = { heardSince: 0, usualMs: 0, paceMs: 0, gaps: [], sleeps: [], newAt: 0, newest: 0 }

/** What was known of a device before its new message. */
interface HeardBefore {
  readonly entry?: DeviceEntry
  readonly heard?: DeviceRecord
  readonly learnt: Learnt
}

/** Returns what is known of a device after a new record. */
export function learn(before: HeardBefore | undefined, heard: DeviceRecord): Learnt {
  const { learnt = UNLEARNT } = before ?? {}
  const heardSince = before?.heard ? learnt.heardSince : heard.at
  const gap = heard.at - (before?.heard?.at ?? heard.at)
  const hasSlept = gap > LEAST_MS && before !== undefined && wasParked(before) && !hasDriven(before, heard)
  const gaps = gap > 0 && gap < LONGEST_MS && !hasSlept ? [...learnt.gaps, gap].slice(-GAPS) : learnt.gaps
  const sleeps = hasSlept && gap < LONGEST_MS ? withSleep(learnt.sleeps, gap, heard.at) : learnt.sleeps
  const usualMs = gaps.length < FEWEST ? Math.max(heard.usualMs ?? 0, secondOf(gaps)) : secondOf(gaps)
  const paceMs = paceAfter(gap, learnt.paceMs)
  return {
    ...fixLearnt(before, heard),
    late: lateLearnt(before, heard),
    heardSince,
    wokenAt: gap > leastSilenceMs(learnt) ? heard.at : learnt.wokenAt,
    usualMs,
    paceMs,
    gaps,
    sleepMs: usualSleep(sleeps, heard.sleepMs),
    sleeps,
  }
}

/** A device that was away sends its stored fixes in a burst, which must not count as its usual interval. */
function paceAfter(gap: number, paceMs: number): number {
  return gap > LONGEST_PACE_MS ? paceMs : Math.max(gap, paceMs * 2 ** (-gap / HALF_PACE_MS))
}

function wasParked({ entry, heard, learnt }: HeardBefore): boolean {
  const { fix, said } = heard ?? {}
  const known = fix && { newAt: learnt.newAt, time: fix.fix.time, speed: learnt.speed }
  return isParked({ fix: known, said: said && saidFacts(said), behind: behindBy(learnt, entry) })
}

/** Whether its next fix is somewhere else: it did not sleep, but drove unheard. */
function hasDriven({ heard: before }: HeardBefore, { fix }: DeviceRecord): boolean {
  return before?.fix !== undefined && fix !== undefined && metresBetween(before.fix.fix, fix.fix) > DRIVEN_M
}

/** Returns whether the usual intervals must be stored for the next start: one is long, and has changed. */
export function isIntervalNew({ usualMs, sleepMs = 0 }: Learnt, kept: DeviceRecord): boolean {
  return isOther(usualMs, kept.usualMs) || isOther(sleepMs, kept.sleepMs)
}

function isOther(learnt: number, kept = 0): boolean {
  const isLonger = Math.max(learnt, SHORT_MS) > 1.25 * Math.max(kept, SHORT_MS)
  return isLonger || (kept > SHORT_MS && learnt < 0.75 * kept)
}

/** Only the longest sleep of a day counts: a van that is loaded many times a day sleeps for minutes, and in the night for hours. */
function withSleep(sleeps: readonly Sleep[], ms: number, at: number): Sleep[] {
  const day = Math.floor(at / DAY_MS)
  const longest = Math.max(ms, ...sleeps.filter((each) => each.day === day).map((each) => each.ms))
  return [...sleeps.filter((each) => each.day !== day), { day, ms: longest }].slice(-SLEEPS)
}

/** Returns the usual sleeping time. `kept`: the value known at the last start, used until there are enough days. */
function usualSleep(sleeps: readonly Sleep[], kept: number | undefined): number | undefined {
  const lengths = sleeps.map(({ ms }) => ms)
  if (lengths.length >= FEWEST_SLEEPS) return secondOf(lengths)
  return lengths.length === 0 ? kept : Math.max(kept ?? UNKNOWN_SLEEP_MS, ...lengths)
}

/** The second longest of the last intervals: a tracker sends often while it drives, and seldom while it stands. */
function secondOf(gaps: readonly number[]): number {
  return gaps.toSorted((a, b) => b - a)[1] ?? 0
}

function fixLearnt(
  before: HeardBefore | undefined,
  { filtered, fix }: DeviceRecord,
): Pick<Learnt, 'newAt' | 'newest' | 'speed'> {
  const { newAt = 0, newest = 0, speed } = before?.learnt ?? {}
  const known = before?.heard?.fix
  if (!fix || (known && known.at === fix.at && known.fix.time === fix.fix.time)) return { newAt, newest, speed }
  const isRepeated = fix.fix.time === known?.fix.time || (filtered?.reason === 'duplicate' && filtered.at === fix.at)
  return {
    // Of a backlog that is sent newest first, each position is new as well.
    newAt: fix.fix.time > newest || !isRepeated ? fix.at : newAt,
    newest: Math.max(newest, fix.fix.time),
    speed: fix.fix.speed ?? (known && speedBetween(known.fix, fix.fix)),
  }
}

function lateLearnt(before: HeardBefore | undefined, heard: DeviceRecord): Late | undefined {
  const last = latestTimed(heard)
  const known = before?.heard && latestTimed(before.heard)
  const { late } = before?.learnt ?? {}
  if (!last || (known && known.at === last.at && known.fix.time === last.fix.time)) return late
  // A clock that was right until now can fall behind from one fix to the next.
  if (last.fix.time <= (known?.fix.time ?? 0)) return undefined
  return lateNow(late, { at: last.at, time: last.fix.time, fixBeforeAt: known?.at })
}

/**
 * Returns by how much the clock of a device is behind, if its fixes are late by the same time for a while, and the time zone
 * that would explain it.
 */
export function behindBy({ late }: Learnt, entry: DeviceEntry | undefined) {
  if (!isBehind(late)) return undefined
  const { ms, sinceAt, untilAt } = late
  const set = entry?.time_zone === undefined ? 0 : localFromUtc(untilAt, entry.time_zone) - untilAt
  return { ms, sinceAt, zone: zoneAhead(set - ms) }
}

interface Somewhere {
  readonly latitude: number
  readonly longitude: number
}

function speedBetween(
  from: Somewhere & { readonly time: number },
  to: Somewhere & { readonly time: number },
): number | undefined {
  const seconds = (to.time - from.time) / 1000
  if (!(seconds > 0 && seconds < 600)) return undefined
  return metresBetween(from, to) / seconds
}

function metresBetween(from: Somewhere, to: Somewhere): number {
  const north = (to.latitude - from.latitude) * METRES_PER_DEGREE
  const east = (to.longitude - from.longitude) * METRES_PER_DEGREE * Math.cos((from.latitude * Math.PI) / 180)
  return Math.hypot(north, east)
}

const GAPS = 8
const LONGEST_PACE_MS = 120_000
const HALF_PACE_MS = 600_000
const SLEEPS = 8
/** After fewer days with a sleep, the usual sleep is at least the earlier value. */
const FEWEST_SLEEPS = 3
const DAY_MS = 86_400_000
/** With fewer samples, the earlier value is used. */
const FEWEST = 4
/** Three times as much is five minutes, the least silence. */
const SHORT_MS = 100_000
/** A longer silence is ignored: the van was not in use. */
const LONGEST_MS = 26 * 3_600_000
/** A van that wakes up sends at once; the place of a receiver that sleeps, too, differs by less. */
const DRIVEN_M = 1000
const METRES_PER_DEGREE = 111_195
