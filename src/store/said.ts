import type { Alarm, Said } from '../../protocols/kit/index.ts'

/*
 * The values that a tracker sends beside its positions, as its record keeps them: the last of each value, by the time at
 * which it was sent. Two gateways may hear one device, and a backlog may come while it sends live, so an older value never
 * replaces a newer one. `lua/devices.lua` merges the values of gateways by the same rule.
 */

/** The last state of one value. Instants in ms UTC. */
export interface SaidPart {
  /** When it was said last. */
  readonly at: number
  /** For a state: when it took this value. For an alarm: the first time of alarms within ten minutes of one another. */
  readonly since_at?: number
  /** For a state: when another value was last sent. */
  readonly other_at?: number
  /** For an alarm: when it arrived. */
  readonly value: boolean | number | string
}

/** By the name of the value; `alarm:sos` for an alarm. */
export type SaidParts = Readonly<Record<string, SaidPart>>

/** When values were sent, and when they arrived; ms UTC. */
export interface SaidTimes {
  readonly at: number
  readonly cameAt: number
}

/** Returns the values of one frame as parts. */
export function partsOf({ alarms = [], driver, ...values }: Said, { at, cameAt }: SaidTimes): SaidParts {
  const parts: Record<string, SaidPart> = {}
  for (const [name, value] of Object.entries(values))
    parts[name] = typeof value === 'number' ? { at, value } : { at, since_at: at, value }
  if (driver !== undefined) parts.driver = { at, since_at: at, value: shortened(driver) }
  for (const alarm of alarms) parts[ALARM + alarm] = { at, since_at: at, value: cameAt }
  return parts
}

/** The first characters of the id of a driver. Half a character, which the script of the record cannot read, is replaced. */
function shortened(driver: string): string {
  return driver.slice(0, MOST_DRIVER).toWellFormed()
}

/**
 * Merges known values and news. The later of two values counts; it lasts since its first time without another value in
 * between. An alarm with the same time is the same alarm in a repeated frame; the time of its first arrival stays.
 */
export function mergedSaid(known: SaidParts, news: SaidParts): SaidParts {
  const merged = { ...known }
  for (const [name, part] of Object.entries(news)) {
    const before = known[name]
    if (!before) merged[name] = part
    else if (name.startsWith(ALARM)) merged[name] = part.at > before.at ? repeated(before, part) : before
    else if (part.at >= before.at) merged[name] = part.since_at === undefined ? part : lasting(before, part)
  }
  return merged
}

function lasting(before: SaidPart, part: SaidPart): SaidPart {
  const { other_at = 0 } = part
  if (part.value !== before.value) return { ...part, other_at: Math.max(other_at, before.at) }
  if (other_at > before.at) return part
  return { ...part, since_at: before.since_at, other_at: before.other_at }
}

function repeated(before: SaidPart, part: SaidPart): SaidPart {
  const { since_at = part.at } = part
  return since_at - before.at < ANEW_MS ? { ...part, since_at: before.since_at ?? before.at } : part
}

/** Returns the values sent from a time on, ms UTC; one that lasts from before lasts since that time. */
export function saidFrom(parts: SaidParts, since: number): SaidParts {
  const own = Object.entries(parts).filter(([, { at }]) => at >= since)
  return Object.fromEntries(
    own.map(([name, part]) => {
      return [name, part.since_at === undefined ? part : { ...part, since_at: Math.max(since, part.since_at) }]
    }),
  )
}

/** The last values by their names, without alarms. */
export function valuesIn(parts: SaidParts): [name: string, part: SaidPart][] {
  return Object.entries(parts).filter(([name]) => !name.startsWith(ALARM))
}

/** The last alarm of a kind. */
export interface AlarmPart extends SaidTimes {
  readonly alarm: Alarm
  /** The first time of those within ten minutes of one another. */
  readonly sinceAt: number
}

/** The last alarm of each kind, the latest first. */
export function alarmsIn(parts: SaidParts): AlarmPart[] {
  const raised = Object.entries(parts).flatMap(([name, { at, since_at: sinceAt = at, value }]): AlarmPart[] => {
    if (!name.startsWith(ALARM)) return []
    return [{ alarm: name.slice(ALARM.length) as Alarm, at, sinceAt, cameAt: Number(value) }]
  })
  return raised.toSorted((one, other) => other.at - one.at)
}

const ALARM = 'alarm:'
/** A tracker repeats an alarm within minutes. A later one is a new alarm: somebody has pressed again. */
const ANEW_MS = 600_000
/** Ids of drivers have at most some ten characters. */
const MOST_DRIVER = 64
