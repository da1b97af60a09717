import type { Settings } from '../../protocols/kit/index.ts'
import { yieldToEventLoop } from '../async.ts'
import type { Device } from '../config/devices.ts'
import { networksOf } from '../config/networks.ts'
import type { Interval } from '../config/times.ts'
import { sameId } from '../config/units.ts'
import type { Assignment, DeviceEntry, Lane, Stay } from './directory.ts'
import { partsOf } from './spans.ts'

/** What of a roster is set, in this order; what is undefined is dropped. */
export interface RosterChange {
  /** By id without leading zeros. */
  readonly devices?: readonly (readonly [id: string, device: Device | undefined])[]
  /** By `assignmentField`. */
  readonly assignments?: readonly (readonly [field: string, assignment: Assignment | undefined])[]
}

/** What tells an assignment from others: all that it says. */
export function assignmentField({ device, courier_id, route_id, from, until }: Omit<Assignment, 'source'>): string {
  return `${from} ${until} ${courier_id} ${route_id} ${device}`
}

/**
 * Devices and assignments in memory. Applying a change costs what the devices concerned have; what the path of frames needs of a
 * device is derived when somebody asks for the device.
 */
export class Roster {
  /** By id without leading zeros; derived where it has `stays`. */
  readonly #entries: Map<string, Device & Partial<DeviceEntry>>
  /** The ids of the devices with a name, by the name as `folded`. */
  readonly #idsByName: Map<string, readonly string[]>
  readonly #assignments: Map<string, Assignment>
  /** By the device as written, `folded`. */
  readonly #linesByDevice: Map<string, readonly Assignment[]>

  constructor(other?: Roster) {
    this.#entries = new Map(other ? other.#entries : [])
    this.#idsByName = new Map(other ? other.#idsByName : [])
    this.#assignments = new Map(other ? other.#assignments : [])
    this.#linesByDevice = new Map(other ? other.#linesByDevice : [])
  }

  /** Applies a change. @returns the ids, without leading zeros, of the devices that it concerns. */
  apply({ devices = [], assignments = [] }: RosterChange): Set<string> {
    const concerned = new Set<string>()
    for (const [id, device] of devices) this.#setDevice(id, device, concerned)
    for (const [field, assignment] of assignments) this.#setAssignment(field, assignment, concerned)
    for (const id of concerned) this.#forgetDerived(id)
    return concerned
  }

  /**
   * As `apply`, but in slices between which the process does other work. The roster must not be used until it has
   * ended.
   */
  async applyInSlices(change: RosterChange): Promise<Set<string>> {
    const concerned = new Set<string>()
    // Assignments first: they concern no device that comes after them.
    for (const part of ['assignments', 'devices'] as const)
      for (let at = 0; at < (change[part]?.length ?? 0); at += SLICE) {
        for (const id of this.apply({ [part]: change[part]?.slice(at, at + SLICE) })) concerned.add(id)
        await yieldToEventLoop()
      }
    return concerned
  }

  /** The device with this id; ids of digits compare without leading zeros. */
  find(id: string): DeviceEntry | undefined {
    const ownId = id.charCodeAt(0) === ZERO ? sameId(id) : id
    const entry = this.#entries.get(ownId)
    if (entry?.stays) return entry as DeviceEntry
    if (!entry) return undefined
    const derived = this.#derive(entry)
    this.#entries.set(ownId, derived)
    return derived
  }

  /** Where a device is at a time; undefined where it has no route then. */
  stayAt({ stays, usual }: DeviceEntry, timeSeconds: number): Stay | undefined {
    // Most fixes are of now: few lines begin later.
    const stay = stays.findLast(({ from }) => from <= timeSeconds)
    return stay && timeSeconds < stay.until ? stay : usual
  }

  /** Whether a device has a route at some time of an interval. */
  isRouted(id: string, interval: Interval): boolean {
    const entry = this.find(id)
    return entry !== undefined && hasRoute(entry, interval)
  }

