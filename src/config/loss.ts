import type { DeviceEntry } from './directory.ts'
import type { Interval } from './times.ts'

/** Devices that had a route, and those of them that would have none. */
export interface Loss {
  readonly routed: number
  readonly lost: number
}

/** What devices would lose, where it is the route of more than half of those that have one; else undefined. */
export function lossOf<Device>(
  devices: Iterable<Device>,
  before: (device: Device) => boolean,
  after: (device: Device) => boolean,
): Loss | undefined {
  let routed = 0
  let lost = 0
  for (const device of devices) {
    if (!before(device)) continue
    routed++
    if (!after(device)) lost++
  }
  return lost * 2 > routed ? { routed, lost } : undefined
}

/** How long a device has a route within an interval, seconds. */
export function routedSeconds(entry: DeviceEntry | undefined, { from, until }: Interval): number {
  if (!entry) return 0
  if (entry.usual) return until - from
  return entry.stays.reduce(
    (sum, stay) => sum + Math.max(0, Math.min(stay.until, until) - Math.max(stay.from, from)),
    0,
  )
}
