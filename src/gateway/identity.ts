import { type Message, noSettings, type Protocol, type Settings } from '../../protocols/kit/index.ts'
import { addressOf } from '../domain/addresses.ts'
import { sameId } from '../domain/ids.ts'
import { isWithin } from '../domain/networks.ts'
import { type DeviceEntry, isSecretOf } from '../roster/device-entry.ts'
import type { Replica } from '../roster/replica.ts'
import type { Spoken } from '../store/index.ts'
import { say, type Text } from '../texts/text.ts'
import type { OpenNotes } from './day-book.ts'
import type { Conversation } from './conversation.ts'
import type { GuessDelays } from './guesses.ts'
import type { FrameNotes } from './heard.ts'
import type { DeviceTrail } from './suspicion.ts'
import { isHoldable, type UnknownDeviceQuota } from './unknown-devices.ts'

/**
 * Why a message is refused: its device is not configured, its secret is wrong, it came in a way that the device's entry does
 * not allow, or it uses the id of another device. Only counters and logs distinguish these, never an answer.
 */
export type IdentityReason = 'unknown_device' | 'wrong_secret' | 'not_permitted' | 'other_device'

/** The device that sent a message. `entry`: undefined if it is not configured, or its sender is not accepted. */
export class ResolvedDevice {
  readonly id: string
  readonly entry: DeviceEntry | undefined
  /** Whether its sender has presented its secret or a certificate. */
  readonly isProved: boolean
  /** Why its sender is not accepted as the configured device with its id. */
  readonly objection?: Objection
  /** The Journal's notes on it. All frames of a connection share this object, so that the notes are looked up once. */
  heard?: FrameNotes
  notes?: OpenNotes
  trail?: DeviceTrail

  constructor(id: string, entry: DeviceEntry | undefined, isProved = false, objection?: Objection) {
    this.id = id
    this.entry = entry
    this.isProved = isProved
    this.objection = objection
  }
}

/** Why a message is refused, and what to note about it. */
export interface Refusal {
  readonly reason: IdentityReason
  /** The id that its sender uses. */
  readonly device: string
  readonly objection?: Objection
  /** Whether it would be admitted if fewer devices that are not configured sent fixes. */
  readonly isCrowded?: boolean
}

/** The refusal of a login over MQTT that names no device. It is not logged. */
export const NOBODY: Refusal = { reason: 'unknown_device', device: '' }

/** What a configured device is told about a sender that used its id without proof. */
export interface Objection {
  readonly device: string
  /** For its events. */
  readonly reason?: IdentityReason
  /** For its findings. */
  readonly finding?: { readonly code: 'not_permitted' | 'wrong_secret'; readonly evidence: Text }
}

type NamedObjection = Objection & Required<Pick<Objection, 'reason'>>

/** The identity that a sender claims. */
interface Claim {
  readonly id: string
  readonly secret?: string
  readonly protocol?: string
}

export interface IdentityOptions {
  readonly replica: Pick<Replica, 'roster' | 'version'>
  /** Whether devices that are not configured are admitted now. */
  readonly admitsUnknown: () => boolean
  /** Decides which unknown devices may have held fixes. */
  readonly unknownDevices: Pick<UnknownDeviceQuota, 'admit'>
  readonly guesses: GuessDelays
}

/**
 * Decides which device sends. A sender that does not prove to be the device with its id takes the same code path as an
 * unconfigured device, so that no answer tells which ids are configured.
 */
export class Identity {
  readonly #options: IdentityOptions

  constructor(options: IdentityOptions) {
    this.#options = options
  }

  /**
   * Returns the device that sent a message: the device named in the message, else that of the session; or the reason of a
   * refusal. `protocol`: undefined for a login over MQTT.
   */
  senderOf(
    { device, secret }: Pick<Message, 'device' | 'secret'>,
    session: Conversation,
    protocol?: string,
  ): ResolvedDevice | Refusal {
    const { certificate, device: own = '', transport } = session
    const { roster } = this.#options.replica
    // Over MQTT, login and topic name the device, and a frame cannot name another one.
    if (transport === 'mqtt' && protocol !== undefined && device !== undefined && sameId(device) !== sameId(own)) {
      const entry = roster.find(own)
      return { reason: 'other_device', device, objection: entry && { device: entry.id, reason: 'other_device' } }
    }
    const id = device ?? own
    const entry = roster.find(id)
    if (entry && entry.guard === undefined && certificate === undefined)
      return new ResolvedDevice(entry.id, entry, session.isProved)
    const claim = { id, secret: secret ?? session.secret, protocol }
    if (certificate !== undefined && !isNameOf(certificate, id, entry)) {
      const finding = notPermitted(`certificate of ${certificate}`, session)
      return { reason: 'other_device', device: id, objection: entry && { device: entry.id, finding } }
    }
    const objection = entry && this.#objectionTo(entry, claim, session)
    if (entry && !objection) return new ResolvedDevice(entry.id, entry, session.isProved)
    return this.#asUnknown(claim, session, objection)
  }

