import { randomUUID } from 'node:crypto'
import { inTurns } from '../async.ts'
import { isBehind, type Late, lateNow } from '../domain/late.ts'
import { GatewaySign } from '../store/gateways.ts'
import {
  type Contact,
  type DeviceEvent,
  type DeviceNews,
  EVENTS_KEPT,
  type Happening,
  isConnected,
  type LastFixes,
  latestTimed,
  type StoredContact,
  type Treatment,
  writeRecords,
} from '../store/device-record.ts'
import type { Fix, Said } from '../../protocols/kit/index.ts'
import type { Shard, Store } from '../store/index.ts'
import { mergedSaid, partsOf, type SaidParts, type SaidTimes } from '../store/said.ts'
import type { Conversation } from './conversation.ts'

/** Notes on a device that the Journal makes of its frames. */
export type FrameNotes = Pick<HeardDevice, 'spoke' | 'sentBefore' | 'stored' | 'said' | 'became' | 'behindMs'>

/**
 * Notes what devices send and what happens to them. The `jobs` write the notes to Redis, and no frame waits for that. An
 * event is noted when something changes; one that repeats the latest event in Redis is dropped there, so that neither a
 * restart nor a second gateway adds one. At most six connections and six changes of a device are noted in ten minutes.
 */
export class HeardBook {
  readonly #devices = new Map<string, HeardDevice>()
  readonly #shards: ReadonlyMap<Shard, ShardNotes>
  readonly #shardOf: (device: string) => ShardNotes
  readonly #sign: GatewaySign

  /** `problems`: returns why this gateway acknowledges nothing, as sentences. `gateway`: identifies this process. */
  constructor(redis: Store, problems: () => readonly string[] = () => [], gateway: string = randomUUID()) {
    this.#shards = new Map(redis.shards.map((shard) => [shard, new ShardNotes(shard, gateway)]))
    this.#shardOf = (device) => this.#shards.get(redis.shardOf(device)) as ShardNotes
    this.#sign = new GatewaySign(redis, gateway, problems)
  }

  /**
   * Run them once a second, side by side: the sign of life waits for no other write, and a shard that does not answer holds up no
   * other.
   */
  get jobs(): Readonly<Record<string, () => Promise<void>>> {
    const writes = Array.from(this.#shards, ([{ number }, notes]) => [
      `devices of shard ${number}`,
      () => notes.write(),
    ])
    return { 'sign of life': () => this.#sign.give(), ...Object.fromEntries(writes) }
  }

