import { sameId } from '../../roster/directory.ts'
import type { Loaded } from '../../roster/load.ts'
import { instant } from '../json.ts'

/** That a device was deleted through this port, though it still is in a file. */
export interface Deletion {
  /** ms UTC */
  readonly at: number
  /** Where the entry stands that is not in effect: `devices.yaml:3`. */
  readonly source: string
}

/** Why a device is not configured, where it was deleted. */
export function deletionOf({ edits, files }: Loaded, id: string): Deletion | undefined {
  const edit = edits.devices.get(sameId(id))
  if (!edit || edit.device) return undefined
  const entries = files.devices.flatMap(({ content }) => content.devices)
  const entry = entries.find(({ device }) => sameId(device.id) === sameId(id))
  return entry && { at: edit.at, source: entry.device.source }
}

/** What to do for a device that is not configured. */
export function deletionText(deletion: Deletion | undefined): string {
  if (!deletion) return 'add it to devices.yaml'
  const { at, source } = deletion
  return `deleted through the admin port at ${instant(at)}: put it there, or change its entry, ${source}`
}
