import type { Settings } from '../../protocols/kit/index.ts'
import { yieldToEventLoop } from '../async.ts'
import type { Device } from '../config/devices.ts'
import { sameId } from '../config/units.ts'
import type { Assignment, DeviceEntry, Directory, Lane, Stay } from './directory.ts'
import { partsOf } from './spans.ts'

/** What of a roster is set; what is undefined is dropped. */
export interface RosterChange {
  /** By id without leading zeros. */
  readonly devices: ReadonlyMap<string, Device | undefined>
  /** By `assignmentField`. */
  readonly assignments: ReadonlyMap<string, Assignment | undefined>
}

/** What tells an assignment from others: all that it says. */
export function assignmentField({ device, courier_id, route_id, from, until }: Assignment): string {
  return `${from} ${until} ${courier_id} ${route_id} ${device}`
}

/** Devices and assignments in memory. Applying a change costs what the devices concerned have. */
export class Roster implements Directory {
  /** By id without leading zeros. */
  readonly #entries: Map<string, DeviceEntry>
  /** The ids of the devices with a name, by the name as an id: a name of digits compares without leading zeros too. */
  readonly #idsByName: Map<string, readonly string[]>
  readonly #assignments: Map<string, Assignment>
  /** Fields, by the device as written, as an id. */
  readonly #fieldsByDevice: Map<string, readonly string[]>

  constructor(other?: Roster) {
    this.#entries = new Map(other ? other.#entries : [])
    this.#idsByName = new Map(other ? other.#idsByName : [])
    this.#assignments = new Map(other ? other.#assignments : [])
    this.#fieldsByDevice = new Map(other ? other.#fieldsByDevice : [])
  }

  /** Applies a change. @returns the ids, without leading zeros, of the devices that it concerns. */
  apply({ devices, assignments }: RosterChange): Set<string> {
    const concerned = new Set<string>()
    for (const [id, device] of devices) this.#setDevice(id, device, concerned)
    for (const device of this.#setAssignments(assignments)) for (const id of this.#meantBy(device)) concerned.add(id)
    for (const id of concerned) this.#derive(id)
    return concerned
  }

  /** As `apply`, in slices, between which the process does other work. Nobody else may use the roster meanwhile. */
  async applyInSlices({ devices, assignments }: RosterChange): Promise<Set<string>> {
    const concerned = new Set<string>()
    // Assignments first: a new device is derived once, with all of them.
    const slices = [
      ...slicesOf(assignments).map((slice) => ({ devices: NOTHING, assignments: slice })),
      ...slicesOf(devices).map((slice) => ({ devices: slice, assignments: NOTHING })),
    ]
    for (const slice of slices) {
      for (const id of this.apply(slice)) concerned.add(id)
      await yieldToEventLoop()
    }
    return concerned
  }

  find(id: string): DeviceEntry | undefined {
    return this.#entries.get(id.charCodeAt(0) === ZERO ? sameId(id) : id)
  }

  laneAt(entry: DeviceEntry, timeSeconds: number): Lane | undefined {
    return this.stayAt(entry, timeSeconds)?.lane
  }

  stayAt({ stays, usual }: DeviceEntry, timeSeconds: number): Stay | undefined {
    let low = 0
    let high = stays.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (stays[middle].until <= timeSeconds) low = middle + 1
      else high = middle
    }
    const stay = stays[low]
    return stay && stay.from <= timeSeconds ? stay : usual
  }

  devices(): Iterable<DeviceEntry> {
    return this.#entries.values()
  }

