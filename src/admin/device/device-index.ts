import { yieldToEventLoop } from '../../async.ts'
import type { DeviceCondition } from '../../diagnose/devices.ts'
import type { LostSender, StoppedWith } from '../../diagnose/device-facts.ts'
import { sameId } from '../../domain/ids.ts'
import { belongedAt, type DeviceEntry } from '../../roster/device-entry.ts'
import type { RosterFollower } from '../../roster/replica.ts'
import type { Roster } from '../../roster/roster.ts'
import {
  beginReading,
  type Contact,
  type DeviceNews,
  type DeviceRecord,
  heardSince,
  type ReadTo,
  readRecords,
  recordedDevices,
  recordOf,
  writeRecords,
} from '../../store/device-record.ts'
import { liveGateways } from '../../store/gateways.ts'
import { type HeldPlace, isConnectionError, keys, type Shard, type Store } from '../../store/index.ts'
import { compare, type ListPlace } from '../paging.ts'
import { DeafTimes } from './deaf-times.ts'
import { HeldIndex } from './held-index.ts'
import type { DeviceMapping, DeviceState } from '../schemas/devices.ts'
import { isIntervalNew, type Learnt, learn, UNLEARNT } from './learnt.ts'
import { type FindSpoken, LostSenders } from './lost-senders.ts'

/** A device that is configured, was heard, or has held fixes. */
export interface IndexedDevice {
  /** The id as the entry writes it; without an entry, as the device sent it. */
  readonly id: string
  readonly entry?: DeviceEntry
  /** Its record; for a configured device, only if it was heard for its present company. */
  readonly heard?: DeviceRecord
  readonly learnt: Learnt
  /** In the list of all: by name, those without a name last, then by id. */
  readonly place: ListPlace
  /** Its condition at the last survey; undefined if something has changed since. */
  surveyed?: SurveyedDevice
  /** If it fell silent together with others and was not heard since: with whom. */
  stopped?: StoppedWith
  /** Its condition when followers of changes were last informed. */
  told?: SurveyedDevice
}

/** `state`: undefined for a device that is not configured and was never heard. */
export interface SurveyedDevice {
  readonly condition: DeviceCondition
  readonly state?: DeviceState
  readonly mapping: DeviceMapping
}

/** By name, then by id; devices without a name are last. */
export function placeOfDevice({ id, name }: { readonly id: string; readonly name?: string }): ListPlace {
  return name === undefined ? [1, id] : [0, `${name}\0${id}`]
}

export interface DeviceIndexSources {
  readonly redis: Store
  readonly directory: () => Roster
  readonly follow: (changed: RosterFollower) => void
  readonly speaks?: FindSpoken
}

/** Reading position in the records of a shard. `due`: devices to read again. */
interface ShardReading {
  readonly due: Set<string>
  readTo?: ReadTo
}

/**
 * Holds all devices in memory, so that lists and the diagnosis cost Redis nothing. Reads them once and then stays current:
 * call `catchUp` once a second. 100,000 devices take about 150 MB.
 */
export class DeviceIndex {
  readonly #sources: DeviceIndexSources
  /** By id without leading zeros. */
  readonly #devices = new Map<string, IndexedDevice>()
  readonly #held: HeldIndex
  readonly #lost: LostSenders
  /** When no device could be heard: that is nobody's silence. */
  readonly deaf = new DeafTimes()
  readonly #shards: ReadonlyMap<Shard, ShardReading>
  #rosterDue: Set<string> | 'all' = 'all'
  #live: ReadonlySet<string> = new Set()
  #looking: Promise<void> | undefined
  #lookedAt = -Infinity
  #order: readonly IndexedDevice[] = []
  #isOrderDue = false
  /** Devices that have changed since the follower last asked; undefined: there is no follower. */
  #changed: Set<string> | undefined

