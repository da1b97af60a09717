import { randomUUID } from 'node:crypto'
import type { Fix, Transport } from '../../protocols/kit/index.ts'
import { everySecond } from '../async.ts'
import { appendEvents, EVENTS_KEPT, keys, type Redis, tellHeard } from '../lanes/index.ts'
import type { DeviceSession } from './device.ts'
import { giveLifeSign } from './gateways.ts'
import { HeardDevice, NO_EVENTS } from './heard-device.ts'

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

export type Happening =
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
  /** Which process this is. */
  readonly gateway: string
  /** Devices with something that is not in Redis yet; they add themselves. */
  changed: HeardDevice[] = []
  readonly #redis: Redis
  readonly #devices = new Map<string, HeardDevice>()
  readonly #lifeSign: ReturnType<typeof giveLifeSign>
  readonly #writes: ReturnType<typeof everySecond>

  /** `problems`: why this gateway acknowledges nothing, as sentences. `gateway`: which process this is. */
  constructor(redis: Redis, problems: () => readonly string[] = () => [], gateway: string = randomUUID()) {
    this.#redis = redis
    this.gateway = gateway
    this.#lifeSign = giveLifeSign(redis, gateway, problems)
    this.#writes = everySecond(() => this.#write())
  }

  /** What is noted of a device. */
  of(device: string): HeardDevice {
    const known = this.#devices.get(device)
    if (known) return known
    const begun = new HeardDevice(device, this)
    this.#devices.set(device, begun)
    return begun
  }

  /** The connection of a device ended. */
  gone(session: DeviceSession): void {
    if (session.device !== undefined) this.#devices.get(session.device)?.gone(session)
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

  /** While Redis is slow, several messages of a device are written as one. What another gateway heard beside it stays. */
  async #write(): Promise<void> {
    const { changed } = this
    this.changed = []
    for (let at = 0; at < changed.length; at += DEVICES_AT_ONCE)
      await this.#writeDevices(changed.slice(at, at + DEVICES_AT_ONCE))
  }

  /** What Redis does not take waits; of events, 20 of a device at most. */
  async #writeDevices(changed: readonly HeardDevice[]): Promise<void> {
    const [contacts, fixes, unplaced]: string[][] = [[], [], []]
    const devices = changed.map(({ device }) => device)
    const events = changed.map((each) => each.events)
    for (const each of changed) {
      const { device, contact, fix, filtered } = each
      each.isChanged = false
      each.events = NO_EVENTS
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
      for (const [at, each] of changed.entries()) {
        each.events = [...events[at], ...each.events].slice(-EVENTS_KEPT)
        each.changed()
      }
    }
  }
}

/** Whether a device stays connected: UDP has no connection, one of HTTP lasts for a request, and that of a relay is not its own. */
export function isConnected({ transport, isRelayed }: Pick<Contact, 'transport' | 'isRelayed'>): boolean {
  return !isRelayed && (transport === 'tcp' || transport === 'mqtt')
}

/** How many devices' events one script writes; it takes some milliseconds of Redis' time. */
const DEVICES_AT_ONCE = 500
