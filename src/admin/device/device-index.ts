import { everySecond, yieldToEventLoop } from '../../async.ts'
import type { LostSender } from '../../diagnose/facts.ts'
import { sameId } from '../../domain/ids.ts'
import { heardBy } from '../../store/device-record.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import type { RosterFollower } from '../../roster/replica.ts'
import type { Roster } from '../../roster/roster.ts'
import { liveGateways } from '../../store/gateways.ts'
import { beginReading, heardSince, isConnectionError, keys, type ReadTo, type Store } from '../../store/index.ts'
import { type Changing, DeviceList, HeldIndex, type IndexedDevice, type SurveyedDevice } from './indexed-device.ts'
import { learn, UNLEARNT } from './learnt.ts'
import { type FindSpoken, LostSenders } from './lost-senders.ts'
import type { Contact } from '../../store/device-record.ts'

export interface DeviceIndexSources {
  readonly redis: Store
  readonly directory: () => Roster
  readonly follow: (changed: RosterFollower) => void
  readonly speaks?: FindSpoken
}

/**
 * All devices in memory, so that lists and the diagnosis cost Redis nothing. They are read once and then kept current.
 * A message takes effect here within a second, or at once after `catchUp`. 100,000 devices take about 150 MB.
 */
export class DeviceIndex {
  readonly #sources: DeviceIndexSources
  readonly #list = new DeviceList()
  readonly #held: HeldIndex
  readonly #lost: LostSenders
  readonly #looks: ReturnType<typeof everySecond>
  /** Names to be read again. */
  readonly #due = new Set<string>()
  #rosterDue: Set<string> | 'all' = 'all'
  #readTo: ReadTo | undefined
  #live: ReadonlySet<string> = new Set()
  #looking: Promise<void> | undefined

