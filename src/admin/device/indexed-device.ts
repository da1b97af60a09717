import type { DeviceCondition } from '../../diagnose/devices.ts'
import type { Heard, StoredContact } from '../../ingest/heard.ts'
import type { DeviceEntry } from '../../roster/directory.ts'
import { compare, type ListPlace } from '../paging.ts'
import type { DeviceMapping, DeviceState } from './json.ts'
import type { Learnt } from './learnt.ts'

/** What is known of a device that is configured, was heard, or of which something is held. */
export interface IndexedDevice extends Pick<Heard, 'fix' | 'filtered'> {
  /** The id as the entry writes it; without an entry, as the device sent it. */
  readonly id: string
  readonly entry?: DeviceEntry
  readonly contact?: StoredContact
  readonly learnt: Learnt
  /** What it did when all devices were looked at last; undefined: something has changed since. */
  readonly surveyed?: SurveyedDevice
  /** In the list of all: by name, those without a name last, then by id. */
  readonly place: ListPlace
}

export interface SurveyedDevice {
  readonly condition: DeviceCondition
  readonly state: DeviceState
  readonly mapping: DeviceMapping
}

/** By name, then by id; devices without a name are last. */
export function placeOfDevice({ id, name }: { readonly id: string; readonly name?: string }): ListPlace {
  return name === undefined ? [1, id] : [0, `${name}\0${id}`]
}

/** The devices by their places: what is nearly in order is sorted in one go. */
export class DeviceOrder {
  #order: readonly IndexedDevice[] = []
  #isDue = false

  /** Notes that a device came, went, or has another place. */
  changes(): void {
    this.#isDue = true
  }

  of(devices: ReadonlyMap<string, IndexedDevice>): readonly IndexedDevice[] {
    if (!this.#isDue) return this.#order
    this.#isDue = false
    const left = new Set(devices.values())
    const before = this.#order.filter((device) => left.delete(device))
    this.#order = [...before, ...left].toSorted((a, b) => compare(a.place, b.place))
    return this.#order
  }
}