  *devices(): Generator<DeviceEntry> {
    for (const [id, entry] of this.#entries) yield (entry.stays ? entry : this.find(id)) as DeviceEntry
  }

  /** The names of devices, and the ids of those without one. */
  names(): string[] {
    return Array.from(this.#entries.values(), ({ id, name = id }) => name)
  }

  /** Every lane that any device has at any time, each once. */
  *lanes(): Generator<Lane> {
    const seen = new Set<string>()
    for (const entry of this.devices())
      for (const lane of lanesOf(entry)) if (seen.size < seen.add(lane.key).size) yield lane
  }

  /** The devices whose name is this text, in upper or lower case, or the same id with other leading zeros. */
  named(name: string): DeviceEntry[] {
    return (this.#idsByName.get(folded(name)) ?? []).flatMap((id) => this.find(id) ?? [])
  }

  /**
   * The devices that an id or a name stands for: an id goes before a name, and a name as it is written before one in upper or
   * lower case, which must be the only such name.
   */
  meant(idOrName: string): DeviceEntry[] {
    return this.#meantBy(idOrName).flatMap((id) => this.find(id) ?? [])
  }

  /** What ids and names mean among the devices of some companies. */
  within(isOf: (company_id: string) => boolean): Pick<Roster, 'meant' | 'names'> {
    const isIn = ({ company_id }: Device) => isOf(company_id)
    return {
      meant: (idOrName) => this.meant(idOrName).filter(isIn),
      names: () => Array.from(this.#entries.values().filter(isIn), ({ id, name = id }) => name),
    }
  }

  assignments(): Iterable<readonly [field: string, assignment: Assignment]> {
    return this.#assignments
  }

  assignment(field: string): Assignment | undefined {
    return this.#assignments.get(field)
  }

  /** The assignments of one device, those that overlap too: with its own id, and its own courier where they name none. */
  assignmentsOf(device: Device): Assignment[] {
    const { id, courier_id: own = '' } = device
    return this.linesOf(device).map((line) => ({ ...line, device: id, courier_id: line.courier_id || own }))
  }

  /** The assignments of a device as they are written: those by its name too, and with an empty courier. */
  linesOf({ id, name, company_id, courier_id }: Device): Assignment[] {
    const ownId = sameId(id)
    const texts = new Set(name === undefined ? [folded(id)] : [folded(id), folded(name)])
    return Array.from(texts, (text) => this.#linesByDevice.get(text) ?? [])
      .flat()
      .filter(
        (line) =>
          (line.courier_id || courier_id) &&
          (line.company_id ?? company_id) === company_id &&
          this.#meantBy(line.device).includes(ownId),
      )
  }

  #setDevice(id: string, device: Device | undefined, concerned: Set<string>): void {
    const before = this.#entries.get(id)
    if (before?.name !== device?.name) {
      for (const name of [before?.name, device?.name])
        for (const other of name === undefined ? [] : (this.#idsByName.get(folded(name)) ?? [])) concerned.add(other)
      if (before?.name !== undefined) removeFrom(this.#idsByName, folded(before.name), id)
      if (device?.name !== undefined) addTo(this.#idsByName, folded(device.name), id)
    }
    // Lines with this text may have meant devices with this name, or do from now on.
    for (const other of this.#idsByName.get(folded(id)) ?? []) concerned.add(other)
    concerned.add(id)
    if (device) this.#entries.set(id, device)
    else this.#entries.delete(id)
  }

  #setAssignment(field: string, assignment: Assignment | undefined, concerned: Set<string>): void {
    const before = this.#assignments.get(field)
    const device = (assignment ?? before)?.device
    if (device === undefined) return
    if (before) removeFrom(this.#linesByDevice, folded(device), before)
    if (assignment) addTo(this.#linesByDevice, folded(device), assignment)
    if (assignment) this.#assignments.set(field, assignment)
    else this.#assignments.delete(field)
    for (const id of this.#meantBy(device)) concerned.add(id)
  }

  #meantBy(device: string): readonly string[] {
    const id = sameId(device)
    if (this.#entries.has(id)) return [id]
    const named = this.#idsByName.get(folded(device)) ?? NONE
    const nameOf = (other: string) => this.#entries.get(other)?.name
    const exact = named.filter((other) => nameOf(other) === device)
    if (exact.length > 0) return exact
    // Names are compared without leading zeros removed: a name of digits does not mean another name.
    const alike = named.filter((other) => nameOf(other)?.toLowerCase() === device.toLowerCase())
    return new Set(alike.map(nameOf)).size === 1 ? alike : NONE
  }

  #forgetDerived(id: string): void {
    const entry = this.#entries.get(id)
    if (entry?.stays) this.#entries.set(id, { ...entry, stays: undefined })
  }

  #derive(device: Device): DeviceEntry {
    const { company_id, courier_id = '', route_id, source } = device
    const stays = partsOf(this.linesOf(device)).map((line): Stay => {
      const lane = laneOf(company_id, line.courier_id || courier_id, line.route_id)
      return { lane, from: line.from, until: line.until, source: line.source }
    })
    const isRouted = courier_id !== '' && route_id !== undefined
    const usual = isRouted
      ? { lane: laneOf(company_id, courier_id, route_id), from: -Infinity, until: Infinity, source }
      : undefined
    return { ...device, protocolSettings: protocolSettings(device), guard: guardOf(device), stays, usual }
  }
}

/** Whether a device has a route at some time of an interval. */
export function hasRoute({ usual, stays }: DeviceEntry, { from, until }: Interval): boolean {
  return usual !== undefined || stays.some((stay) => stay.from < until && stay.until > from)
}

/** Every lane that a device has at any time. */
export function* lanesOf({ stays, usual }: DeviceEntry): Generator<Lane> {
  for (const { lane } of stays) yield lane
  if (usual) yield usual.lane
}

/**
 * Which devices would lose their route in an interval, in words, if these are more than half of the devices that have
 * one.
 */
export function lossOf(
  devices: Iterable<Pick<Device, 'id'>>,
  { before, after }: { readonly before: Roster; readonly after: Roster },
  interval: Interval,
): string | undefined {
  const routed = Array.from(devices).filter(({ id }) => before.isRouted(id, interval))
  const lost = routed.filter(({ id }) => !after.isRouted(id, interval))
  if (lost.length * 2 <= routed.length) return undefined
  return routed.length === 1
    ? 'the only device that has one'
    : `${lost.length} of the ${routed.length} devices that have one`
}

function laneOf(company: string, courier: string, route: string): Lane {
  return { company, courier, route, key: `${company}/${courier}/${route}` }
}

function guardOf(device: Device): DeviceEntry['guard'] {
  const hasSecret = (device.secretDigest ?? device.previousSecretDigest) !== undefined
  const { client_certificate, networks, protocol, transports } = device
  if (!hasSecret && !(client_certificate ?? networks ?? protocol ?? transports)) return undefined
  return { hasSecret, networks: networks && networksOf(networks) }
}

function protocolSettings({ settings, model, time_zone }: Device): Settings {
  if (settings === undefined && model === undefined && time_zone === undefined) return NO_SETTINGS
  return { ...settings, ...(model !== undefined && { model }), ...(time_zone !== undefined && { timeZone: time_zone }) }
}

/** What an id or a name has in common with others that may mean the same: lower case, digits without leading zeros. */
function folded(text: string): string {
  return sameId(text.toLowerCase())
}

function addTo<Value>(lists: Map<string, readonly Value[]>, key: string, value: Value): void {
  const before = lists.get(key)
  lists.set(key, before ? [...before, value] : [value])
}

function removeFrom<Value>(lists: Map<string, readonly Value[]>, key: string, value: Value): void {
  const left = (lists.get(key) ?? []).filter((other) => other !== value)
  if (left.length > 0) lists.set(key, left)
  else lists.delete(key)
}

const NO_SETTINGS: Settings = {}
const NONE: readonly string[] = []
const SLICE = 500
const ZERO = 0x30
