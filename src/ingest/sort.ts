import type { Fix } from '../../protocols/kit/index.ts'
import { type HoldReason, type Part, type Position, packDevice, packRecords, type Storable } from '../lanes/index.ts'
import type { DeviceEntry } from '../roster/directory.ts'
import type { Heard } from './heard.ts'
import { hold, type JudgeOptions, judge, utcOf, type Verdict } from './judge.ts'
import type { FilterReason } from './normalise.ts'

export interface SortContext {
  /** Whose fixes these are: an id, and its entry where it is configured. */
  readonly device: string
  readonly entry: DeviceEntry | undefined
  /** When they arrived, ms UTC. */
  readonly now: number
  /** What is held of this device is being released: what comes now goes behind it. */
  readonly releasing: boolean
  /** The device's last fix and the last one that was not pushed are noted here. */
  readonly last: Heard | undefined
}

/** What a frame leaves behind; `future`: whether a fix of it is ahead of the clock. */
export interface Sorted extends Storable {
  readonly future: boolean
}

/** Each fix of one device to the lane of its own time, to what is held, or to the reason why it is neither; in order. */
export function sort(fixes: readonly Fix[], context: SortContext, options: JudgeOptions): Sorted {
  const { device, entry, last, now } = context
  const runs: Run[] = []
  const filtered: FilterReason[] = []
  let future = false
  for (const fix of fixes) {
    const verdict = verdictOf(fix, context, options)
    if ('filtered' in verdict) {
      filtered.push(verdict.filtered)
      if (last) last.filtered = { reason: verdict.filtered, at: now, fix }
    } else {
      put(verdict, runs)
      if (last) note(verdict, fix, context, last)
    }
    future ||=
      ('held' in verdict && verdict.held === 'clock') || ('filtered' in verdict && verdict.filtered === 'clock')
  }
  const bytes = packDeviceOnce(device, entry)
  return { parts: runs.map((run) => partOf(run, device, bytes, now)), received: fixes.length, filtered, future }
}

function note(verdict: Kept, fix: Fix, { entry, now }: SortContext, last: Heard): void {
  if ('lane' in verdict) last.fix = { at: now, fix: inUtc(fix, verdict.position) }
  else {
    if (verdict.held !== 'clock') last.fix = { at: now, fix: { ...fix, time: utcOf(fix.time, entry, now) } }
    last.filtered = { reason: verdict.held, at: now, fix, held: true }
  }
}

/** A fix of local time, or of another GPS week, at the time that it has in its lane. */
function inUtc(fix: Fix, { timestamp }: Position): Fix {
  return Math.floor(fix.time / 1000) === timestamp ? fix : { ...fix, time: timestamp * 1000 }
}

function verdictOf(fix: Fix, { entry, now, releasing }: SortContext, options: JudgeOptions): Verdict {
  const verdict = judge(fix, entry, now, options)
  return releasing && 'lane' in verdict ? hold('no_route', fix, now, options) : verdict
}

/** Of a fix that goes to a lane, now or later. */
type Kept = Exclude<Verdict, { filtered: FilterReason }>

interface Run {
  readonly lane?: string
  readonly held?: HoldReason
  readonly positions: Position[]
}

/** The last run where the fix goes to the same place, else a new one. */
function put(verdict: Kept, runs: Run[]): void {
  const lane = 'lane' in verdict ? verdict.lane.key : undefined
  const held = 'held' in verdict ? verdict.held : undefined
  const last = runs.at(-1)
  if (last && last.lane === lane && last.held === held) last.positions.push(verdict.position)
  else runs.push({ lane, held, positions: [verdict.position] })
}

function partOf({ lane, held, positions }: Run, device: string, packed: Buffer, now: number): Part {
  const records = packRecords(positions, packed, now)
  return held === undefined ? { lane: lane ?? '', device, records } : { held, device, records }
}

function packDeviceOnce(device: string, entry: DeviceEntry | undefined): Buffer {
  if (!entry) return packDevice(device)
  let bytes = packedDevices.get(entry)
  if (!bytes) packedDevices.set(entry, (bytes = packDevice(entry.id)))
  return bytes
}

const packedDevices = new WeakMap<DeviceEntry, Buffer>()
