import type { DeviceRowJson } from '../../../admin/schemas/devices.ts'

/**
 * Returns the devices that have sent something since `before`, by when each was last heard, without using a clock of the
 * page.
 */
export function heardSince(
  vans: readonly DeviceRowJson[],
  before: ReadonlyMap<string, string | undefined>,
  id: string,
): DeviceRowJson[] {
  const wanted = plain(id.trim())
  return vans.filter((van) => {
    const [heard, earlier] = [van.last_heard?.at, before.get(plain(van.id))]
    if (heard === undefined || heard === earlier) return false
    return wanted === '' ? earlier === undefined : plain(van.id) === wanted
  })
}

/** Ids compare without leading zeros. */
export function plain(id: string): string {
  return id.replace(/^0+(?=.)/, '')
}