  /**
   * Returns the sender of the previous frame if this message has the same sender and the roster is unchanged; else undefined.
   * This avoids a second lookup.
   */
  senderBefore(
    { device, secret }: Pick<Message, 'device' | 'secret'>,
    { resolved }: Conversation,
    protocol: Protocol,
  ): ResolvedDevice | undefined {
    if (resolved?.rosterVersion !== this.#options.replica.version || resolved.protocol !== protocol) return undefined
    const { sender } = resolved
    return sender.entry && secret === undefined && (device ?? sender.id) === sender.id ? sender : undefined
  }

  /**
   * Returns the settings of a device for a decoder. There are none until the sender has presented the proof that the entry
   * asks for, so that an answer to anybody else does not tell that the device is configured. Notes nothing, since the frame
   * may turn out to be damaged.
   */
  settingsOf(
    { device, secret }: Pick<Message, 'device' | 'secret'>,
    session: Conversation,
    protocol: Protocol,
  ): Settings {
    const own = secret === session.secret ? this.senderBefore({ device }, session, protocol)?.entry : undefined
    const entry = own ?? (device === undefined ? undefined : this.#options.replica.roster.find(device))
    const isKnown = entry && (own || hasProved(entry, { id: entry.id, secret, protocol: protocol.name }, session))
    return isKnown ? entry.protocolSettings : noSettings()
  }

  /**
   * Returns the entry of the device that a sender claims to be; undefined until it has presented the proof that the entry
   * asks for. Counts a wrong secret, since it may be a guess.
   */
  provedEntry(claim: Claim, session: Conversation): DeviceEntry | undefined {
    const entry = this.#options.replica.roster.find(claim.id)
    const { certificate } = session
    if (!entry || (certificate !== undefined && !isNameOf(certificate, entry.id, entry))) return undefined
    if (!entry.guard || isIdentified(entry, claim, session)) return entry
    if (hindranceOf(entry, claim, session) !== undefined) return undefined
    const hasProof = !entry.guard.hasSecret || isVouchedFor(session) || this.#isRight(entry, claim.secret, session)
    return hasProof ? entry : undefined
  }

  /** Returns why the sender is not accepted as this device; undefined: it is. Caches the answer. */
  #objectionTo(entry: DeviceEntry, claim: Claim, session: Conversation): NamedObjection | undefined {
    const { guard, id: device } = entry
    const { certificate } = session
    const { protocol, secret } = claim
    if (isIdentified(entry, claim, session)) return undefined
    const hindrance = hindranceOf(entry, claim, session)
    if (hindrance !== undefined) return { device, reason: 'not_permitted', finding: notPermitted(hindrance, session) }
    if (guard?.hasSecret && !isVouchedFor(session) && !this.#isRight(entry, secret, session)) {
      const shown = say(secret === undefined ? 'no secret' : 'another secret')
      const evidence = say('{} from {}', shown, addressOf(session.remote))
      return { device, reason: 'wrong_secret', finding: { code: 'wrong_secret', evidence } }
    }
    session.identifiedAs({ entry, protocol, secret }, guard?.hasSecret === true || certificate !== undefined)
    return undefined
  }

  /** Whether it is the secret of the device; a wrong one counts, once for a session. */
  #isRight(entry: DeviceEntry, secret: string | undefined, session: Conversation): boolean {
    const { guesses } = this.#options
    const { identified, refused, remote } = session
    const address = addressOf(remote)
    if (secret === undefined) return false
    // Over MQTT each protocol is looked at, and the secret once.
    if (identified?.entry === entry && identified.secret === secret) return true
    if (refused?.entry === entry && refused.secret === secret) return false
    if (guesses.isDelayed(entry.id, address)) return false
    if (isSecretOf(entry, secret)) {
      guesses.accepted(entry.id)
      return true
    }
    guesses.failed(entry.id, address)
    session.refusedAs(entry, secret)
    return false
  }

