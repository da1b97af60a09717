import { say, type Text } from '../texts/text.ts'
import { yieldToEventLoop } from '../async.ts'
import type { Device } from '../config/devices.ts'
import { sameId } from '../domain/ids.ts'
import type { Interval } from '../domain/times.ts'
import type { Assignment } from './assignment.ts'
import {
  type DeviceEntry,
  entryOf,
  hasRoute,
  type Lane,
  lanesOf,
  type SecretDigests,
  type Stay,
} from './device-entry.ts'

/** Items of a roster to set, in this order; undefined ones are dropped. */
export interface RosterChange {
  /** By id without leading zeros. */
  readonly devices?: readonly (readonly [id: string, device: Device | undefined])[]
  readonly assignments?: LineChange
}

/** Assignments by `assignmentField`; undefined ones are dropped. */
export type LineChange = readonly (readonly [field: string, assignment: Assignment | undefined])[]

/**
 * Devices and assignments in memory. Applying a change costs what the devices concerned have; what the path of frames
 * needs of a device is derived when somebody asks for the device.
 */
export class Roster {
  /** By id without leading zeros; an entry with `stays` is derived already. */
  readonly #entries: Map<string, Device & Partial<DeviceEntry>>
  /** The ids of devices by their names. */
  readonly #named: ByText<string>
  readonly #assignments: Map<string, Assignment>
  /** The assignments by their device, as written. */
  readonly #lines: ByText<Assignment>
  /** The ids of devices with `trial: off`. */
  readonly #switched: Set<string>

  /** Creates an empty roster, or a copy of another one. */
  constructor(other?: Roster) {
    this.#entries = new Map(other ? other.#entries : [])
    this.#named = new ByText(other ? other.#named : [])
    this.#assignments = new Map(other ? other.#assignments : [])
    this.#lines = new ByText(other ? other.#lines : [])
    this.#switched = new Set(other ? other.#switched : [])
  }

  /** Applies a change. @returns the ids, without leading zeros, of the devices that it concerns. */
  apply({ devices = [], assignments = [] }: RosterChange): Set<string> {
    const concerned = new Set<string>()
    for (const [id, device] of devices) this.#setDevice(id, device, concerned)
    for (const [field, assignment] of assignments) this.#setAssignment(field, assignment, concerned)
    for (const id of concerned) {
      const entry = this.#entries.get(id)
      if (entry?.stays) this.#entries.set(id, { ...entry, stays: undefined })
    }
    return concerned
  }

