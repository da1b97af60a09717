import type { Device } from '../../src/config/devices.ts'
import { sameId } from '../../src/domain/ids.ts'
import { type Assignment, assignmentField } from '../../src/roster/assignment.ts'
import { withoutSecret } from '../../src/roster/device-entry.ts'
import { Roster } from '../../src/roster/roster.ts'

/** A roster of devices and lines. */
export async function createDirectory(devices: Iterable<Device>, lines: Iterable<Assignment>): Promise<Roster> {
  const roster = new Roster()
  await roster.applyInSlices({
    devices: Array.from(devices, (device) => [sameId(device.id), withoutSecret(device)]),
    assignments: Array.from(lines, (line) => [assignmentField(line), line]),
  })
  return roster
}
