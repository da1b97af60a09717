import { EVENTS_KEPT } from '../lanes/index.ts'
import type { DeviceSession } from './device.ts'
import {
  type DeviceEvent,
  type Happening,
  type Heard,
  type HeardBook,
  isConnected,
  type StoredContact,
  type Treatment,
} from './heard.ts'

/** What the path of a frame asks for what is noted of devices. */
export interface HeardDevices {
  of(device: string): FrameNotes
}

/** What the path of a frame notes of a device. */
export type FrameNotes = Pick<HeardDevice, 'spoke' | 'stored' | 'became'>

/** What is noted of one device. Whoever handles several of its messages keeps this, and does not look it up for each. */
export class HeardDevice {
  readonly device: string
  contact?: StoredContact
  fix?: Heard['fix']
  filtered?: Heard['filtered']
  /** Events that are not in Redis yet, as JSON. */
  events: readonly string[] = NO_EVENTS
  /** Whether it is among those of the book that have changed; the book clears it. */
  isChanged = false
  readonly #book: Pick<HeardBook, 'changed' | 'gateway'>
  /** When the connection began that was noted last; 0: it has ended. */
  #connectedAt = 0
  /**
   * When the open connection began on which the device has presented its secret or a certificate; 0 if there is none.
   */
  #provedAt = 0
  /** Whether the event of its beginning was noted. */
  #isConnectionNoted = false
  /** What became of what it sent last, with the lane or the reason; undefined: nothing yet. */
  #treatment?: Treatment
  #what = ''
  /** Whether another gateway may have noted something else since. */
  #mayBeOld = false
  /** When its last connections and changes were noted, by `performance.now()`. */
  #connections: readonly number[] = NEVER
  #changes: readonly number[] = NEVER

  constructor(device: string, book: Pick<HeardBook, 'changed' | 'gateway'>) {
    this.device = device
    this.#book = book
  }

  /** It sent a message; `protocol`: undefined at a login over MQTT. */
  spoke(session: DeviceSession, protocol?: string): void {
    const { now: at, transport, remote, isRelayed } = session
    // The newest connection counts only where it proves as much as an open one.
    if (this.#provedAt > 0 && !session.isProved) return
    const connectedAt = isConnected(session) ? session.connectedAt : undefined
    const { contact } = this
    if (contact?.connectedAt !== connectedAt) this.#connected(session, protocol)
    if (session.isProved && connectedAt !== undefined) this.#provedAt = connectedAt
    if (contact?.remote === remote && contact.protocol === protocol && contact.connectedAt === connectedAt)
      contact.at = at
    else this.contact = { at, protocol, transport, remote, connectedAt, isRelayed, gateway: this.#book.gateway }
    this.changed()
  }

  /** What its last message changes of its last fixes, once they are stored. */
  stored({ fix, filtered }: Pick<Heard, 'fix' | 'filtered'>): void {
    if (!this.contact) return
    if (fix) this.fix = fix
    if (filtered) this.filtered = filtered
    this.changed()
  }

  /** What became of something that it sent, with the lane or the reason: an event where it differs from before. */
  became(treatment: Treatment, what: string): void {
    const isSame = this.#treatment === treatment && this.#what === what
    if (isSame && !this.#mayBeOld) return
    const changes = isSame ? this.#changes : withinLimit(this.#changes, performance.now())
    if (!changes) return
    this.#changes = changes
    this.#treatment = treatment
    this.#what = what
    this.#mayBeOld = false
    this.#note(treatment === 'routed' ? { event: treatment, lane: what } : { event: treatment, reason: what })
  }

  /** Its connection ended. */
  gone({ connectedAt, ended, remote }: DeviceSession): void {
    if (this.#provedAt === connectedAt) this.#provedAt = 0
    if (this.#connectedAt === connectedAt) {
      this.#connectedAt = 0
      if (this.#isConnectionNoted) this.#note({ event: 'disconnected', remote, reason: ended })
    }
    if (this.contact?.connectedAt === connectedAt) {
      this.contact.connectedAt = undefined
      this.changed()
    }
  }

  /** Has the book write it. */
  changed(): void {
    if (!this.isChanged) this.#book.changed.push(this)
    this.isChanged = true
  }

  #connected(session: DeviceSession, protocol?: string): void {
    const { connectedAt, remote, transport } = session
    // If the device has two connections, the newer one counts.
    if (!isConnected(session) || connectedAt <= this.#connectedAt) return
    this.#connectedAt = connectedAt
    const connections = withinLimit(this.#connections, performance.now())
    this.#isConnectionNoted = connections !== undefined
    if (!connections) return
    this.#connections = connections
    this.#mayBeOld = true
    this.#note({ event: 'connected', protocol, transport, remote })
  }

  #note(happening: Happening): void {
    const event = JSON.stringify({ at: Date.now(), ...happening } satisfies DeviceEvent)
    this.events = [...this.events, event].slice(-EVENTS_KEPT)
    this.changed()
  }
}

/** Shared by all devices without a recent event, which are most of them, to save memory. */
const NEVER: readonly number[] = []
export const NO_EVENTS: readonly string[] = []

/** The times of the last six events with one at `now`, ms, where it is one of six in ten minutes; undefined where it is not. */
export function withinLimit(times: readonly number[], now: number): readonly number[] | undefined {
  if (times.length === MAX_EVENTS && now - times[0] < WITHIN_MS) return undefined
  // `concat` leaves no room for more, as a spread does.
  return times.slice(1 - MAX_EVENTS).concat(now)
}

const MAX_EVENTS = 6
const WITHIN_MS = 600_000
