/*
 * What the admin port answers, as far as the page reads it (src/admin/json.ts has the schemas;
 * test/admin/page-contract.test.ts compares both). Ids are text, instants RFC 3339. Fields that are absent in an older version,
 * or for a token with `companies`, are optional here.
 */

export const LINKS = ['connected', 'understood', 'identified', 'placed', 'stored', 'pushed', 'accepted'] as const
export type LinkName = (typeof LINKS)[number]
type LinkHealth = 'ok' | 'broken' | 'idle' | 'unknown'
type Weight = 'info' | 'warning' | 'error'

export interface FoundFault {
  readonly code: string
  readonly severity: Weight
  readonly link: LinkName
  readonly subject: {
    readonly device?: string
    readonly company_id?: string
    readonly courier_id?: string
    readonly route_id?: string
    readonly listener?: string
    readonly process?: string
  }
  readonly since_at: string
  readonly ended_at?: string
  readonly count: number
  readonly evidence: readonly string[]
  readonly message: string
  readonly action: string
}

export interface LinkFigures {
  readonly link: LinkName
  readonly state: LinkHealth
  readonly count?: number
  readonly per_s?: number
  readonly findings: readonly string[]
  /** Mean rates of the last 60 minutes, the oldest first. */
  readonly hour?: readonly number[]
}

export interface ProcessRow {
  readonly role: string
  readonly pid: number
  readonly host: string
  readonly since_at: string
  readonly restarts: number
  readonly last_seen_at: string
}

export const CONDITIONS = ['moving', 'standing', 'silent', 'gps_old', 'no_route', 'held', 'never', 'unknown'] as const
export type Condition = (typeof CONDITIONS)[number]

export interface SystemStatus {
  readonly companies?: readonly { readonly company_id: string; readonly name?: string }[]
  readonly waiting?: { readonly fixes: number; readonly lanes: number; readonly oldest_at?: string }
  readonly parked?: { readonly fixes: number; readonly lanes: number }
  readonly held?: { readonly fixes: number; readonly devices: number }
  readonly rates?: { readonly received_per_s: number; readonly delivered_per_s: number }
  readonly upstream: {
    readonly state: 'up' | 'down' | 'limited'
    readonly since_at: string
    readonly drained_at?: string
    readonly token_refused: readonly string[]
    readonly last_error?: {
      readonly at: string
      readonly code?: string
      readonly status?: number
      readonly message?: string
      readonly operation?: string
    }
    readonly in_flight?: number
    readonly slowest_ms?: number
  }
  readonly custody?: Readonly<Record<AccountFigure, number>>
  readonly findings: readonly FoundFault[]
  readonly time_zone: string
  readonly verdict: string
  readonly processes?: readonly ProcessRow[]
  readonly links?: readonly LinkFigures[]
  readonly vans?: Partial<Readonly<Record<Condition, number>>>
}

export const CUSTODY = [
  'received',
  'filtered',
  'delivered',
  'waiting',
  'parked',
  'held',
  'discarded',
  'difference',
] as const
type AccountFigure = (typeof CUSTODY)[number]

interface LaneOfVan {
  readonly company_id: string
  readonly courier_id: string
  readonly route_id: string
  readonly from_at?: string
  readonly until_at?: string
  readonly source: string
}

interface HeardFrom {
  readonly at?: string
  readonly protocol?: string
  readonly transport: string
  readonly remote: string
}

/** A row of the list of devices. Speed in m/s, heading in degrees, accuracy in m. */
export interface VanRow {
  readonly id: string
  readonly configured: boolean
  readonly name?: string
  readonly company_id?: string
  readonly courier_id?: string
  readonly route_id?: string
  readonly state?: 'online' | 'offline' | 'never'
  readonly last_heard?: HeardFrom
  readonly mapping: 'mapped' | 'unmapped' | 'no_route'
  readonly lane?: LaneOfVan
  readonly held?: number
  readonly condition?: Condition
  /** The last fix; without coordinates if it has none. */
  readonly position?: {
    readonly at?: string
    readonly lat?: number
    readonly lon?: number
    readonly speed?: number
    readonly heading?: number
    readonly accuracy?: number
  }
  readonly place?: string
  readonly findings?: readonly string[]
}

export interface VanEvent {
  readonly at: string
  readonly event: string
  readonly protocol?: string
  readonly transport?: string
  readonly remote?: string
  readonly reason?: string
  readonly company_id?: string
  readonly courier_id?: string
  readonly route_id?: string
}

interface MeasuredFix {
  readonly time_at?: string
  readonly valid: boolean
  readonly lat?: number
  readonly lon?: number
  readonly altitude?: number
  readonly speed?: number
  readonly heading?: number
  readonly accuracy?: number
  readonly satellites?: number
}

/** One device, as `GET /admin/devices/{id}` answers it. */
export interface VanDetail extends Omit<VanRow, 'held' | 'mapping' | 'lane'> {
  readonly mapping?: VanRow['mapping']
  readonly model?: string
  readonly source?: string
  readonly protocol?: string
  readonly secret?: boolean
  readonly time_zone?: string
  readonly settings?: Readonly<Record<string, unknown>>
  readonly file_entry?: string
  readonly held: readonly {
    readonly reason: string
    readonly fixes: number
    readonly oldest_at: string
    readonly offset?: string
    readonly replaced_line?: { readonly source: string }
  }[]
  readonly lane?: LaneOfVan & QueuedLane
  readonly connection?: HeardFrom & { readonly connected_at: string }
  readonly last_fix?: MeasuredFix & { readonly received_at: string }
  readonly last_filtered?: {
    readonly reason: string
    readonly at: string
    readonly held?: boolean
    readonly fix: MeasuredFix
  }
  readonly events: readonly VanEvent[]
}

