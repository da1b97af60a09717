import {
  type HttpRequest,
  type Message,
  noSettings,
  type Protocol,
  type Session,
  type Settings,
  type Stream,
  type Transport,
  type UnfinishedMessage,
} from '../../protocols/kit/index.ts'
import { addressOf, networkOf } from '../domain/addresses.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import type { Text } from '../texts/text.ts'

/** What is known of a conversation before its first frame. */
interface ConversationStart {
  /** ms UTC. */
  readonly connectedAt?: number
  /** The gateway's port that it came to; undefined over MQTT. */
  readonly port?: number
  /** The verified name of the client certificate that the peer has presented over TLS. */
  readonly certificate?: string
  /** Bytes of its TLS handshake; undefined: it has none. */
  readonly handshakeBytes?: number
  /** The device of the conversation, if the topic of a bridge or the frame of a relay names it. */
  readonly device?: string
  /** The broker of the customer's own that vouches for `device`: it presents no secret. */
  readonly bridge?: string
  /** Whether a bridge or a relay sends for the device, which has no connection of its own. */
  readonly isRelayed?: boolean
  /** How frames are treated on a listener whose old server answers. */
  readonly trial?: TrialMode
  /**
   * Only for a datagram or a request: whether a message of this sender may be stored now. A connection is limited by
   * reading it more slowly.
   */
  readonly admits?: (sender: SessionSender) => boolean
}

/**
 * The memory of one connection or datagram peer. Only its own methods write its fields: the constructor the first ones, and
 * the method named above each other group that group. Decoders write what they remember themselves.
 */
export class Conversation implements Session, ConversationStart {
  readonly transport: Transport
  /** `address:port` of the peer. */
  readonly remote: string
  readonly connectedAt: number
  readonly port: number | undefined
  readonly certificate: string | undefined
  readonly handshakeBytes: number | undefined
  readonly bridge: string | undefined
  readonly isRelayed: boolean | undefined
  readonly trial: TrialMode | undefined
  readonly admits: ConversationStart['admits']
  readonly lenient = false

  // reads
  /** When the frame that was read last arrived, ms UTC: `FrameArrival` has the time of each. */
  readonly now: number
  readonly readAs: Protocol | undefined
  readonly settingsSource: SettingsSource | undefined

  // presents
  /** The secret in its latest message that had one, right or wrong: people are not shown it. */
  readonly presented: string | undefined

  // identifiedAs
  /** The proof by which its sender was last accepted as a device whose entry asks for more than the id. */
  readonly identified: Readonly<Identification> | undefined
  /** Whether it has presented the secret or a certificate of that device. */
  readonly isProved: boolean

  // refusedAs
  /** The last wrong secret that it presented, and the device it was for. */
  readonly refused: Readonly<Pick<Identification, 'entry' | 'secret'>> | undefined

  // spokeAs
  /** The sending device, once a message of it is accepted. */
  readonly device: string | undefined
  readonly isConfigured: boolean | undefined
  /** The last secret in an accepted message. */
  readonly secret: string | undefined
  /** The last resolution of that device: its protocol (undefined at a login over MQTT), and the roster version. */
  readonly resolved: Readonly<Resolution> | undefined
  /** Devices that spoke on it before the present one. */
  readonly earlierDevices: Set<string> | undefined

  // spokeUnnamed
  /** Whether messages that name no device were attributed to `device`. */
  readonly hasUnnamed: boolean

  // sendsIn
  /** The sender of its fixes, once it has sent any: see suspicion.ts. */
  readonly sender: Sender | undefined

  // stored; spokeAs sets them to 0 for another device
  /** When fixes of `device` were stored last, ms by `performance.now()`; 0: never. */
  readonly storedAt: number
  /** The longest recent time between two stores, ms; 0: it has stored less than twice. */
  readonly storesEveryMs: number

  // opened
  /** Its first frames without a position, as latin1, which may be needed to read a later one. */
  readonly opening: readonly string[] | undefined

  // believed
  /** Why its protocol is believed, if that was found out. */
  readonly evidence: readonly Text[] | undefined

  // spokeToWrongPort
  /** Whether the device speaks another protocol than its port is for. */
  readonly isWrongPort: boolean

  // endFor
  /** Why the gateway ends the connection, once it does. */
  readonly ended: string | undefined

