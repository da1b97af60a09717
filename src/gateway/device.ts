import { noSettings, type Protocol, type Session, type Transport } from '../../protocols/kit/index.ts'
import { addressOf, networkOf } from '../domain/addresses.ts'
import type { Logger } from '../observe/log.ts'
import { MAX_ID_BYTES } from '../domain/ids.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import type { Spoken } from '../store/index.ts'
import { type Text } from '../texts/text.ts'
import type { Opening } from './frame-description.ts'

/** A sender of fixes: its network and protocol. */
export interface Sender {
  /** Over MQTT `mqtt`, since one connection may use several. */
  readonly protocol: string
  /** Empty over HTTP. */
  readonly network: string
  /** When its connection began, ms; 0: it has none that lasts. */
  readonly connectedAt: number
}

/** The device that sends on a session; `entry`: undefined for one that is not configured, or not taken for the one with its id. */
interface SessionSender {
  readonly id: string
  readonly entry: DeviceEntry | undefined
  readonly isProved: boolean
}

/** What fixes of a device that is not configured, or not taken for the one with its id, were read with. */
export interface SpokenNow extends Spoken {
  /** Whether the entry with this id names another protocol: then its held fixes are judged at once. */
  readonly isRefuted: boolean
}

/** How fixes came. */
export interface FixSource {
  /** When they arrived, ms UTC. */
  readonly now: number
  readonly transport: Transport
  readonly sender?: Sender
  /** What they were read with, where the device is not configured. */
  readonly spoken?: SpokenNow
  /** When they are stored, ms UTC, where their frame is understood later than it arrived. */
  readonly lateAt?: number
}

/** The memory of one connection or datagram peer, with what listeners know of it. */
export interface DeviceSession extends Session, Opening {
  /** `address:port` of the peer. */
  readonly remote: string
  /** ms UTC. */
  readonly connectedAt: number
  /** The verified name of the client certificate that the peer has presented over TLS; the listener sets it. */
  certificate?: string
  /** Whether its device has presented its secret or a certificate: such a connection is not given up for one that has not. */
  isProved: boolean
  /** By what its device was identified last; src/gateway/identity.ts sets it. */
  identified?: { readonly entry: DeviceEntry; readonly protocol?: string; readonly secret?: string }
  /** The secret that came with its latest message that had one, right or wrong: people are not shown it. */
  presented?: string
  /** The wrong secret that it has presented last, and of which device; src/gateway/identity.ts sets it. */
  refused?: { readonly entry: DeviceEntry; readonly secret: string }
  /** Its configured device, as it was resolved last: in which protocol, and by which version of the roster. */
  sending?: {
    readonly sender: SessionSender
    readonly protocol: Protocol
    readonly rosterVersion: number
  }
  /** The sender of the fixes on this session, once fixes have come: see suspicion.ts. */
  sender?: Sender
  /** When fixes of `device` were stored last, ms by `performance.now()`; 0: never. */
  storedAt: number
  /** The time between two stores, ms: the longest of the latest ones; 0: it has stored less than twice. */
  storesEveryMs: number
  /** Devices that spoke on it before the present one. */
  earlierDevices?: Set<string>
  /** Whether `device` is configured. */
  isConfigured?: boolean
  /** Whether it is the part of a relay's conversation that is about `device`, which has no connection of its own. */
  readonly isRelayed?: boolean
  /** The broker of the customer's own that vouches for `device`: it presents no secret. */
  readonly bridge?: string
  /**
   * Only for a datagram or a request: whether a message of this sender may be stored now. A connection is limited by
   * reading it more slowly.
   */
  readonly admits?: (sender: SessionSender) => boolean
  /** The gateway's port that it came to; undefined over MQTT. */
  port?: number
  /** Why its protocol is believed, where that was found out. */
  evidence?: readonly Text[]
  /** Whether the device speaks another protocol than its port is for. */
  isWrongPort?: boolean
  /** What fixes of a device that is not configured were read with last. */
  spoken?: SpokenNow
  /** Only for the peer of datagrams: the protocol that its device speaks, once that is known. */
  protocol?: Protocol
  /** Whether messages that name no device were taken for `device`. */
  hasUnnamed?: boolean
  /** Why the gateway ends the connection, once it does. */
  ended?: string
  /** Whether the connection has ended; frames of it may still be stored. The Journal sets it. */
  isGone?: boolean
}

export function createSession(transport: Transport, remote: string): DeviceSession {
  const now = Date.now()
  return {
    transport,
    remote,
    connectedAt: now,
    now,
    lenient: false,
    settingsOf: noSettings,
    device: undefined,
    secret: undefined,
    certificate: undefined,
    isProved: false,
    identified: undefined,
    presented: undefined,
    refused: undefined,
    sending: undefined,
    sender: undefined,
    storedAt: 0,
    storesEveryMs: 0,
    opening: undefined,
    spoken: undefined,
    isConfigured: undefined,
    hasUnnamed: undefined,
    port: undefined,
    unfinished: undefined,
  }
}

