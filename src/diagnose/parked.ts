import type { DeviceFacts } from './device-facts.ts'

/** After this silence a device is reported: three of its usual intervals, at least five minutes. */
export function leastSilenceMs({ usualMs = 0 }: Pick<DeviceFacts, 'usualMs'>): number {
  return Math.max(LEAST_MS, MISSED * usualMs)
}

/** Returns for how long a device could have been heard and was not, ms. */
export function silenceMs({ deafMs = 0, heardAt = 0 }: Pick<DeviceFacts, 'deafMs' | 'heardAt'>, now: number): number {
  return now - heardAt - deafMs
}

/**
 * Returns whether its tracker reports that the ignition is off, and no later fix moves. A tracker that has never reported
 * "on" is not believed, because its ignition wire may not be connected; nor is one that has sent fixes for ten minutes
 * without reporting the ignition.
 */
export function isParked({ behind, fix, said }: Pick<DeviceFacts, 'behind' | 'fix' | 'said'>): boolean {
  const { ignition } = said ?? {}
  if (ignition?.value !== false || ignition.otherAt === undefined) return false
  if (!fix) return true
  // The time of values that come with a fix, by our clock.
  const fixAt = fix.time + (behind?.ms ?? 0)
  if (fixAt - ignition.at > HEARTBEAT_MS) return false
  return fixAt <= ignition.sinceAt || (fix.speed ?? 0) < MOVING_M_PER_S
}

/** Returns whether a silent device counts as asleep: it is parked, and twice its usual sleeping interval has not passed. */
export function isAsleep(device: DeviceFacts, now: number): boolean {
  // A message of it on a wrong port shows that it is awake.
  return !device.sender && silenceMs(device, now) <= longestSleepMs(device) && isParked(device)
}

/** For how long a parked device may be silent. */
export function longestSleepMs(device: Pick<DeviceFacts, 'usualMs' | 'sleepMs'>): number {
  const { sleepMs = UNKNOWN_SLEEP_MS } = device
  return Math.max(leastSilenceMs(device), 2 * sleepMs)
}

/** A slower device counts as standing: a receiver that does not move still reports some tenths of m/s. */
export const MOVING_M_PER_S = 1
/**
 * The sleeping interval of a device that has not slept for three days yet: short enough that a finding begins on the next
 * working day.
 */
export const UNKNOWN_SLEEP_MS = 6 * 3_600_000
export const LEAST_MS = 300_000
/** Some trackers report it only in heartbeats, which come every few minutes. */
const HEARTBEAT_MS = 600_000
const MISSED = 3