  /** Returns the notes on a device. */
  of(device: string): HeardDevice {
    const known = this.#devices.get(device)
    if (known) return known
    const begun = new HeardDevice(device, this.#shardOf(device))
    this.#devices.set(device, begun)
    return begun
  }

  /** The connection of a device ended. */
  gone(session: GoneConnection): void {
    if (session.device !== undefined) this.#devices.get(session.device)?.gone(session)
  }

  /** The devices that are connected, or were heard since a time, and from when on; ms UTC. */
  *presentSince(since: number): Iterable<{ readonly device: string; readonly from: number }> {
    for (const [device, { contact }] of this.#devices)
      if (contact && (contact.connectedAt !== undefined || contact.at >= since))
        yield { device, from: Math.max(since, contact.connectedAt ?? contact.at) }
  }

  /** Ends the sign of life, then writes the last notes if Redis accepts them. Call it after the last job. */
  async close(): Promise<void> {
    await this.#sign.end()
    await Promise.allSettled(Array.from(this.#shards.values(), (shard) => shard.write()))
  }
}

/** Notes on the devices of a shard that are not in Redis yet. */
class ShardNotes {
  readonly gateway: string
  /** Devices with something that is not in Redis yet; they add themselves. */
  changed: HeardDevice[] = []
  readonly #shard: Shard
  readonly #inTurn = inTurns()

  constructor(shard: Shard, gateway: string) {
    this.#shard = shard
    this.gateway = gateway
  }

  /**
   * Resolves once all notes are written, including those of earlier calls. While Redis is slow, messages of a device are
   * merged into one write. What Redis does not accept waits, at most 20 events of a device; then it rejects with the last
   * error.
   */
  write(): Promise<void> {
    return this.#inTurn(() => this.#write())
  }

  async #write(): Promise<void> {
    const { changed } = this
    const faults: unknown[] = []
    this.changed = []
    for (let at = 0; at < changed.length; at += DEVICES_AT_ONCE) {
      const devices = changed.slice(at, at + DEVICES_AT_ONCE)
      const news = devices.map((device) => device.take())
      await writeRecords(this.#shard, news).catch((error: unknown) => {
        devices.forEach((device, index) => device.putBack(news[index]))
        faults.push(error)
      })
    }
    if (faults.length > 0) throw faults.at(-1)
  }
}

/** A connection that has ended, and one of its devices. */
type GoneConnection = Pick<Conversation, 'connectedAt' | 'device' | 'ended' | 'remote'>

/** Notes on one device. Callers that handle several of its messages keep this object rather than look it up for each. */
class HeardDevice {
  readonly device: string
  contact?: StoredContact
  /** Not in Redis yet. It is dropped once written, because fixes that stay in memory burden the garbage collector. */
  #fix?: LastFixes['fix']
  #filtered?: LastFixes['filtered']
  #said?: SaidParts
  /** Set while its fixes are late by the same time. */
  #late?: Late
  #fixBeforeAt?: number
  #events: readonly string[] = NO_EVENTS
  /** Whether it is among the changed devices of its shard. */
  #isChanged = false
  readonly #shard: Pick<ShardNotes, 'changed' | 'gateway'>
  /** Begin of the connection that was noted last; 0: it has ended. */
  #connectedAt = 0
  /** When the newest connection began that was noted, open or not. */
  #newestAt = 0
  /** When the open connection began on which the device proved itself by secret or certificate; 0: there is none. */
  #provedAt = 0
  /** Whether the event of its beginning was noted. */
  #isConnectionNoted = false
  /** What happened to its last message, with the lane or the reason; undefined: nothing yet. */
  #treatment?: Treatment
  #what = ''
  /** Whether another gateway may have noted something else since then. */
  #mayBeOld = false
  /** When its last connections and changes were noted, by `performance.now()`. */
  #connections: readonly number[] = NEVER
  #changes: readonly number[] = NEVER

  constructor(device: string, shard: Pick<ShardNotes, 'changed' | 'gateway'>) {
    this.device = device
    this.#shard = shard
  }

  /**
   * Notes a message that arrived at `arrivedAt`; the session may have sent more since. `protocol`: undefined at a login over
   * MQTT. `isProved`: whether its sender has proved to be the device.
   */
  spoke(session: Conversation, protocol?: string, isProved = session.isProved, arrivedAt = session.now): void {
    const { now: at, port, transport, remote, isRelayed } = session
    // A new connection counts only if it proves as much as an open one.
    if (this.#provedAt > 0 && !isProved) return
    const connectedAt = isConnected(session) ? session.connectedAt : undefined
    const { contact } = this
    // A frame may be noted after its connection has ended.
    const isKnown = connectedAt !== undefined && session.isGone && connectedAt <= this.#newestAt
    // If the device has two connections, the newer one counts.
    const isNew = connectedAt !== undefined && connectedAt > this.#connectedAt && !isKnown
    if (isNew) {
      this.#connectedAt = connectedAt
      this.#newestAt = Math.max(connectedAt, this.#newestAt)
      const connections = withinLimit(this.#connections, performance.now())
      this.#isConnectionNoted = connections !== undefined
      if (connections) {
        this.#connections = connections
        this.#mayBeOld = true
        this.note({ event: 'connected', protocol, transport, remote }, arrivedAt)
      }
    }
    if (isKnown && connectedAt < this.#newestAt) return
    if (!isNew && contact && at < contact.at && remote !== contact.remote) return
    if (isProved && connectedAt !== undefined) this.#provedAt = connectedAt
    if (contact?.remote === remote && contact.protocol === protocol && contact.connectedAt === connectedAt)
      contact.at = at
    else this.contact = { at, protocol, transport, remote, port, connectedAt, isRelayed, gateway: this.#shard.gateway }
    this.changed()
  }

  /** Notes the sender of a message from before the device was configured; `fix`: it now goes to a lane. Later notes stay. */
  sentBefore(contact: Contact, fix?: Fix): void {
    const { at } = contact
    if (this.contact?.connectedAt !== undefined || (this.contact?.at ?? 0) > at) return
    this.contact = { ...contact, gateway: this.#shard.gateway }
    if (fix) this.stored({ fix: { at, fix } })
    else this.changed()
  }

  /** Updates the last fixes by those of its last message, once these are stored. */
  stored({ fix, filtered }: LastFixes): void {
    if (!this.contact) return
    if (fix) this.#fix = fix
    if (filtered) this.#filtered = filtered
    const timed = latestTimed({ fix, filtered })
    if (timed) {
      this.#late = lateNow(this.#late, { at: timed.at, time: timed.fix.time, fixBeforeAt: this.#fixBeforeAt })
      this.#fixBeforeAt = timed.at
    }
    this.changed()
  }

  /** How far the times of its fixes are behind, ms; 0: they are not, as far as known. */
  get behindMs(): number {
    return isBehind(this.#late) ? this.#late.ms : 0
  }

  /** Notes values that a frame has beside its positions. */
  said(said: Said, times: SaidTimes): void {
    if (!this.contact) return
    const parts = partsOf(said, times)
    this.#said = this.#said ? mergedSaid(this.#said, parts) : parts
    this.changed()
  }

  /**
   * Notes what happened to a message that arrived at `at`, ms UTC, with the lane or the reason; it is an event if it differs
   * from the previous one.
   */
  became(treatment: Treatment, what: string, at = Date.now()): void {
    const isSame = this.#treatment === treatment && this.#what === what
    if (isSame && !this.#mayBeOld) return
    const changes = isSame ? this.#changes : withinLimit(this.#changes, performance.now())
    if (!changes) return
    this.#changes = changes
    this.#treatment = treatment
    this.#what = what
    this.#mayBeOld = false
    this.note(treatment === 'routed' ? { event: treatment, lane: what } : { event: treatment, reason: what }, at)
  }

  /** Its connection ended. */
  gone({ connectedAt, ended, remote }: GoneConnection): void {
    if (this.#provedAt === connectedAt) this.#provedAt = 0
    if (this.#connectedAt === connectedAt) {
      this.#connectedAt = 0
      if (this.#isConnectionNoted) this.note({ event: 'disconnected', remote, reason: ended })
    }
    if (this.contact?.connectedAt === connectedAt) {
      this.contact.connectedAt = undefined
      this.changed()
    }
  }

  /** Marks it for its shard to write. */
  changed(): void {
    if (!this.#isChanged) this.#shard.changed.push(this)
    this.#isChanged = true
  }

  /** Returns the notes that are not in Redis yet, for writing. */
  take(): DeviceNews {
    const { device, contact } = this
    const news = { device, contact, fix: this.#fix, filtered: this.#filtered, said: this.#said, events: this.#events }
    this.#fix = undefined
    this.#filtered = undefined
    this.#said = undefined
    this.#events = NO_EVENTS
    this.#isChanged = false
    return news
  }

  /** Takes back what could not be written. Where something newer has come since, that stays. */
  putBack({ fix, filtered, said, events = NO_EVENTS }: DeviceNews): void {
    this.#fix ??= fix
    this.#filtered ??= filtered
    this.#said = said && this.#said ? mergedSaid(said, this.#said) : (said ?? this.#said)
    this.#events = [...events, ...this.#events].slice(-EVENTS_KEPT)
    this.changed()
  }

  /** Notes an event. It is not private: each object of a class with private methods takes 8 bytes more. */
  note(happening: Happening, at = Date.now()): void {
    const event = JSON.stringify({ at, ...happening } satisfies DeviceEvent)
    this.#events = [...this.#events, event].slice(-EVENTS_KEPT)
    this.changed()
  }
}

/** Shared by the many devices without a recent event, to save memory. */
const NEVER: readonly number[] = []
const NO_EVENTS: readonly string[] = []

/**
 * Adds an event at `now` to the times of the latest events, ms, and returns the last six; undefined if there were six within
 * ten minutes already.
 */
export function withinLimit(times: readonly number[], now: number): readonly number[] | undefined {
  if (times.length === MAX_EVENTS && now - times[0] < WITHIN_MS) return undefined
  // `concat` leaves no room for more, as a spread does.
  return times.slice(1 - MAX_EVENTS).concat(now)
}

const MAX_EVENTS = 6
const WITHIN_MS = 600_000
/** The most devices in one script, which takes some milliseconds of Redis' time. */
const DEVICES_AT_ONCE = 500