  // gone
  /** Whether the connection has ended; some of its frames may still be being stored. */
  readonly isGone: boolean

  // reads
  /** Whether the checksum of an earlier frame fitted. */
  readonly hasVerifiedBefore: boolean

  // carries; carriedIsNoted sets them to 0
  /** What it carries on the air (see air.ts) and is not noted for its device yet: bytes, connections that begin, fixes. */
  readonly airBytes: number
  readonly airConnections: number
  readonly airFixes: number

  // Decoders; reads sets it to undefined
  hasVerified: boolean | undefined
  unfinished: UnfinishedMessage | undefined
  states: Stream['states']

  constructor(transport: Transport, remote: string, beginning: ConversationStart = {}) {
    const now = Date.now()
    this.transport = transport
    this.remote = remote
    this.connectedAt = beginning.connectedAt ?? now
    this.port = beginning.port
    this.certificate = beginning.certificate
    this.handshakeBytes = beginning.handshakeBytes
    this.bridge = beginning.bridge
    this.isRelayed = beginning.isRelayed
    this.trial = beginning.trial
    this.admits = beginning.admits
    this.now = now
    this.device = beginning.device
    this.isProved = this.hasUnnamed = this.isWrongPort = this.isGone = this.hasVerifiedBefore = false
    this.storedAt = this.storesEveryMs = this.airBytes = this.airConnections = this.airFixes = 0
  }

  /** The settings of a device, for the decoder of the frame that is read now. */
  settingsOf(device = this.device, secret = this.secret): Settings {
    const { readAs, settingsSource } = this
    return readAs && settingsSource ? settingsSource.settingsOf({ device, secret }, this, readAs) : noSettings()
  }

  /** Whether fixes of its device are stored, as the entry of the device accepts the sender. */
  get hasStoredAsOwn(): boolean {
    return this.isConfigured === true && this.storedAt > 0
  }

  /** Whether its protocol was found out, and no checksum proves it. */
  get isGuessed(): boolean {
    return this.evidence !== undefined && this.hasVerified !== true && !this.hasVerifiedBefore
  }

  /** A frame that arrived at a time, ms UTC, is about to be decoded; `protocol`: undefined for a login over MQTT. */
  reads(this: Writable, now: number, protocol: Protocol | undefined, settingsSource: SettingsSource): void {
    this.now = now
    this.readAs = protocol
    this.settingsSource = settingsSource
    this.hasVerifiedBefore ||= this.hasVerified === true
    this.hasVerified = undefined
  }

  /** Notes the secret of a message, right or wrong. */
  presents(this: Writable, secret: string): void {
    this.presented = secret
  }

  /** Notes that it has shown what the entry of a device asks for. */
  identifiedAs(this: Writable, by: Identification, isProved: boolean): void {
    this.identified = by
    this.isProved = isProved
  }

  /** Notes a wrong secret for a device. */
  refusedAs(this: Writable, entry: DeviceEntry, secret: string): void {
    this.refused = { entry, secret }
  }

  /** A message or login is accepted as one of this device. */
  spokeAs(this: Writable, resolved: Resolution, secret?: string): void {
    const { entry, id } = resolved.sender
    if (this.device !== id) {
      if (this.device !== undefined) (this.earlierDevices ??= new Set()).add(this.device)
      this.storedAt = this.storesEveryMs = 0
    }
    this.device = id
    this.isConfigured = entry !== undefined
    this.secret = secret ?? this.secret
    this.resolved = resolved
  }

  /** Notes that a message without a device was attributed to the present one. */
  spokeUnnamed(this: Writable): void {
    this.hasUnnamed = true
  }

  /** Its first fixes have come, in this protocol. */
  sendsIn(this: Writable, protocol: string): void {
    const { connectedAt, remote, transport } = this
    this.sender = {
      protocol: transport === 'mqtt' ? 'mqtt' : protocol,
      network: transport === 'http' ? '' : networkOf(addressOf(remote)),
      connectedAt: transport === 'tcp' || transport === 'mqtt' ? connectedAt : 0,
    }
  }

  /** Fixes of its device are stored. */
  stored(this: Writable): void {
    const now = performance.now()
    if (this.storedAt > 0) this.storesEveryMs = Math.max(now - this.storedAt, this.storesEveryMs / 2)
    this.storedAt = now
  }

