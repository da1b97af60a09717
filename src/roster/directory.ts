import type { Settings } from '../../protocols/kit/index.ts'
import { yieldToEventLoop } from '../async.ts'
import { isDigits, withoutZeros } from '../config/units.ts'
import { spanAt, topmost } from './spans.ts'

/** One device as devices.yaml or devices.csv has it; ids but its own are canonical digits. */
export interface Device {
  /** Its source text, zeros and all. */
  readonly id: string
  readonly name?: string
  readonly company_id: string
  /** What holds where no line of routes.csv covers a fix. */
  readonly courier_id?: string
  readonly route_id?: string
  /** IANA name or offset, of a device that reports local time. */
  readonly time_zone?: string
  /** What the device must present. */
  readonly secret?: string
  /** In place of `secret`, of a device that was put through the admin port: see secret.ts. */
  readonly secretDigest?: string
  readonly model?: string
  readonly settings?: Readonly<Record<string, unknown>>
  /** Where it stands: `devices.yaml:3`. */
  readonly source: string
}

/** One device's line of a routes file: who drives what from `from` (inclusive) until `until` (exclusive), unix seconds. */
export interface RouteLine {
  /** The id of the device, as its entry has it. */
  readonly device: string
  readonly courier_id: string
  readonly route_id: string
  readonly from: number
  readonly until: number
  /** Where it stands: `routes.csv:17`. */
  readonly source: string
  /** When it was written, ms UTC, where edits have to be told from what was there before: see edits.ts. */
  readonly writtenAt?: number
  /** Written through the admin port. */
  readonly edited?: boolean
}

/** One courier on one route. Within a directory the same key is the same object. */
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

/** A device with what is derived for the road of its frames. */
export interface DeviceEntry extends Device {
  /** What its protocol's decoder is told: `settings`, `model` and `timeZone`. */
  readonly protocolSettings: Settings
  /** What route lines say, in order of time, without overlaps. */
  readonly stays: readonly Stay[]
  /** What its own courier and route say, for all other times. */
  readonly usual?: Stay
}

/** Who drives what; never changes: a change of the configuration makes another one. */
export interface Directory {
  /** The device with this id; ids of digits compare without leading zeros. */
  find(id: string): DeviceEntry | undefined
  /** The lane of a device at a time, unix seconds; undefined where it has no route then. */
  laneAt(entry: DeviceEntry, timeSeconds: number): Lane | undefined
  /** As `laneAt`, with the line that decided. */
  stayAt(entry: DeviceEntry, timeSeconds: number): Stay | undefined
  /** All devices, in the order of their files. */
  devices(): Iterable<DeviceEntry>
  /** Every lane that any device has at any time. */
  lanes(): Iterable<Lane>
}

/**
 * Who drives what at any time. Of lines of one device that overlap the later `from` wins, of two with the same `from` the
 * latter of `lines`; where edits are among them, the last write wins. Devices' ids must be unique; lines of a device that is
 * not among `devices` are passed over. Gives way to the process' other work.
 */
export async function createDirectory(devices: readonly Device[], lines: readonly RouteLine[]): Promise<Directory> {
  const linesOf = Map.groupBy(lines, ({ device }) => device)
  const lanes = new Map<string, Lane>()
  const entries: DeviceEntry[] = []
  for (const device of devices) {
    entries.push(entryOf(device, linesOf.get(device.id) ?? [], lanes))
    await yieldToEventLoop()
  }
  return directoryOf(entries, lanes)
}

function directoryOf(entries: readonly DeviceEntry[], lanes: ReadonlyMap<string, Lane>): Directory {
  const byId = new Map<string, DeviceEntry>()
  for (const entry of entries) byId.set(sameId(entry.id), entry)

  const stayAt = ({ stays, usual }: DeviceEntry, time: number) => spanAt(stays, time) ?? usual
  return {
    find: (id) => byId.get(id.charCodeAt(0) === ZERO ? sameId(id) : id),
    laneAt: (entry, time) => stayAt(entry, time)?.lane,
    stayAt,
    devices: () => entries,
    lanes: () => lanes.values(),
  }
}

/** What two ids of one device have in common: digits without leading zeros; any other text itself. */
export function sameId(id: string): string {
  return isDigits(id) ? withoutZeros(id) : id
}

function entryOf(device: Device, lines: RouteLine[], lanes: Map<string, Lane>): DeviceEntry {
  const { company_id, courier_id, route_id, source } = device
  const laneOf = (courier: string, route: string) => laneIn(lanes, [company_id, courier, route])
  const usual = courier_id !== undefined && route_id !== undefined ? laneOf(courier_id, route_id) : undefined
  return {
    ...device,
    protocolSettings: protocolSettings(device),
    stays: partsOf(lines).map((line): Stay => {
      return { lane: laneOf(line.courier_id, line.route_id), from: line.from, until: line.until, source: line.source }
    }),
    usual: usual && { lane: usual, from: -Infinity, until: Infinity, source },
  }
}

function laneIn(lanes: Map<string, Lane>, ids: [company: string, courier: string, route: string]): Lane {
  const key = ids.join('/')
  let lane = lanes.get(key)
  if (!lane) lanes.set(key, (lane = { company: ids[0], courier: ids[1], route: ids[2], key }))
  return lane
}

function protocolSettings({ settings, model, time_zone }: Device): Settings {
  if (settings === undefined && model === undefined && time_zone === undefined) return NO_SETTINGS
  return { ...settings, ...(model !== undefined && { model }), ...(time_zone !== undefined && { timeZone: time_zone }) }
}

/**
 * What holds of each line. Files, and each put, say one thing for a time: among their own lines the later `from` decides,
 * whenever each was written. Of what they say the last write holds, which for files is that of the line that decides.
 */
function partsOf(lines: readonly RouteLine[]): readonly RouteLine[] {
  const tables = Map.groupBy(lines, ({ edited, writtenAt }) => (edited ? writtenAt : undefined))
  const said = [...tables.values()].flatMap((table) => topmost(table))
  return tables.size > 1 ? topmost(said, ({ writtenAt = 0 }) => writtenAt) : said
}

const NO_SETTINGS: Settings = {}
const ZERO = 0x30