  /** Like `apply`, but in slices between which the process does other work. The roster must not be used until it has ended. */
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
    const ownId = sameId(id)
    const entry = this.#entries.get(ownId)
    if (!entry || entry.stays) return entry as DeviceEntry | undefined
    const derived = entryOf(entry, this.linesOf(entry))
    this.#entries.set(ownId, derived)
    return derived
  }

  /** Returns the devices with these ids; unknown ids are left out. */
  entriesOf(ids: Iterable<string>): DeviceEntry[] {
    return Array.from(ids, (id) => this.find(id) ?? []).flat()
  }

  *devices(): Generator<DeviceEntry> {
    for (const [id, entry] of this.#entries) yield (entry.stays ? entry : this.find(id)) as DeviceEntry
  }

  /** Yields the secret digests of all devices that have any. */
  *secrets(): Generator<SecretDigests> {
    for (const entry of this.#entries.values()) if (entry.secretDigest ?? entry.previousSecretDigest) yield entry
  }

  /** Whether any device has `trial: off`. */
  get hasSwitched(): boolean {
    return this.#switched.size > 0
  }

  /** Every lane that any device has at any time, each once. */
  lanes(): Iterable<Lane> {
    return new Map(this.devices().flatMap((device) => lanesOf(device).map((lane) => [lane.key, lane]))).values()
  }

  /** Returns the stay of a device at a time; undefined if it has no route then. */
  stayAt({ stays, usual }: DeviceEntry, timeSeconds: number): Stay | undefined {
    // From the last line on: the time of most fixes is now, and few lines begin later than that.
    const stay = stays.findLast(({ from }) => from <= timeSeconds)
    return stay && timeSeconds < stay.until ? stay : usual
  }

  /** Returns the devices with this name, in upper or lower case, or with the same id apart from leading zeros. */
  named(name: string): DeviceEntry[] {
    return this.entriesOf(this.#named.of(name))
  }

  /**
   * Returns the devices that an id or a name means. An id has priority over a name, and an exact name over one in another
   * case, which must be the only such name.
   */
  meant(idOrName: string): DeviceEntry[] {
    return this.entriesOf(this.#meantBy(idOrName))
  }

  assignments(): Iterable<readonly [field: string, assignment: Assignment]> {
    return this.#assignments
  }

  assignment(field: string): Assignment | undefined {
    return this.#assignments.get(field)
  }

  /** Returns the assignments of a device, overlaps included, with its id, and with its courier if they name none. */
  assignmentsOf(device: Device): Assignment[] {
    const { id, courier_id: own = '' } = device
    return this.linesOf(device).map((line) => ({ ...line, device: id, courier_id: line.courier_id || own }))
  }

  /** Returns the assignments of a device as written: also those by its name, and those with an empty courier. */
  linesOf({ id, name, company_id, courier_id }: Device): Assignment[] {
    const ownId = sameId(id)
    return [...new Set([...this.#lines.of(id), ...this.#lines.of(name)])].filter(
      (line) =>
        (line.courier_id || courier_id) &&
        (line.company_id ?? company_id) === company_id &&
        this.#meantBy(line.device).includes(ownId),
    )
  }

  #setDevice(id: string, device: Device | undefined, concerned: Set<string>): void {
    const before = this.#entries.get(id)
    const isRenamed = before?.name !== device?.name
    concerned.add(id)
    // Lines with the id or a name as their text may have meant other devices of that name, or do from now on.
    for (const text of isRenamed ? [id, before?.name, device?.name] : [id])
      for (const other of this.#named.of(text)) concerned.add(other)
    if (isRenamed) {
      this.#named.remove(before?.name, id)
      this.#named.add(device?.name, id)
    }
    if (device) this.#entries.set(id, device)
    else this.#entries.delete(id)
    if (device?.trial === 'off') this.#switched.add(id)
    else this.#switched.delete(id)
  }

  #setAssignment(field: string, assignment: Assignment | undefined, concerned: Set<string>): void {
    const before = this.#assignments.get(field)
    if (before) this.#lines.remove(before.device, before)
    if (assignment) {
      this.#lines.add(assignment.device, assignment)
      this.#assignments.set(field, assignment)
    } else this.#assignments.delete(field)
    const { device } = assignment ?? before ?? {}
    for (const id of device === undefined ? [] : this.#meantBy(device)) concerned.add(id)
  }

  #meantBy(device: string): readonly string[] {
    const id = sameId(device)
    if (this.#entries.has(id)) return [id]
    const named = this.#named.of(device)
    const nameOf = (other: string) => this.#entries.get(other)?.name
    const exact = named.filter((other) => nameOf(other) === device)
    if (exact.length > 0) return exact
    // Names are compared without leading zeros removed: a name of digits does not mean another name.
    const alike = named.filter((other) => nameOf(other)?.toLowerCase() === device.toLowerCase())
    return new Set(alike.map(nameOf)).size === 1 ? alike : []
  }
}

/** Lists of values by text, compared in lower case, and without leading zeros if the text is digits. */
class ByText<Value> extends Map<string, readonly Value[]> {
  of(text: string | undefined): readonly Value[] {
    return (text === undefined ? undefined : this.get(keyOf(text))) ?? []
  }

  add(text: string | undefined, value: Value): void {
    if (text !== undefined) this.set(keyOf(text), [...this.of(text), value])
  }

  remove(text: string | undefined, value: Value): void {
    if (text === undefined) return
    const left = this.of(text).filter((other) => other !== value)
    if (left.length > 0) this.set(keyOf(text), left)
    else this.delete(keyOf(text))
  }
}

function keyOf(text: string): string {
  return sameId(text.toLowerCase())
}

/** Resolves to the roster after a change, the concerned devices before it, and those that lose their route in an interval. */
export async function effectOf(change: RosterChange, roster: Roster, interval: Interval) {
  const after = new Roster(roster)
  const concerned = roster.entriesOf(await after.applyInSlices(change))
  const losing = concerned.filter((device) => hasRoute(device, interval) && !hasRoute(after.find(device.id), interval))
  return { after, concerned, losing }
}

/** Returns, in words, how many devices lose their route in an interval, if these are more than half of those that have one. */
export function lossOf(lost: number, all: Iterable<DeviceEntry>, interval: Interval): Text | undefined {
  if (lost === 0) return undefined
  const routed = Array.from(all).filter((device) => hasRoute(device, interval)).length
  if (lost * 2 <= routed) return undefined
  return routed === 1 ? say('the only device that has one') : say('{} of the {} devices that have one', lost, routed)
}

const SLICE = 500