  /** Keeps a frame that has no position for a reason that it states. */
  opened(this: Writable, frame: Buffer | HttpRequest): void {
    const { opening = [] } = this
    if (opening.length === OPENING_FRAMES || !Buffer.isBuffer(frame) || frame.length > OPENING_BYTES) return
    // `concat` leaves no room for more, as a spread does.
    this.opening = opening.concat(frame.toString('latin1'))
  }

  /** Its protocol was found out. */
  believed(this: Writable, evidence: readonly Text[]): void {
    this.evidence = evidence
  }

  /** Its device is known, and the port is for another protocol. */
  spokeToWrongPort(this: Writable): void {
    this.isWrongPort = true
  }

  /** The gateway ends it; the first reason counts. */
  endFor(this: Writable, reason: string): void {
    this.ended ??= reason
  }

  /** The connection has ended. */
  gone(this: Writable): void {
    this.isGone = true
  }

  /** Bytes come or go on the air, connections begin, or a message of its device has fixes. */
  carries(this: Writable, bytes: number, connections = 0, fixes = 0): void {
    this.airBytes += bytes
    this.airConnections += connections
    this.airFixes += fixes
  }

  /** Resets the data volume after it was noted. */
  carriedIsNoted(this: Writable): void {
    this.airBytes = this.airConnections = this.airFixes = 0
  }

  /** Nothing more is kept of the message that it is sending in parts. */
  dropUnfinished(): void {
    this.unfinished = undefined
  }

  /** The part of a relay's conversation that is about one of its devices. It lasts as long as the frame. */
  about(device: string): Conversation {
    const { connectedAt, port, certificate, bridge, trial, admits } = this
    const beginning = { connectedAt, port, certificate, bridge, trial, admits, device, isRelayed: true }
    const part: Writable = new Conversation(this.transport, this.remote, beginning)
    part.now = this.now
    part.secret = this.secret
    part.refused = this.refused
    part.opening = this.opening
    part.evidence = this.evidence
    part.hasVerified = this.hasVerified
    part.hasVerifiedBefore = this.hasVerifiedBefore
    return part
  }
}

/** A conversation in the methods that write it. */
type Writable = { -readonly [Field in keyof Conversation]: Conversation[Field] }

/** A listener with an old server, which alone answers trackers: a frame that cannot be stored at once is not stored. */
export interface TrialMode {
  /** Whether fixes go to lanes; false: they are judged and noted, and go nowhere. */
  readonly push: boolean
  /** Whether too much is being stored to take more. */
  readonly isFull: boolean
}

/** Where decoders look up the settings of a device. */
interface SettingsSource {
  settingsOf(claim: Pick<Message, 'device' | 'secret'>, session: Conversation, protocol: Protocol): Settings
}

/** The proof by which a sender was accepted as a device. */
interface Identification {
  readonly entry: DeviceEntry
  readonly protocol?: string
  readonly secret?: string
}

/** The device that sends, and how that was found out; `protocol`: undefined at a login over MQTT. */
interface Resolution {
  readonly sender: SessionSender
  readonly protocol: Protocol | undefined
  readonly rosterVersion: number
}

/** The sending device; `entry`: undefined if the device is not configured, or its sender is not accepted. */
interface SessionSender {
  readonly id: string
  readonly entry: DeviceEntry | undefined
  readonly isProved: boolean
}

/** A sender of fixes: its network and protocol. */
export interface Sender {
  /** Over MQTT `mqtt`, since one connection may use several. */
  readonly protocol: string
  /** Empty over HTTP. */
  readonly network: string
  /** When its connection began, ms; 0: it has no lasting connection. */
  readonly connectedAt: number
}

/**
 * Returns how far a sender has proved its identity. 2: by the secret or certificate of its device; 1: accepted as its device;
 * 0: not accepted, or its device is not configured. Senders of different standing under one id are counted separately.
 */
export function standingOf({ isConfigured, isProved }: Pick<Conversation, 'isConfigured' | 'isProved'>): Standing {
  if (!isConfigured) return 0
  return isProved ? 2 : 1
}

export type Standing = 0 | 1 | 2

const OPENING_FRAMES = 4
const OPENING_BYTES = 256
