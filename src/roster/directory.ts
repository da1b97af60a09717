import type { BlockList } from 'node:net'
import type { Settings } from '../../protocols/kit/index.ts'
import type { Device } from '../config/devices.ts'
import type { RouteRow } from '../config/routes.ts'
import type { Interval } from '../config/times.ts'

/**
 * One line of the roster: who drives what from `from` (inclusive) until `until` (exclusive), unix seconds. Assignments never
 * change; a line that changes is another assignment.
 */
export interface Assignment extends Omit<RouteRow, 'at' | 'line'> {
  /** Where the line was written: `routes.csv:17`, `admin 2026-11-20T08:00:00Z`. */
  readonly source: string
  /** The roster's version by which it was written. */
  readonly version?: number
  /** For a line that was put through the admin port: it applies to devices of this company only. */
  readonly company_id?: string
  /** For a line that was put: its line number there. */
  readonly line?: number
}

/** One courier on one route. */
export interface Lane {
  readonly company: string
  readonly courier: string
  readonly route: string
  /** `company/courier/route` */
  readonly key: string
}

/** A lane, when it holds (unix seconds, `until` exclusive), and the line that says so. */
export interface Stay extends Interval {
  readonly lane: Lane
  readonly source: string
}

/** A device with what is derived for the path of its frames. It never changes: a change of the roster makes another one. */
export interface DeviceEntry extends Device {
  /** What its protocol's decoder is told: `settings`, `model` and `timeZone`. */
  readonly protocolSettings: Settings
  /**
   * What a sender has to prove; undefined: it is taken for the device if it uses its id. `networks`: those of the
   * entry, for looking up addresses.
   */
  readonly guard: { readonly hasSecret: boolean; readonly networks?: BlockList } | undefined
  /** What assignments say, in order of time, without overlaps. */
  readonly stays: readonly Stay[]
  /** What its own courier and route say, for all other times. */
  readonly usual?: Stay
}
