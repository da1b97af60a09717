import { yieldToEventLoop } from '../../async.ts'
import { sameId } from '../../config/units.ts'
import type { DeviceEntry } from '../../roster/directory.ts'
import { assignmentOf } from '../../roster/file-content.ts'
import { assignmentField } from '../../roster/roster.ts'
import type { RosterInEffect } from '../roster/writes.ts'

/** What a file says of a device and the roster does not, as a later put or deletion took its place. */
type FilesInEffect = Pick<RosterInEffect, 'files' | 'directory'>

/** Where the entry of a device stands that is in a file though the device was deleted: `devices.yaml:3`. */
export function hiddenEntry(live: FilesInEffect, id: string): string | undefined {
  if (live.directory().find(id)) return undefined
  const entries = live.files()?.devices.flatMap(({ content }) => content.devices) ?? []
  return entries.find(({ device }) => sameId(device.id) === sameId(id))?.device.source
}

/**
 * The line of a file that would give a device its route at a time, unix seconds, had no put taken its place; of several the one
 * with the latest `from`.
 */
export async function hiddenLine(
  live: FilesInEffect,
  device: DeviceEntry,
  time: number,
): Promise<{ readonly source: string } | undefined> {
  const roster = live.directory()
  let latest: { source: string; from: number } | undefined
  for (const { content } of live.files()?.routes ?? [])
    for (const row of content.rows) {
      await yieldToEventLoop()
      if (row.from <= (latest?.from ?? -Infinity) || row.from > time || row.until <= time) continue
      if (!roster.meant(row.device).some(({ id }) => id === device.id)) continue
      if (!roster.assignment(assignmentField(assignmentOf(row, ''))))
        latest = { source: `${content.name}:${row.line}`, from: row.from }
    }
  return latest && { source: latest.source }
}
