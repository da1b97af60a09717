import type { Directory } from '../config/directory.ts'
import { deviceOf, type Place, timestampOf } from '../lanes/index.ts'

/** Where records belong as configured now: by their device, at their own time. */
export function placeIn(directory: () => Directory): Place {
  return (record) => {
    const entry = directory().find(deviceOf(record))
    return entry && directory().laneAt(entry, timestampOf(record))?.key
  }
}
