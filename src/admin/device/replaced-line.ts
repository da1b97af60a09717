import { type DeviceEntry, sameId } from '../../config/directory.ts'
import { lineKey } from '../../config/edits.ts'
import type { Loaded } from '../../config/load.ts'
import { lastPuts } from '../../config/puts.ts'
import type { WrittenRow } from '../../config/routes.ts'
import { instant } from '../json.ts'

/** A line of a file that would give a device its route at a time, and is not in effect as a later put took its place. */
export interface ReplacedLine {
  /** Where it stands: `routes.csv:17`. */
  readonly source: string
  /** When that put was, RFC 3339. */
  readonly put_at?: string
}

/** The line of files that a put took the place of, where it would hold for the device at a time, unix seconds; of several the one with the latest `from`. */
export function replacedLine(
  { edits, files, directory }: Loaded,
  device: DeviceEntry,
  time: number,
): ReplacedLine | undefined {
  if (edits.routes.length === 0) return undefined
  const isMeant = (row: WrittenRow) =>
    sameId(row.device) === sameId(device.id) || (row.device === device.name && !directory.find(row.device))
  const lastPut = lastPuts(edits.routes)
  const [latest] = files.routes
    .flatMap(({ content: { name, rows } }) => {
      const covering = rows.filter((row) => row.from <= time && time < row.until && isMeant(row))
      return covering.map((row) => ({ row, name, putAt: lastPut(device.company_id, row.from) }))
    })
    .filter(({ row, putAt }) => putAt > (edits.files.get(lineKey(row)) ?? 0))
    .toSorted((a, b) => b.row.from - a.row.from)
  return latest && { source: `${latest.name}:${latest.row.line}`, put_at: instant(latest.putAt) }
}
