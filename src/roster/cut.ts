import type { Interval } from '../config/times.ts'
import type { Assignment, DeviceEntry } from './directory.ts'
import { assignmentField, type Roster } from './roster.ts'
import { partsOf } from './spans.ts'
import { assignmentText, type FieldTexts } from './table.ts'

/**
 * The lines that take devices off their lines within an interval (unix seconds): what holds of each line before and after it goes
 * on to hold. A line with a name that other devices share goes on to hold for these.
 */
export function cutLines(devices: readonly DeviceEntry[], { from, until }: Interval, roster: Roster): FieldTexts {
  const texts = new Map<string, string | null>()
  const ids = new Set(devices.map(({ id }) => id))
  const set = (line: Assignment, device: DeviceEntry) => {
    const own = { ...line, device: device.id, company_id: device.company_id }
    texts.set(assignmentField(own), assignmentText(own))
  }
  for (const device of devices) {
    const lines = roster.linesOf(device).map((line) => ({ ...line, field: assignmentField(line) }))
    const cut = new Map(
      lines.filter((line) => line.from < until && line.until > from).map((line) => [line.field, line] as const),
    )
    for (const [field, line] of cut) {
      if (!texts.has(field)) texts.set(field, null)
      for (const other of roster.meant(line.device)) if (!ids.has(other.id)) set(line, other)
    }
    // What overlaps is decided here: a piece begins at another time than its line, and might win over others.
    for (const { field, ...part } of partsOf(lines)) {
      if (!cut.has(field)) continue
      if (part.from < from) set({ ...part, until: Math.min(part.until, from) }, device)
      if (part.until > until) set({ ...part, from: Math.max(part.from, until) }, device)
    }
  }
  return [...texts]
}
