import { deviceOf, NOT_CURRENT, type Place, timestampOf } from '../../lanes/index.ts'
import type { Live } from './live.ts'

/** Where records belong as configured now: by their device, at their own time. */
export function placeIn(live: Pick<Live, 'complete' | 'directory'>): Place {
  return (record) => {
    if (!live.complete) return NOT_CURRENT
    const directory = live.directory()
    const entry = directory.find(deviceOf(record))
    return entry && directory.stayAt(entry, timestampOf(record))?.lane.key
  }
}
