import type { Device } from '../config/devices.ts'
import type { Interval } from '../config/times.ts'
import type { Roster } from './roster.ts'

/** Devices that had a route, and those of them that would have none. */
export interface Loss {
  readonly routed: number
  readonly lost: number
}

/** What devices would lose, where it is the route of more than half of those that have one; else undefined. */
export function lossOf(
  devices: Iterable<Pick<Device, 'id'>>,
  { before, after }: { readonly before: Roster; readonly after: Roster },
  interval: Interval,
): Loss | undefined {
  const [wasRouted, staysRouted] = [isRouted(before, interval), isRouted(after, interval)]
  let routed = 0
  let lost = 0
  for (const device of devices) {
    if (!wasRouted(device)) continue
    routed++
    if (!staysRouted(device)) lost++
  }
  return lost * 2 > routed ? { routed, lost } : undefined
}

/** `2 of the 3 devices that have one` */
export function lossText({ lost, routed }: Loss): string {
  return routed === 1 ? 'the only device that has one' : `${lost} of the ${routed} devices that have one`
}

/** Tells of devices whether they have a route at some time of an interval. */
export function isRouted(directory: Roster, { from, until }: Interval): (device: Pick<Device, 'id'>) => boolean {
  return ({ id }) => {
    const entry = directory.find(id)
    if (!entry) return false
    return entry.usual !== undefined || entry.stays.some((stay) => stay.from < until && stay.until > from)
  }
}