/** Notes that fixes of a session are stored. */
export function noteStored(session: DeviceSession): void {
  const now = performance.now()
  const { storedAt, storesEveryMs } = session
  if (storedAt > 0) session.storesEveryMs = Math.max(now - storedAt, storesEveryMs / 2)
  session.storedAt = now
}

/** Whether fixes of the device of a session are stored, as its entry accepts the sender. */
export function hasStoredAsOwn({ isConfigured, storedAt }: DeviceSession): boolean {
  return isConfigured === true && storedAt > 0
}

/**
 * What the sender of a session has shown: 2: the secret or certificate of its device; 1: it was taken for its device; 0: it
 * was not, or its device is not configured. What senders of different standing do under one id is counted apart.
 */
export function standingOf({ isConfigured, isProved }: Pick<DeviceSession, 'isConfigured' | 'isProved'>): Standing {
  if (!isConfigured) return 0
  return isProved ? 2 : 1
}

export type Standing = 0 | 1 | 2

/** The part of a relay's conversation that is about one of its devices. */
export function relayed(session: DeviceSession, device: string): DeviceSession {
  return { ...session, device, identified: undefined, isProved: false, isRelayed: true }
}

/** The sender on a session that speaks a protocol. */
export function senderOn({ connectedAt, remote, transport }: DeviceSession, protocol: string): Sender {
  const isConnection = transport === 'tcp' || transport === 'mqtt'
  return {
    protocol: transport === 'mqtt' ? 'mqtt' : protocol,
    network: transport === 'http' ? '' : networkOf(addressOf(remote)),
    connectedAt: isConnection ? connectedAt : 0,
  }
}

/**
 * Decides which unknown devices may have held fixes: from each network (/24, IPv6 /56) a tenth of all in an hour, so that a
 * network that invents ids does not use up the places of the others. Datagrams count apart: their addresses may be forged.
 */
export class UnknownDeviceQuota {
  readonly #devicesPerNetwork: number
  readonly #proven = new AdmittedDevices()
  readonly #unproven = new AdmittedDevices()

  constructor(maxDevices: number) {
    this.#devicesPerNetwork = Math.max(1, Math.floor(maxDevices / 10))
  }

  admit(id: string, { remote, transport }: Pick<DeviceSession, 'remote' | 'transport'>): boolean {
    if (id.length === 0 || Buffer.byteLength(id) > MAX_ID_BYTES) return false
    const admitted = transport === 'udp' ? this.#unproven : this.#proven
    return admitted.admit(networkOf(addressOf(remote)), id, this.#devicesPerNetwork)
  }
}

/** Admitted devices by network; forgotten after an hour, or when there are too many. */
class AdmittedDevices {
  readonly #byNetwork = new Map<string, Set<string>>()
  #count = 0
  #since = performance.now()

  admit(network: string, id: string, most: number): boolean {
    if (performance.now() - this.#since > HOUR_MS || this.#count >= MAX_ADMITTED) this.#forget()
    const ids = this.#byNetwork.get(network) ?? new Set()
    if (ids.has(id) || ids.size >= most) return ids.has(id)
    this.#byNetwork.set(network, ids.add(id))
    this.#count++
    return true
  }

  #forget(): void {
    this.#byNetwork.clear()
    this.#count = 0
    this.#since = performance.now()
  }
}

/**
 * Logs refused devices that no finding names: each once until it has not come for ten minutes, and at most 100 of them a
 * minute.
 */
export class RejectedDeviceLog {
  readonly #logger: Logger
  readonly #lastAt = new Map<string, number>()
  #logged = 0
  #since = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  log(device: string, reason: string, remote: string): void {
    const now = performance.now()
    if (now - this.#since > MINUTE_MS) {
      this.#logged = 0
      this.#since = now
    }
    const lastAt = this.#lastAt.get(device) ?? -Infinity
    if (now - lastAt > QUIET_MS && this.#logged >= MAX_LOGGED) return
    // The map stays sorted by time: the device that was refused the longest ago is first.
    this.#lastAt.delete(device)
    if (this.#lastAt.size >= MAX_REMEMBERED) this.#lastAt.delete(this.#lastAt.keys().next().value ?? '')
    this.#lastAt.set(device, now)
    if (now - lastAt <= QUIET_MS) return
    this.#logged++
    this.#logger.warn({ device: device.slice(0, 64), reason, remote }, REJECTIONS.get(reason) ?? 'refused')
  }
}

const REJECTIONS = new Map([
  ['unknown_device', 'refused: the device is not configured'],
  ['other_device', 'refused: the device used the id of another device'],
])
const MINUTE_MS = 60_000
const QUIET_MS = 600_000
const MAX_LOGGED = 100
const MAX_REMEMBERED = 10_000
const HOUR_MS = 3_600_000
const MAX_ADMITTED = 100_000