  /**
   * Returns the result for a sender without a configured device. One that presents a secret is refused as if the secret were
   * wrong, so that the device keeps its fixes until it is configured.
   */
  #asUnknown(
    { id: name, secret }: Claim,
    session: Conversation,
    objection: NamedObjection | undefined,
  ): ResolvedDevice | Refusal {
    const { admitsUnknown, unknownDevices } = this.#options
    const id = sameId(name)
    // Nothing of it is held, and the old server answers it.
    if (session.trial?.push === false && isHoldable(id)) return new ResolvedDevice(id, undefined, false, objection)
    const mayBeHeld = admitsUnknown() && secret === undefined
    if (mayBeHeld && (session.bridge !== undefined || unknownDevices.admit(id, session)))
      return new ResolvedDevice(id, undefined, false, objection)
    return {
      reason: objection?.reason ?? 'unknown_device',
      device: name,
      objection,
      isCrowded: mayBeHeld && isHoldable(name),
    }
  }
}

/**
 * Returns how the entry of a device judges a message from before the device was configured. `trusted`: it is the device's.
 * `unproven`: it lacks a proof that the entry asks for. `other_protocol`: its protocol was a guess, and the entry names
 * another one. `hasSecret`: whether it was encrypted with the secret of the device.
 */
export function trustIn(
  entry: DeviceEntry,
  spoken: Spoken | undefined,
  hasSecret = false,
): 'trusted' | 'unproven' | 'other_protocol' {
  const { client_certificate, guard, networks, protocol, transports } = entry
  if (!guard) return 'trusted'
  if (guard.hasSecret && !hasSecret) return 'unproven'
  if ((client_certificate ?? networks ?? transports) !== undefined) return 'unproven'
  if (protocol === undefined || protocol === spoken?.protocol) return 'trusted'
  return spoken?.isGuess ? 'other_protocol' : 'unproven'
}

/** What is objected to the sender of a message. */
export function objectionsTo({ objection }: ResolvedDevice): readonly Objection[] {
  return objection ? [objection] : []
}

/** The configured device that speaks on a session; undefined also where it has not proved what its entry asks for. */
export function speakerOn({ device, identified }: Conversation, { roster }: Pick<Replica, 'roster'>) {
  const entry = device === undefined ? undefined : roster.find(device)
  return entry?.guard && identified?.entry !== entry ? undefined : entry
}

/** Whether a certificate is that of a device: its name is the id, or the entry of the device lists it. */
function isNameOf(certificate: string, id: string, entry: DeviceEntry | undefined): boolean {
  return sameId(certificate) === sameId(id) || entry?.client_certificate?.includes(certificate) === true
}

/** Returns whether a sender was accepted as a device before, by the same claim. */
function isIdentified(entry: DeviceEntry, { protocol, secret }: Claim, { identified }: Conversation): boolean {
  return identified?.entry === entry && identified.protocol === protocol && identified.secret === secret
}

/** Returns whether the proof that a sender presented before the present frame is enough for a device. */
function hasProved(entry: DeviceEntry, claim: Claim, session: Conversation): boolean {
  const { certificate } = session
  const { secret } = claim
  if (certificate !== undefined && !isNameOf(certificate, entry.id, entry)) return false
  if (!entry.guard || isIdentified(entry, claim, session)) return true
  if (hindranceOf(entry, claim, session) !== undefined) return false
  return !entry.guard.hasSecret || isVouchedFor(session) || (secret !== undefined && isSecretOf(entry, secret))
}

/** Returns whether a certificate or a customer's own broker identifies the sender, in place of a secret. */
function isVouchedFor({ bridge, certificate }: Conversation): boolean {
  return certificate !== undefined || bridge !== undefined
}

/**
 * Returns which demand of a device's entry a sender does not meet; undefined: it meets all. If it has a certificate, that is
 * one of the device.
 */
function hindranceOf(
  entry: DeviceEntry,
  { protocol }: Claim,
  { certificate, remote, transport }: Conversation,
): Text | undefined {
  if (entry.client_certificate && certificate === undefined) return say('no client certificate')
  if (entry.transports?.includes(transport) === false) return say('transport {}', transport)
  if (entry.protocol !== undefined && protocol !== undefined && protocol !== entry.protocol)
    return say('protocol {}', protocol)
  const networks = entry.guard?.networks
  return networks && !isWithin(networks, addressOf(remote)) ? say('another network') : undefined
}

function notPermitted(hindrance: Text, { remote }: Conversation): Objection['finding'] {
  return { code: 'not_permitted', evidence: say('{}, from {}', hindrance, addressOf(remote)) }
}
