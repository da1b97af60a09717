import type { Fix } from '../../protocols/kit/index.ts'
import type { DeviceEntry, Directory, Lane } from '../config/directory.ts'
import { utcFromLocal } from '../config/zone.ts'
import { type LaneRecords, packDevice, packRecords, type Position, type Storable } from '../lanes/index.ts'
import { metrics } from '../observe/metrics.ts'
import type { Heard } from './heard.ts'
import { type FilterOptions, type FilterReason, normalise, repairRollover } from './normalise.ts'

export interface SortContext {
  readonly entry: DeviceEntry
  readonly directory: Directory
  readonly filter: FilterOptions
  /** When the fixes arrived, ms UTC. */
  readonly now: number
  /** The device's last fix and the last one filtered are noted here. */
  readonly last: Heard
}

/** Each fix of one device to the lane of its own time, or to the reason why it is not pushed; the order is kept. */
export function sort(fixes: readonly Fix[], context: SortContext): Storable {
  const { entry, directory, last, now } = context
  const parts: LaneRecords[] = []
  const filtered: FilterReason[] = []
  let lane: Lane | undefined
  let run: Position[] = []
  const endRun = () => {
    if (lane && run.length > 0) parts.push({ lane: lane.key, records: packRecords(run, packed(entry), now) })
  }

  for (const fix of fixes) {
    fix.time = utcOf(fix.time, entry, now)
    const position = normalise(fix, now, context.filter)
    const at = typeof position === 'string' ? undefined : directory.laneAt(entry, position.timestamp)
    if (typeof position === 'string' || !at) {
      const reason = typeof position === 'string' ? position : 'no_route'
      filtered.push(reason)
      last.filtered = { reason, at: now, fix }
      continue
    }
    if (at !== lane) {
      endRun()
      lane = at
      run = []
    }
    run.push(position)
    last.fix = { at: now, fix }
  }
  endRun()
  return { parts, received: fixes.length, filtered }
}

/** Local times made UTC, GPS week rollovers repaired. A decoder without a time of the device's own gave `now`: it stays. */
function utcOf(time: number, { time_zone }: DeviceEntry, now: number): number {
  const utc = time_zone === undefined || time === now ? time : utcFromLocal(time, time_zone)
  const repaired = repairRollover(utc, now)
  if (repaired !== utc) metrics.repaired.inc({ reason: 'rollover' })
  return repaired
}

function packed(entry: DeviceEntry): Buffer {
  let bytes = packedDevices.get(entry)
  if (!bytes) packedDevices.set(entry, (bytes = packDevice(entry.id)))
  return bytes
}

const packedDevices = new WeakMap<DeviceEntry, Buffer>()
