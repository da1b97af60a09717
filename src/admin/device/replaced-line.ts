import { yieldToEventLoop } from '../../async.ts'
import { type DeviceEntry, sameId } from '../../roster/directory.ts'
import { lineKey } from '../../roster/edits.ts'
import type { Loaded } from '../../roster/load.ts'
import { lastPuts } from '../../roster/puts.ts'
import type { WrittenRow } from '../../roster/routes.ts'
import { instant } from '../json.ts'

/** A line of a file that would give a device its route at a time, and is not in effect as a later put took its place. */
export interface ReplacedLine {
  /** Where it stands: `routes.csv:17`. */
  readonly source: string
  /** When that put was, RFC 3339. */
  readonly put_at?: string
}

/**
 * The line of files that a put took the place of, where it would hold for the device at a time, unix seconds; of several the
 * one with the latest `from`.
 */
export async function replacedLine(
  { edits, files, directory }: Loaded,
  device: DeviceEntry,
  time: number,
): Promise<ReplacedLine | undefined> {
  if (edits.routes.length === 0) return undefined
  const isMeant = (row: WrittenRow) =>
    sameId(row.device) === sameId(device.id) || (row.device === device.name && !directory.find(row.device))
  const lastPut = lastPuts(edits.routes)
  let from = -Infinity
  let latest: ReplacedLine | undefined
  for (const { name, rows } of files.routes.map(({ content }) => content))
    for (const row of rows) {
      await yieldToEventLoop()
      if (row.from <= from || row.from > time || row.until <= time || !isMeant(row)) continue
      const putAt = lastPut(device.company_id, row.from)
      if (putAt <= (edits.files.get(lineKey(row)) ?? 0)) continue
      from = row.from
      latest = { source: `${name}:${row.line}`, put_at: instant(putAt) }
    }
  return latest
}
