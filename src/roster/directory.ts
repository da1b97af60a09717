import type { BlockList } from 'node:net'
import type { Settings } from '../../protocols/kit/index.ts'
import type { Device } from '../config/devices.ts'

/**
 * One line of the roster: who drives what from `from` (inclusive) until `until` (exclusive), unix seconds. Assignments never
 * change; a line that changes is another assignment.
 */
export interface Assignment {
  /** As it was written: an id or a name, which may mean several devices. */
  readonly device: string
  /** Empty: the device's own. */
  readonly courier_id: string
  readonly route_id: string
  readonly from: number
  readonly until: number
  /** Where it was written: `routes.csv:17`, `admin 2026-11-20T08:00:00Z`. */
  readonly source: string
  /** The roster's version by which it was written. */
  readonly version?: number
  /** Of one that was put through the admin port: it holds for devices of this company alone. */
  readonly company_id?: string
  /** Of one that was put: its line there. */
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
export interface Stay {
  readonly lane: Lane
  readonly from: number
  readonly until: number
  readonly source: string
}

/** What a device must come by and present, so that its id alone is not enough. */
export interface Guard {
  readonly hasSecret: boolean
  readonly protocol?: string
  readonly transports?: readonly string[]
  readonly networks?: BlockList
  /** Names of client certificates, of which it must present one. */
  readonly certificates?: readonly string[]
}

/** A device with what is derived for the path of its frames. It never changes: a change of the roster makes another one. */
export interface DeviceEntry extends Device {
  /** What its protocol's decoder is told: `settings`, `model` and `timeZone`. */
  readonly protocolSettings: Settings
  /** undefined: whoever uses its id is taken for the device. */
  readonly guard: Guard | undefined
  /** What assignments say, in order of time, without overlaps. */
  readonly stays: readonly Stay[]
  /** What its own courier and route say, for all other times. */
  readonly usual?: Stay
}
