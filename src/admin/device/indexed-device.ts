import type { DeviceCondition } from '../../diagnose/devices.ts'
import { sameId } from '../../domain/ids.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import { HELD_LISTS, type HeldLists, heldDevices, heldMark, type Store } from '../../store/index.ts'
import { compare, type ListPlace } from '../paging.ts'
import type { DeviceMapping, DeviceState } from './json.ts'
import { type Learnt, UNLEARNT } from './learnt.ts'
import type { Heard, StoredContact } from '../../store/device-record.ts'

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

/** Devices by their keys (ids without leading zeros), and in the order of their places; which of them change can be followed. */
export class DeviceList {
  readonly #devices = new Map<string, Changing<IndexedDevice>>()
  #order: readonly IndexedDevice[] = []
  #isOrderDue = false
  /** Devices that have changed since the follower last asked; undefined: there is no follower. */
  #changed: Set<string> | undefined

  get(key: string): Changing<IndexedDevice> | undefined {
    return this.#devices.get(key)
  }

  /** All by their keys. */
  all(): Iterable<readonly [key: string, device: IndexedDevice]> {
    return this.#devices
  }

  /** All by their places: what is nearly in order is sorted in one go. */
  get inOrder(): readonly IndexedDevice[] {
    if (!this.#isOrderDue) return this.#order
    this.#isOrderDue = false
    const left = new Set<IndexedDevice>(this.#devices.values())
    const before = this.#order.filter((device) => left.delete(device))
    this.#order = [...before, ...left].toSorted((a, b) => compare(a.place, b.place))
    return this.#order
  }

  /** Changes what is known of a device, which has to be surveyed again. It stays if it is configured, was heard, or `isHeld`. */
  set(key: string, change: Partial<IndexedDevice>, isHeld: boolean): void {
    this.touch(key)
    const before = this.#devices.get(key)
    const known = before ?? { id: key, learnt: UNLEARNT, place: NOWHERE }
    const device: Changing<IndexedDevice> = Object.assign(known, change, NOT_SURVEYED)
    if (!device.entry && !device.contact && !isHeld) {
      if (this.#devices.delete(key)) this.#isOrderDue = true
      return
    }
    const place = placeOfDevice({ id: device.id, name: device.entry?.name })
    if (!before) this.#devices.set(key, device)
    if (before && compare(place, device.place) === 0) return
    device.place = place
    this.#isOrderDue = true
  }

  /** Notes from now on which devices change. */
  followChanges(): void {
    this.#changed = new Set()
  }

  touch(key: string): void {
    this.#changed?.add(key)
  }

  /** Devices that have changed since they were taken last: at most `most`, those first that changed first. */
  takeChanged(most: number): IndexedDevice[] {
    const keys = this.#changed?.values().take(most).toArray() ?? []
    return keys.flatMap((key) => {
      this.#changed?.delete(key)
      return this.#devices.get(key) ?? []
    })
  }
}

export type Changing<Of> = { -readonly [Key in keyof Of]: Of[Key] }

const NOT_SURVEYED = { surveyed: undefined }
const NOWHERE: ListPlace = [Infinity, '']

/** Some held fixes of a device: in which lists, and under which name. */
export interface HeldEntry {
  readonly lists: HeldLists
  readonly device: string
}

/** The devices that have held fixes, by id without leading zeros. */
export class HeldIndex {
  readonly #redis: Store
  #places = new Map<string, HeldEntry[]>()
  #mark = ''
  #readAt = -Infinity

  constructor(redis: Store) {
    this.#redis = redis
  }

  get isEmpty(): boolean {
    return this.#places.size === 0
  }

  of(key: string): readonly HeldEntry[] {
    return this.#places.get(key) ?? NONE
  }

  /** Answers the devices that came or went. Of many devices it reads the names less often. */
  async look(): Promise<Set<string>> {
    const { devices, mark } = await heldMark(this.#redis)
    const isDue = devices <= FEW || performance.now() - this.#readAt > (mark === this.#mark ? SELDOM_MS : OFTEN_MS)
    if (!isDue) return new Set()
    this.#mark = mark
    this.#readAt = performance.now()
    const before = this.#places
    const lists = await Promise.all(
      HELD_LISTS.map(async (some) => [some, await heldDevices(this.#redis, some)] as const),
    )
    const places = lists.flatMap(([some, names]) => names.map((device): HeldEntry => ({ lists: some, device })))
    this.#places = Map.groupBy(places, ({ device }) => sameId(device))
    return new Set(before.keys()).symmetricDifference(new Set(this.#places.keys()))
  }
}

const NONE: readonly HeldEntry[] = []
const FEW = 2000
const OFTEN_MS = 2000
const SELDOM_MS = 20_000
