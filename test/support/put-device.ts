import type { Device } from '../../src/config/devices.ts'
import { sameId } from '../../src/domain/ids.ts'
import { PUT_SOURCE } from '../../src/roster/assignment.ts'
import { readRosterVersion, writeRoster } from '../../src/roster/table.ts'
import type { Store } from '../../src/store/index.ts'

/** Puts a device, or, null, deletes it, whatever was written before. @returns the roster's version by that */
export async function putDevice(redis: Store, id: string, device: Device | null): Promise<number> {
  const put = device ? { ...device, source: PUT_SOURCE } : undefined
  const write = { devices: [[sameId(id), put] as const] }
  return (await writeRoster(redis, write, await readRosterVersion(redis))) ?? putDevice(redis, id, device)
}
