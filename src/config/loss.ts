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