  constructor(sources: DeviceIndexSources) {
    this.#sources = sources
    this.#shards = new Map(sources.redis.shards.map((shard) => [shard, { due: new Set() }]))
    this.#held = new HeldIndex(sources.redis)
    this.#lost = new LostSenders(sources)
    sources.follow((changed) => this.#rosterChanged(changed))
  }

  /** All devices in order. The list is nearly sorted, so sorting it as a whole is cheap. */
  get inOrder(): readonly IndexedDevice[] {
    if (!this.#isOrderDue) return this.#order
    this.#isOrderDue = false
    const left = new Set<IndexedDevice>(this.#devices.values())
    const before = this.#order.filter((device) => left.delete(device))
    this.#order = [...before, ...left].toSorted((a, b) => compare(a.place, b.place))
    return this.#order
  }

  /** The device with this id, leading zeros or not. */
  find(id: string): IndexedDevice | undefined {
    return this.#devices.get(sameId(id))
  }

  /** Whether everything written until a few seconds ago is known. */
  get isCurrent(): boolean {
    const isRead = this.#shards.values().every(({ due }) => due.size === 0)
    return isRead && performance.now() - this.#lookedAt < CURRENT_MS
  }

  /** Notes from now on which devices change. */
  followChanges(): void {
    this.#changed = new Set()
  }

  /** Marks a device as changed, for changes outside of the index: the passing of time, or a finding. */
  touch(id: string): void {
    this.#changed?.add(sameId(id))
  }

  /** Devices that have changed since they were taken last: at most `most`, those first that changed first. */
  takeChanged(most: number): IndexedDevice[] {
    const first = this.#changed?.values().take(most).toArray() ?? []
    return first.flatMap((key) => {
      this.#changed?.delete(key)
      return this.#devices.get(key) ?? []
    })
  }

  /** Returns the reasons for which fixes of the device are held, and where; empty if none are held. */
  heldOf({ id }: Pick<IndexedDevice, 'id'>): readonly HeldPlace[] {
    return this.#held.of(sameId(id))
  }

  /** Returns the sender that sent the device's id to a port of another protocol, if that was after the device was last heard. */
  senderOf({ entry, id, heard }: Pick<IndexedDevice, 'entry' | 'id' | 'heard'>, now: number): LostSender | undefined {
    const sender = this.#lost.of(sameId(id), now)
    const isOwn = sender && belongedAt(entry ?? {}, sender.at)
    return isOwn && sender.at > (heard?.at ?? 0) + ANOTHER_MS ? sender : undefined
  }

  /** Returns how long a device could not be heard since it was heard last, ms. */
  deafMs({ at, remote }: Contact, now: number): number {
    return this.deaf.within(at, now, remote)
  }

  /** The last contact of a device. A connection counts only while its gateway gives a life sign. */
  contactOf({ heard }: Pick<IndexedDevice, 'heard'>): Contact | undefined {
    if (heard?.connectedAt === undefined || this.#live.has(heard.gateway)) return heard
    return { ...heard, connectedAt: undefined }
  }

  /**
   * Resolves once everything written before the call is known, up to 5,000 devices of a shard. Rejects if Redis does not
   * answer.
   */
  async catchUp(): Promise<void> {
    if (this.#looking) await this.#looking.catch(() => {})
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  /** Like `catchUp`, but while Redis is away the earlier state counts. Rejects if there is none. */
  async catchUpIfPossible(): Promise<void> {
    await this.catchUp().catch((error: Error) => {
      const isRead = this.#shards.values().every(({ readTo }) => readTo !== undefined)
      if (!isRead || !isConnectionError(error)) throw error
    })
  }

  /** A shard that is not connected holds up no other. */
  async #look(): Promise<void> {
    await this.#applyRoster()
    const looks = [this.#lookAround(), ...Array.from(this.#shards, ([shard, reading]) => this.#read(shard, reading))]
    await Promise.allSettled(looks)
    await Promise.all(looks)
    this.#lookedAt = performance.now()
  }

  /** Reads what is outside of the records: live gateways, devices with held fixes, and devices that came to a wrong port. */
  async #lookAround(): Promise<void> {
    const [live, came, lost] = await Promise.all([
      liveGateways(this.#sources.redis),
      this.#held.look(),
      this.#lost.look(),
    ])
    this.#live = new Set(live.keys())
    for (const key of came) this.#set(key, {})
    for (const key of lost) if (this.#devices.has(key)) this.#set(key, {})
  }

  async #applyRoster(): Promise<void> {
    const due = this.#rosterDue
    this.#rosterDue = new Set()
    const roster = this.#sources.directory()
    for (const id of due === 'all' ? [...this.#devices.keys()] : due) {
      this.#configure(id, roster.find(id))
      await yieldToEventLoop()
    }
    if (due !== 'all') return
    for (const entry of roster.devices()) {
      this.#configure(sameId(entry.id), entry)
      await yieldToEventLoop()
    }
  }

  #rosterChanged(changed: ReadonlySet<string> | undefined): void {
    if (!changed) this.#rosterDue = 'all'
    else if (this.#rosterDue !== 'all') for (const id of changed) this.#rosterDue.add(id)
  }

  #configure(key: string, entry: DeviceEntry | undefined): void {
    const before = this.#devices.get(key)
    if (before) before.surveyed = undefined
    if (before?.entry === entry) return
    // Only what is heard under its own id counts, and what was heard earlier may belong to another company.
    const isSame = before?.id === entry?.id && before?.entry?.companySince === entry?.companySince
    if (!entry || isSame) return this.#set(key, { entry })
    this.#shards.get(this.#sources.redis.shardOf(entry.id))?.due.add(entry.id)
    this.#set(key, { ...UNHEARD, id: entry.id, entry })
  }

  /** Reads the changed records of a shard; all records if the changes are not known. */
  async #read(shard: Shard, reading: ShardReading): Promise<void> {
    const changes = await heardSince(shard, reading.readTo)
    // Read first: devices that are heard meanwhile are then read again.
    const readTo = changes?.readTo ?? (await beginReading(shard))
    if (!changes) await this.#readAll(shard)
    reading.readTo = readTo
    for (const device of changes?.devices ?? []) reading.due.add(device)
    const due = [...reading.due].slice(0, MOST_READ)
    for (let at = 0; at < due.length; at += SLICE) {
      const devices = due.slice(at, at + SLICE)
      await this.#readDevices(shard, devices)
      for (const device of devices) reading.due.delete(device)
    }
  }

  async #readAll(shard: Shard): Promise<void> {
    if (shard === this.#sources.redis) await shard.unlink(keys.beforeRecords)
    for (const [key, { heard, id }] of this.#devices)
      if (heard && this.#sources.redis.shardOf(id) === shard) this.#set(key, UNHEARD)
    for await (const devices of recordedDevices(shard)) {
      await this.#readDevices(shard, devices)
      await yieldToEventLoop()
    }
  }

  async #readDevices(shard: Shard, devices: readonly string[]): Promise<void> {
    if (devices.length === 0) return
    const records = await readRecords(shard, devices)
    const learnt = records.flatMap((record, index) => this.#heard(devices[index], record) ?? [])
    // If Redis' memory is full, the intervals are not kept: that must not make the answer fail.
    if (learnt.length > 0) await writeRecords(shard, learnt).catch(() => {})
  }

  /** Takes in the record of a device. Returns its usual interval if that is to be kept. */
  #heard(device: string, record: DeviceRecord | undefined): DeviceNews | undefined {
    const key = sameId(device)
    const before = this.#devices.get(key)
    const heard = record && recordOf(before?.entry, record)
    if (!heard) {
      if (before?.id === device) this.#set(key, UNHEARD)
      return undefined
    }
    if (before?.entry ? before.id !== device : heard.at < (before?.heard?.at ?? 0)) return undefined
    const learnt = learn(before, heard)
    // Otherwise several admin processes that know different intervals would overwrite each other in turn.
    const isNews = heard.at > (before?.heard?.at ?? heard.at)
    this.#set(key, { id: device, heard, learnt })
    const { usualMs, sleepMs } = learnt
    return isNews && isIntervalNew(learnt, heard) ? { device, usualMs, sleepMs } : undefined
  }

  /**
   * Updates a device and drops the conclusions drawn from its earlier state. A device leaves the index if it is not
   * configured, was never heard, and has no held fixes.
   */
  #set(key: string, change: Partial<IndexedDevice>): void {
    this.touch(key)
    const before = this.#devices.get(key)
    const known = before ?? { id: key, learnt: UNLEARNT, place: NOWHERE }
    const device: IndexedDevice = Object.assign(known, change, NOT_SURVEYED)
    if (!device.entry && !device.heard && this.#held.of(key).length === 0) {
      if (this.#devices.delete(key)) this.#isOrderDue = true
      return
    }
    if (!before) this.#devices.set(key, device)
    const place = placeOfDevice({ id: device.id, name: device.entry?.name })
    if (before && compare(place, device.place) === 0) return
    Object.assign(device, { place })
    this.#isOrderDue = true
  }
}

const UNHEARD = { heard: undefined, learnt: UNLEARNT }
const NOT_SURVEYED = { surveyed: undefined }
const NOWHERE: ListPlace = [Infinity, '']
/** A device that was heard a moment ago is understood. */
const ANOTHER_MS = 60_000
const SLICE = 500
const CURRENT_MS = 5000
/** The most changed devices of a shard that one look reads; the next look continues. */
const MOST_READ = 5000