  *lanes(): Generator<Lane> {
    const seen = new Set<string>()
    for (const entry of this.#entries.values())
      for (const lane of lanesOf(entry)) if (seen.size < seen.add(lane.key).size) yield lane
  }

  /** The devices whose name is this text, or the same id with other leading zeros. */
  named(name: string): DeviceEntry[] {
    return (this.#idsByName.get(sameId(name)) ?? []).flatMap((id) => this.#entries.get(id) ?? [])
  }

  /** The devices that an id or a name stands for; an id goes before a name. */
  meant(idOrName: string): DeviceEntry[] {
    return Array.from(this.#meantBy(idOrName), (id) => this.#entries.get(id)).filter((entry) => entry !== undefined)
  }

  assignments(): Iterable<readonly [field: string, assignment: Assignment]> {
    return this.#assignments
  }

  assignment(field: string): Assignment | undefined {
    return this.#assignments.get(field)
  }

  /** The assignments of one device, those that overlap too: with its own id, and its own courier where they name none. */
  assignmentsOf(device: Device): Assignment[] {
    const { id, name } = device
    const found: Assignment[] = []
    this.#addAssignments(found, device, id)
    if (name !== undefined && !this.#entries.has(sameId(name))) this.#addAssignments(found, device, name)
    return found
  }

  #addAssignments(found: Assignment[], { id, company_id, courier_id: own = '' }: Device, written: string): void {
    for (const field of this.#fieldsByDevice.get(sameId(written)) ?? []) {
      const assignment = this.#assignments.get(field)
      // A name of digits is no other name with leading zeros.
      if (!assignment || (written !== id && assignment.device !== written)) continue
      const courier_id = assignment.courier_id || own
      if (courier_id && (assignment.company_id ?? company_id) === company_id)
        found.push({ ...assignment, device: id, courier_id })
    }
  }

  #setDevice(id: string, device: Device | undefined, concerned: Set<string>): void {
    const before = this.#entries.get(id)
    if (before?.name !== device?.name) {
      if (before?.name !== undefined) removeFrom(this.#idsByName, sameId(before.name), id)
      if (device?.name !== undefined) addTo(this.#idsByName, sameId(device.name), [id])
    }
    // Lines with this text may have meant devices with this name, or do from now on.
    for (const other of this.#idsByName.get(id) ?? []) concerned.add(other)
    concerned.add(id)
    // Until `#derive`, which follows.
    if (device) this.#entries.set(id, device as DeviceEntry)
    else this.#entries.delete(id)
  }

  /** @returns the devices as written. */
  #setAssignments(changed: RosterChange['assignments']): Set<string> {
    const written = new Set<string>()
    const added = new Map<string, readonly string[]>()
    const dropped = new Map<string, Set<string>>()
    for (const [field, assignment] of changed) {
      const before = this.#assignments.get(field)
      const device = assignment?.device ?? before?.device
      if (device === undefined) continue
      written.add(device)
      const list = sameId(device)
      if (assignment && !before) addTo(added, list, [field])
      if (!assignment) dropped.set(list, (dropped.get(list) ?? new Set()).add(field))
      if (assignment) this.#assignments.set(field, assignment)
      else this.#assignments.delete(field)
    }
    for (const [list, fields] of dropped) removeAll(this.#fieldsByDevice, list, fields)
    for (const [list, fields] of added) addTo(this.#fieldsByDevice, list, fields)
    return written
  }

  #meantBy(device: string): readonly string[] {
    const id = sameId(device)
    if (this.#entries.has(id)) return [id]
    return (this.#idsByName.get(id) ?? []).filter((named) => this.#entries.get(named)?.name === device)
  }

  #derive(id: string): void {
    const device = this.#entries.get(id)
    if (!device) return
    const { company_id, courier_id, route_id, source } = device
    const stays = partsOf(this.assignmentsOf(device)).map((part): Stay => {
      return {
        lane: laneOf(company_id, part.courier_id, part.route_id),
        from: part.from,
        until: part.until,
        source: part.source,
      }
    })
    const hasOwn = courier_id !== undefined && route_id !== undefined
    const usual = hasOwn
      ? { lane: laneOf(company_id, courier_id, route_id), from: -Infinity, until: Infinity, source }
      : undefined
    this.#entries.set(id, { ...device, protocolSettings: protocolSettings(device), stays, usual })
  }
}

/** Every lane that a device has at any time. */
export function* lanesOf({ stays, usual }: DeviceEntry): Generator<Lane> {
  for (const { lane } of stays) yield lane
  if (usual) yield usual.lane
}

/** A roster of devices, whose ids are unique, and lines of files. */
export async function createDirectory(devices: Iterable<Device>, lines: Iterable<Assignment>): Promise<Roster> {
  const roster = new Roster()
  await roster.applyInSlices({
    devices: new Map(Array.from(devices, (device) => [sameId(device.id), device])),
    assignments: new Map(Array.from(lines, (line) => [assignmentField(line), line])),
  })
  return roster
}

function laneOf(company: string, courier: string, route: string): Lane {
  return { company, courier, route, key: `${company}/${courier}/${route}` }
}

function protocolSettings({ settings, model, time_zone }: Device): Settings {
  if (settings === undefined && model === undefined && time_zone === undefined) return NO_SETTINGS
  return { ...settings, ...(model !== undefined && { model }), ...(time_zone !== undefined && { timeZone: time_zone }) }
}

function addTo(lists: Map<string, readonly string[]>, key: string, values: readonly string[]): void {
  const before = lists.get(key)
  lists.set(key, before ? [...before, ...values] : values)
}

function removeFrom(lists: Map<string, readonly string[]>, key: string, value: string): void {
  removeAll(lists, key, new Set([value]))
}

function removeAll(lists: Map<string, readonly string[]>, key: string, values: ReadonlySet<string>): void {
  const left = (lists.get(key) ?? []).filter((value) => !values.has(value))
  if (left.length > 0) lists.set(key, left)
  else lists.delete(key)
}

/** Slices of some thousand entries. */
function slicesOf<Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value>[] {
  const entries = [...map]
  return Array.from(
    { length: Math.ceil(entries.length / SLICE) },
    (_, n) => new Map(entries.slice(n * SLICE, (n + 1) * SLICE)),
  )
}

const NO_SETTINGS: Settings = {}
const NOTHING: ReadonlyMap<string, undefined> = new Map()
const SLICE = 500
const ZERO = 0x30
