import { randomUUID } from 'node:crypto'
import type { Fix, Transport } from '../../protocols/kit/index.ts'
import { everySecond } from '../async.ts'
import { appendEvents, EVENTS_KEPT, keys, type Redis, tellHeard } from '../lanes/index.ts'
import type { DeviceSession } from './device.ts'
import { giveLifeSign } from './gateways.ts'

/** When and how a device was last heard. Instants in ms UTC. */
export interface Contact {
  at: number
  /** Absent for a device that has only logged in over MQTT. */
  protocol?: string
  transport: Transport
  remote: string
  /** When its open connection began; absent without a connection. */
  connectedAt?: number
  /** Whether a relay sent it, which alone has a connection. */
  isRelayed?: boolean
}

/** What was last heard of a device, for the admin port. */
export interface Heard extends Contact {
  /** The last fix that is stored, in UTC; without those ahead of our clock, whose time is not known. */
  fix?: { readonly at: number; readonly fix: Fix }
  /** The last fix that did not go to a lane, and why. `held`: it is stored, and may have gone to a lane since. */
  filtered?: { readonly reason: string; readonly at: number; readonly fix: Fix; readonly held?: true }
}

/** A contact in Redis, with the gateway process that heard the device. */
export interface StoredContact extends Contact {
  readonly gateway: string
}

/** What happened to a device, as it is kept in Redis; `at` in ms UTC. */
export type DeviceEvent = { readonly at: number } & Happening

type Happening =
  /** At the login over MQTT, else at the first message. Over MQTT each message has a protocol of its own. */
  | { readonly event: 'connected'; readonly protocol?: string; readonly transport: string; readonly remote: string }
  /** `reason`: why the gateway ended the connection; absent where the device or the network did. */
  | { readonly event: 'disconnected'; readonly remote: string; readonly reason?: string }
  | { readonly event: 'routed'; readonly lane: string }
  | { readonly event: Exclude<Treatment, 'routed'>; readonly reason: string }

/** What happened to a message: its fixes went to a lane, were held or filtered, or all of it was refused. */
export type Treatment = 'routed' | 'held' | 'filtered' | 'misunderstood' | 'refused'

/**
 * Notes what devices send and what happens to them, and writes it to Redis once a second; no frame waits for that.
 * An event is noted when something changes. An event that repeats the latest one in Redis is left out there, so that neither
 * a restart nor a second gateway makes one. Of one device, six connections and six changes are noted in ten minutes.
 */
export class HeardBook {
  readonly #redis: Redis
  readonly #gateway: string
  readonly #devices = new Map<string, Track>()
  /** Devices with something that is not in Redis yet. */
  readonly #changed = new Set<Track>()
  readonly #lifeSign: ReturnType<typeof giveLifeSign>
  readonly #writes: ReturnType<typeof everySecond>

  /** `problems`: why this gateway acknowledges nothing, as sentences. `gateway`: which process this is. */
  constructor(redis: Redis, problems: () => readonly string[] = () => [], gateway: string = randomUUID()) {
    this.#redis = redis
    this.#gateway = gateway
    this.#lifeSign = giveLifeSign(redis, gateway, problems)
    this.#writes = everySecond(() => this.#write())
  }