  constructor(sources: DeviceIndexSources) {
    this.#sources = sources
    this.#held = new HeldIndex(sources.redis)
    this.#lost = new LostSenders(sources)
    sources.follow((changed) => this.#rosterChanged(changed))
    this.#looks = everySecond(() => this.catchUp().catch(() => {}))
  }

  /** All, by their places; the list does not change, the devices do. */
  get inOrder(): readonly IndexedDevice[] {
    return this.#list.inOrder
  }

  /** The device with this id, leading zeros or not. */
  find(id: string): IndexedDevice | undefined {
    return this.#list.get(sameId(id))
  }

  noteSurvey(device: Changing<IndexedDevice>, surveyed: SurveyedDevice): void {
    device.surveyed = surveyed
  }

  /** Notes from now on which devices change. */
  followChanges(): void {
    this.#list.followChanges()
  }

  /** Notes that a device has changed by what is not in the index: by time, or by a finding. */
  touch(id: string): void {
    this.#list.touch(sameId(id))
  }

  /** Devices that have changed since they were taken last: at most `most`, those first that changed first. */
  takeChanged(most: number): IndexedDevice[] {
    return this.#list.takeChanged(most)
  }

  /** Why fixes of the device are held, and where; empty: none are. */
  heldOf({ id }: Pick<IndexedDevice, 'id'>) {
    return this.#held.isEmpty ? [] : this.#held.of(sameId(id))
  }

  /**
   * The sender that sent the device's id to a port that does not understand it, if that was after the device was last
   * heard.
   */
  senderOf({ id, contact }: Pick<IndexedDevice, 'id' | 'contact'>, now: number): LostSender | undefined {
    const sender = this.#lost.of(sameId(id), now)
    return sender && sender.at > (contact?.at ?? 0) + ANOTHER_MS ? sender : undefined
  }

  /** The last contact of a device. A connection counts only while its gateway gives a life sign. */
  contactOf({ contact }: Pick<IndexedDevice, 'contact'>): Contact | undefined {
    if (contact?.connectedAt === undefined || this.#live.has(contact.gateway)) return contact
    return { ...contact, connectedAt: undefined }
  }

  /** Resolves once all that was written before the call is known. Rejects where Redis does not answer. */
  async catchUp(): Promise<void> {
    if (this.#looking) await this.#looking.catch(() => {})
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  /** As `catchUp`; but while Redis is away, what was known before counts. Rejects where nothing was. */
  async catchUpIfPossible(): Promise<void> {
    await this.catchUp().catch((error: Error) => {
      if (this.#readTo === undefined || !isConnectionError(error)) throw error
    })
  }

  async close(): Promise<void> {
    await this.#looks.stop()
  }

  async #look(): Promise<void> {
    const { redis } = this.#sources
    await this.#applyRoster()
    const [changes, live, came, lost] = await Promise.all([
      heardSince(redis, this.#readTo),
      liveGateways(redis),
      this.#held.look(),
      this.#lost.look(),
    ])
    this.#live = new Set(live.keys())
    if (changes) {
      this.#readTo = changes.readTo
      for (const device of changes.devices) this.#due.add(device)
    } else await this.#readAll()
    const due = [...this.#due].slice(0, MOST_READ)
    for (let at = 0; at < due.length; at += SLICE) await this.#readDevices(due.slice(at, at + SLICE))
    for (const id of came) this.#keep(id)
    for (const id of lost) if (this.#list.get(id)) this.#keep(id)
  }

  async #applyRoster(): Promise<void> {
    const due = this.#rosterDue
    this.#rosterDue = new Set()
    const roster = this.#sources.directory()
    for (const id of due === 'all' ? Array.from(this.#list.all(), ([key]) => key) : due) {
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
    const before = this.#list.get(key)
    if (before) before.surveyed = undefined
    if (before?.entry === entry) return
    // Only what is heard under its own id is the device's, and what was heard before belongs to another company.
    const isSame = before?.id === entry?.id && before?.entry?.companySince === entry?.companySince
    if (!entry || isSame) return this.#set(key, { entry })
    this.#due.add(entry.id)
    this.#set(key, { ...UNHEARD, id: entry.id, entry })
  }

  async #readAll(): Promise<void> {
    const { redis } = this.#sources
    // First: what is heard meanwhile is read again.
    this.#readTo = await beginReading(redis)
    for (const [key, { contact }] of this.#list.all()) if (contact) this.#set(key, UNHEARD)
    for await (const slice of redis.hscanStream(keys.devices, { count: SLICE })) {
      await this.#readDevices((slice as string[]).filter((_, index) => index % 2 === 0))
      await yieldToEventLoop()
    }
  }

  async #readDevices(names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    const read = [keys.devices, keys.lastFixes, keys.lastFiltered, keys.intervals]
    const [contacts, fixes, filtered, intervals] = await Promise.all(
      read.map((key) => this.#sources.redis.hmget(key, ...names)),
    )
    const learnt: string[] = []
    for (const [index, name] of names.entries()) {
      this.#due.delete(name)
      const usualMs = this.#heard(name, {
        contact: parsed(contacts[index]),
        fix: parsed(fixes[index]),
        filtered: parsed(filtered[index]),
        usualMs: Number(intervals[index] ?? 0),
      })
      if (usualMs !== undefined) learnt.push(name, String(usualMs))
    }
    // If Redis' memory is full, the intervals are not kept: that must not make the answer fail.
    if (learnt.length > 0) await this.#sources.redis.hset(keys.intervals, ...learnt).catch(() => {})
  }

  /** Answers the usual interval of a device that sends seldom, where it has changed. */
  #heard(
    name: string,
    { usualMs, ...read }: Pick<IndexedDevice, 'contact' | 'fix' | 'filtered'> & { usualMs: number },
  ) {
    const key = sameId(name)
    const before = this.#list.get(key)
    const heard = heardBy(before?.entry, read)
    const { contact } = heard
    if (!contact) {
      if (before?.id === name) this.#set(key, UNHEARD)
      return undefined
    }
    if (before?.entry ? before.id !== name : contact.at < (before?.contact?.at ?? 0)) return undefined
    const learnt = learn(before, { ...heard, contact }, usualMs)
    this.#set(key, { ...heard, contact, id: name, learnt })
    return learnt.isIntervalNew ? learnt.usualMs : undefined
  }

  #set(key: string, change: Partial<IndexedDevice>): void {
    this.#list.set(key, change, this.#held.of(key).length > 0)
  }

  /** Puts a device into the list if anything is known of it; else removes it. */
  #keep(key: string): void {
    this.#set(key, {})
  }
}

/** What a gateway has written, as the caller knows it. */
function parsed(json: string | null) {
  return json === null ? undefined : JSON.parse(json)
}

const UNHEARD = { contact: undefined, fix: undefined, filtered: undefined, learnt: UNLEARNT }
/** A device that was heard a moment ago is understood. */
const ANOTHER_MS = 60_000
const SLICE = 500
/** The most changed devices that are read in one look. The next look reads the others. */
const MOST_READ = 5000
