import type { Device } from '../config/devices.ts'
import type { Interval } from '../config/times.ts'
import type { Roster } from './roster.ts'

/** Which devices would have no route any more in an interval, in words, where these are more than half of those that have one. */
export function lossOf(
  devices: Iterable<Pick<Device, 'id'>>,
  { before, after }: { readonly before: Roster; readonly after: Roster },
  interval: Interval,
): string | undefined {
  const routed = Array.from(devices).filter(({ id }) => before.isRouted(id, interval))
  const lost = routed.filter(({ id }) => !after.isRouted(id, interval))
  if (lost.length * 2 <= routed.length) return undefined
  return routed.length === 1
    ? 'the only device that has one'
    : `${lost.length} of the ${routed.length} devices that have one`
}