  /** A device sent a message; `protocol`: undefined at a login over MQTT. */
  spoke(device: string, session: DeviceSession, protocol?: string): void {
    const { now: at, transport, remote, isRelayed } = session
    const track = this.#devices.get(device) ?? this.#begin(device)
    // The newest connection counts only where it proves as much as an open one.
    if (track.provedAt > 0 && !session.isProved) return
    const connectedAt = isConnected(session) ? session.connectedAt : undefined
    const { contact } = track
    if (contact?.connectedAt !== connectedAt) this.#connected(track, session, protocol)
    if (session.isProved && connectedAt !== undefined) track.provedAt = connectedAt
    if (contact?.remote === remote && contact.protocol === protocol && contact.connectedAt === connectedAt)
      contact.at = at
    else track.contact = { at, protocol, transport, remote, connectedAt, isRelayed, gateway: this.#gateway }
    this.#changed.add(track)
  }

  /** What a device's last message changes of its last fixes, once they are stored. */
  stored(device: string, { fix, filtered }: Pick<Heard, 'fix' | 'filtered'>): void {
    const track = this.#devices.get(device)
    if (!track?.contact) return
    if (fix) track.fix = fix
    if (filtered) track.filtered = filtered
    this.#changed.add(track)
  }

  /** What became of something that a device sent, with the lane or the reason: an event where it differs from before. */
  became(device: string, treatment: Treatment, what: string): void {
    const track = this.#devices.get(device) ?? this.#begin(device)
    const isSame = track.treatment === treatment && track.what === what
    if (isSame && !track.mayBeOld) return
    const changes = isSame ? track.changes : withinLimit(track.changes, performance.now())
    if (!changes) return
    track.changes = changes
    track.treatment = treatment
    track.what = what
    track.mayBeOld = false
    this.#note(track, treatment === 'routed' ? { event: treatment, lane: what } : { event: treatment, reason: what })
  }

  /** The connection of a device ended. */
  gone({ connectedAt, device, ended, remote }: DeviceSession): void {
    const track = device === undefined ? undefined : this.#devices.get(device)
    if (device === undefined || !track) return
    if (track.provedAt === connectedAt) track.provedAt = 0
    if (track.connectedAt === connectedAt) {
      track.connectedAt = 0
      if (track.isConnectionNoted) this.#note(track, { event: 'disconnected', remote, reason: ended })
    }
    if (track.contact?.connectedAt === connectedAt) {
      track.contact.connectedAt = undefined
      this.#changed.add(track)
    }
  }

  /** The devices that are connected, or were heard since a time, and from when on; ms UTC. */
  *presentSince(since: number): Iterable<{ readonly device: string; readonly from: number }> {
    for (const [device, { contact }] of this.#devices)
      if (contact && (contact.connectedAt !== undefined || contact.at >= since))
        yield { device, from: Math.max(since, contact.connectedAt ?? contact.at) }
  }

  /** Ends the sign of life, then writes the rest. */
  async close(): Promise<void> {
    await Promise.all([this.#lifeSign.end(), this.#writes.stop()])
    await this.#write()
  }

  #connected(track: Track, session: DeviceSession, protocol?: string): void {
    const { connectedAt, remote, transport } = session
    // If the device has two connections, the newer one counts.
    if (!isConnected(session) || connectedAt <= track.connectedAt) return
    track.connectedAt = connectedAt
    const connections = withinLimit(track.connections, performance.now())
    track.isConnectionNoted = connections !== undefined
    if (!connections) return
    track.connections = connections
    track.mayBeOld = true
    this.#note(track, { event: 'connected', protocol, transport, remote })
  }

  #note(track: Track, happening: Happening): void {
    const event = JSON.stringify({ at: Date.now(), ...happening } satisfies DeviceEvent)
    track.events = [...track.events, event].slice(-EVENTS_KEPT)
    this.#changed.add(track)
  }

  #begin(device: string): Track {
    const track = new Track(device)
    this.#devices.set(device, track)
    return track
  }

  /** While Redis is slow, several messages of a device are written as one. What another gateway heard beside it stays. */
  async #write(): Promise<void> {
    const changed = [...this.#changed]
    for (let at = 0; at < changed.length; at += DEVICES_AT_ONCE)
      await this.#writeTracks(changed.slice(at, at + DEVICES_AT_ONCE))
  }

  /** What Redis does not take waits; of events, 20 of a device at most. */
  async #writeTracks(tracks: readonly Track[]): Promise<void> {
    const [contacts, fixes, unplaced]: string[][] = [[], [], []]
    const devices = tracks.map(({ device }) => device)
    const events = tracks.map((track) => track.events)
    for (const track of tracks) {
      const { device, contact, fix, filtered } = track
      this.#changed.delete(track)
      track.events = NO_EVENTS
      if (contact) contacts.push(device, JSON.stringify(contact))
      if (fix) fixes.push(device, JSON.stringify(fix))
      if (filtered) unplaced.push(device, JSON.stringify(filtered))
    }
    const happened = devices.map((device, at) => [device, events[at]] as const).filter(([, some]) => some.length > 0)
    const writes: Promise<unknown>[] = []
    if (contacts.length > 0) writes.push(this.#redis.hset(keys.devices, ...contacts))
    if (fixes.length > 0) writes.push(this.#redis.hset(keys.lastFixes, ...fixes))
    if (unplaced.length > 0) writes.push(this.#redis.hset(keys.lastFiltered, ...unplaced))
    if (happened.length > 0) writes.push(appendEvents(this.#redis, happened))
    // After the writes: who is told must find them. Over one connection commands run in their order.
    if (contacts.length > 0) writes.push(tellHeard(this.#redis, devices))
    try {
      await Promise.all(writes)
    } catch {
      for (const [at, track] of tracks.entries()) {
        track.events = [...events[at], ...track.events].slice(-EVENTS_KEPT)
        this.#changed.add(track)
      }
    }
  }
}

/** Whether a device stays connected: UDP has no connection, one of HTTP lasts for a request, and that of a relay is not its own. */
export function isConnected({ transport, isRelayed }: Pick<Contact, 'transport' | 'isRelayed'>): boolean {
  return !isRelayed && (transport === 'tcp' || transport === 'mqtt')
}

/** What is remembered of one device. */
class Track {
  readonly device: string
  contact?: StoredContact
  fix?: Heard['fix']
  filtered?: Heard['filtered']
  /** Events that are not in Redis yet, as JSON. */
  events: readonly string[] = NO_EVENTS
  /** When the connection began that was noted last; 0: it has ended. */
  connectedAt = 0
  /**
   * When the open connection began on which the device has presented its secret or a certificate; 0 if there is none.
   */
  provedAt = 0
  /** Whether the event of its beginning was noted. */
  isConnectionNoted = false
  /** What became of what it sent last, with the lane or the reason; undefined: nothing yet. */
  treatment?: Treatment
  what = ''
  /** Whether another gateway may have noted something else since. */
  mayBeOld = false
  /** When its last connections and changes were noted, by `performance.now()`. */
  connections: readonly number[] = NEVER
  changes: readonly number[] = NEVER

  constructor(device: string) {
    this.device = device
  }
}

/** Shared by all devices without a recent event, which are most of them, to save memory. */
const NEVER: readonly number[] = []
const NO_EVENTS: readonly string[] = []

/** The times of the last six events with one at `now`, ms, where it is one of six in ten minutes; undefined where it is not. */
export function withinLimit(times: readonly number[], now: number): readonly number[] | undefined {
  if (times.length === MAX_EVENTS && now - times[0] < WITHIN_MS) return undefined
  // `concat` leaves no room for more, as a spread does.
  return times.slice(1 - MAX_EVENTS).concat(now)
}

const MAX_EVENTS = 6
const WITHIN_MS = 600_000
/** How many devices' events one script writes; it takes some milliseconds of Redis' time. */
const DEVICES_AT_ONCE = 500
