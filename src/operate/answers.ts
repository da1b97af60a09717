/* What the admin port answers, as far as these commands need it: instants are RFC 3339, ids are text. */

/** `GET /admin/status` */
export interface StatusAnswer {
  readonly waiting: { readonly fixes: number; readonly lanes: number; readonly oldest_at?: string }
  readonly parked: { readonly fixes: number; readonly lanes: number }
  readonly held: { readonly fixes: number; readonly devices: number }
  readonly rates: { readonly received_per_s: number; readonly delivered_per_s: number }
  readonly upstream: {
    readonly state: 'up' | 'down' | 'limited'
    readonly since_at: string
    /** When a backlog will be gone. */
    readonly drained_at?: string
    /** Companies whose OAuth token the service does not take. */
    readonly token_refused?: readonly string[]
  }
  readonly custody: {
    readonly received: number
    readonly filtered: number
    readonly delivered: number
    readonly waiting: number
    readonly parked: number
    readonly held: number
    readonly discarded: number
    readonly difference: number
  }
}

/** `GET /admin/devices/{id}` */
export interface DeviceAnswer {
  readonly id: string
  readonly name?: string
  readonly configured: boolean
  readonly company_id?: string
  readonly courier_id?: string
  /** Where its entry stands, as a lane's `source`. */
  readonly source?: string
  readonly held: readonly {
    readonly reason: 'unknown' | 'no_route' | 'clock'
    readonly fixes: number
    readonly oldest_at: string
    /** The `time_zone` that fits. */
    readonly offset?: string
  }[]
  /** Where its fixes go now. */
  readonly lane?: {
    readonly courier_id: string
    readonly route_id: string
    /** What says so: `routes.csv:17`, `devices.yaml:3`, or `admin 2026-11-20T08:00:00Z`, when it was put. */
    readonly source: string
    /** Since when, by a line of the roster; absent where the device's entry says so. */
    readonly from_at?: string
    readonly waiting: number
    readonly oldest_at?: string
    readonly last_push?: { readonly at: string; readonly status: number | string }
  }
  readonly state?: DeviceState
  readonly last_heard?: { readonly at: string }
  readonly last_fix?: { readonly time_at?: string; readonly received_at: string }
  readonly last_filtered?: {
    readonly reason: string
    readonly at: string
    readonly fix?: { readonly time_at?: string }
    /** Not filtered but held, and perhaps released since. */
    readonly held?: boolean
  }
}

/** `never`: it has not spoken yet. */
type DeviceState = 'online' | 'offline' | 'never'

/** A row of `GET /admin/devices`. */
export interface ListedDevice {
  readonly id: string
  readonly name?: string
  readonly configured: boolean
  readonly company_id?: string
  readonly state?: DeviceState
  readonly last_heard?: { readonly at: string }
}

/** A row of `GET /admin/parked`. */
export interface ParkedAnswer {
  readonly company_id: string
  readonly courier_id: string
  readonly route_id: string
  /** Of the whole lane. */
  readonly fixes: number
  /** Why the lane is parked whole, if it is. */
  readonly parked?: { readonly status: number; readonly message: string }
  /** Positions that were refused, by answer. */
  readonly refused: readonly { readonly status: number; readonly message: string; readonly count: number }[]
}

/** `PUT /admin/routes` */
export interface RosterAnswer {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly rejected: readonly { readonly line: number; readonly message: string }[]
  /** Ids of devices of the company that have no route now. */
  readonly without_route: readonly string[]
  /** How many devices the company has. */
  readonly devices: number
}