export interface ChainLink {
  readonly link: LinkName
  readonly state: LinkHealth
  readonly since_at?: string
  readonly last_good_at?: string
  readonly evidence: readonly string[]
  readonly finding?: FoundFault
}

export interface VanChain {
  readonly device: VanRow
  readonly sentence: string
  readonly broken: LinkName | null
  readonly links: readonly ChainLink[]
  readonly findings: readonly FoundFault[]
}

export interface DeviceFrames {
  readonly watched_until_at?: string
  readonly results: readonly WatchedFrameRow[]
}

/** `bytes`: the first of `size`, as hex; `fixes`: the first of `fix_count`. */
export interface WatchedFrameRow {
  readonly at: string
  readonly transport: string
  readonly port?: number
  readonly remote?: string
  readonly protocol: string
  readonly bytes: string
  readonly size: number
  readonly text?: string
  readonly fixes: readonly ReadFix[]
  readonly fix_count: number
  readonly reply?: string
  readonly error?: string
}

export interface ReadFix extends Partial<Omit<MeasuredFix, 'time_at'>> {
  readonly time?: string
  readonly hdop?: number
}

export interface DaysOfVan {
  readonly days: readonly DayOfVan[]
  readonly time_zone: string
}

/** Local days. */
export interface DayOfVan {
  readonly date: string
  readonly from_at: string
  readonly until_at: string
  readonly fixes: number
  readonly late: number
  readonly connected: readonly { readonly from_at: string; readonly until_at: string }[]
  readonly gaps: readonly {
    readonly from_at: string
    readonly until_at: string
    readonly reason: string
    readonly message: string
  }[]
}

export interface QueuedLane {
  readonly company_id: string
  readonly courier_id: string
  readonly route_id: string
  readonly waiting: number
  readonly oldest_at?: string
  readonly last_push?: { readonly at: string; readonly status: number | string }
  readonly parked?: ParkedWhole
}

interface ParkedWhole {
  readonly status: number
  readonly message: string
  readonly tries: number
  readonly at: string
  readonly since_at: string
}

export interface ParkedOfLane {
  readonly company_id: string
  readonly courier_id: string
  readonly route_id: string
  readonly fixes: number
  readonly parked?: ParkedWhole & { readonly next_try_at?: string }
  readonly refused: readonly {
    readonly status: number
    readonly message: string
    readonly at: string
    readonly first_at: string
    readonly count: number
  }[]
}

export interface ArrivalRow {
  readonly at: string
  readonly address: string
  readonly transport: string
  readonly port?: number
  readonly protocol?: string
  readonly evidence: readonly string[]
  readonly device?: string
  readonly configured?: true
  readonly bytes?: string
  readonly position?: { readonly at: string; readonly lat: number; readonly lon: number }
  readonly waiting: number
}

export interface AuditRow {
  readonly id: string
  readonly at: string
  readonly token: string
  readonly role: string
  readonly method: string
  readonly path: string
  readonly operation: string
  readonly status: number
  readonly summary?: Readonly<Record<string, number | boolean>>
}

export interface AssignmentRow extends LaneOfVan {
  readonly device: string
  readonly name?: string
}

export interface LineRemark {
  readonly line: number
  readonly message: string
}

/** What a put of a roster changes, or would change. */
export interface PutResult {
  readonly message?: string
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly rejected: readonly LineRemark[]
  readonly warnings?: readonly LineRemark[]
  readonly without_route: readonly string[]
  readonly devices: number
  readonly put?: string
  /** The routes that vans lose which have none then. */
  readonly takes?: readonly TakenFromVan[]
  /** The vans whose lines change, at most 1,000. */
  readonly changes?: readonly VanChange[]
}

/** A route that a van loses; its bounds are left out where it has none. */
interface TakenFromVan {
  readonly device: string
  readonly name?: string
  readonly route_id: string
  readonly from_at?: string
  readonly until_at?: string
}

type LineOfVan = Omit<LaneOfVan, 'company_id' | 'source'>

/** The lines of a van that a put replaces, and those that take their place. */
export interface VanChange {
  readonly device: string
  readonly name?: string
  readonly before: readonly LineOfVan[]
  readonly after: readonly LineOfVan[]
}

/** The last result of a writer of the roster. */
export interface WriterResult {
  readonly writer: string
  readonly kind: 'file' | 'put'
  readonly company_id?: string
  readonly at: string
  readonly by?: string
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly rejected: readonly LineRemark[]
  readonly warnings: readonly LineRemark[]
  readonly put?: string
  readonly undone?: true
}

/** What an assignment does, or would do. `takes`: whom it takes a route from. */
export interface AssignmentChange {
  readonly put?: string
  readonly added: number
  readonly removed: number
  readonly takes: readonly {
    readonly device: string
    readonly name?: string
    readonly route_id: string
    readonly from_at: string
    readonly until_at: string
  }[]
  readonly warnings: readonly string[]
  readonly text: string
  readonly message?: string
}

export interface Page<Item> {
  readonly results: readonly Item[]
  readonly next_page_token?: string
}

/** What the test of the tracking API has shown, by company and step. */
export interface ApiTests {
  readonly ok: boolean
  readonly results: readonly {
    readonly company_id: string
    readonly name?: string
    readonly steps: readonly {
      readonly step: 'dns' | 'connection' | 'tls' | 'apikey' | 'oauth_token' | 'read' | 'push' | 'read_back'
      readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
      readonly seen: string
      readonly action?: string
    }[]
  }[]
}
