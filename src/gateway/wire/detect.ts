import {
  beginningsOf,
  cut,
  DecodeError,
  decodeFrame,
  type Framer,
  type HttpRequest,
  isEndless,
  type Message,
  noSettings,
  type Protocol,
  type Session,
  type Transport,
} from '../../../protocols/kit/index.ts'
import { isImei } from '../../domain/ids.ts'
import { logFault } from '../../observe/faults.ts'
import type { Logger } from '../../observe/log.ts'
import { say, type Text } from '../../texts/text.ts'
import type { Conversation } from '../conversation.ts'
import { type Evidence, weighFixes, weighId } from './evidence.ts'
import { GuessBudget } from './guess-budget.ts'

/** A protocol that understands the first bytes of a conversation, and why it is believed. */
export interface Guess {
  readonly protocol: Protocol
  readonly device: string | undefined
  /** The secret that is presented beside the device. */
  readonly secret: string | undefined
  /**
   * Whether the protocol has read fixes, or is sure that there are none, as in a login, a heartbeat, or a frame with a valid
   * checksum. Any other frame without fixes may have a position that the protocol does not see.
   */
  readonly holds: 'fixes' | 'no fixes' | 'unknown'
  /** Why the first frame has no position, as the protocol says. */
  readonly none: Message['none']
  /** Why the bytes are of this protocol, in words. */
  readonly evidence: readonly Text[]
  readonly score: number
  /** Whether the bytes alone are enough without waiting for more: a checksum, or an IMEI. */
  readonly isSure: boolean
}

export interface DetectorOptions {
  readonly protocols: readonly Protocol[]
  /**
   * Returns the protocol in the entry of the device that a sender claims to be, '' if its entry names none. Undefined: it is
   * not configured, or the sender lacks the proof that its entry asks for; callers must not be able to tell these apart.
   */
  readonly configured: (device: string, claim: DeviceClaim) => string | undefined
  /** Called with what the code of a protocol throws beside DecodeError: then the protocol is out of the question. */
  readonly onFault: (error: unknown, protocol: Protocol) => void
  /** The time for detection; without it, a budget of its own. */
  readonly budget?: GuessBudget
}

/** The device that a sender claims to be, the protocol, and the proof. */
interface DeviceClaim {
  readonly protocol: string
  readonly secret: string | undefined
  readonly session: Conversation
}

/** The first bytes of a connection, or a request, and how they came. */
export interface FirstBytes {
  readonly bytes: Buffer | HttpRequest
  readonly transport: Transport
  /** ms UTC. */
  readonly now: number
}

/**
 * Finds out the protocol of a sender by evidence alone: offers the first bytes to the framers and decoders of all protocols,
 * and judges their results. No decoder has special code for it.
 */
export class Detector {
  /** The time that a gateway has for detection. */
  readonly budget: GuessBudget
  readonly #options: DetectorOptions
  /** For each first byte the protocols that a stream or a datagram with it may be of. */
  readonly #byFirstByte: Readonly<Record<'tcp' | 'udp', readonly (readonly Protocol[])[]>>
  readonly #overHttp: readonly Protocol[]
  /** The protocol that each device has used, by id. */
  readonly #spoken = new Map<string, string>()

  constructor(options: DetectorOptions) {
    this.#options = options
    this.budget = options.budget ?? new GuessBudget()
    this.#overHttp = options.protocols.filter(({ http }) => http)
    this.#byFirstByte = { tcp: this.#candidatesOver('tcp'), udp: this.#candidatesOver('udp') }
  }

  get protocols(): readonly Protocol[] {
    return this.#options.protocols
  }

  /**
   * Returns those of these protocols that understand a beginning, judged by its bytes alone; `open`: those that need more
   * bytes to decide. All others are ruled out.
   */
  look(
    beginning: FirstBytes,
    among = this.#candidatesFor(beginning),
  ): { found: readonly Guess[]; open: readonly Protocol[] } {
    const found: Guess[] = []
    const open: Protocol[] = []
    for (const protocol of among) {
      const guess = this.#tried(protocol, () => this.#look(beginning, protocol))
      if (guess === 'open') open.push(protocol)
      else if (guess) found.push(guess)
    }
    return { found, open }
  }

  /** Returns the likely guesses, likeliest first; uses the device's entry if the sender has proved to be the device. */
  ranked(found: readonly Guess[], session: Conversation): readonly Guess[] {
    return likely(found.map((guess) => this.#withDevice(guess, session)))
  }

  #candidatesOver(transport: 'tcp' | 'udp'): readonly (readonly Protocol[])[] {
    const spoken = this.protocols.filter((protocol) => protocol[transport])
    return Array.from({ length: 256 }, (_, byte) =>
      spoken.filter((protocol) => this.#tried(protocol, () => mayBegin(protocol, transport, byte))),
    )
  }

  #candidatesFor({ bytes, transport }: FirstBytes): readonly Protocol[] {
    if (!Buffer.isBuffer(bytes)) return this.#overHttp
    if (transport !== 'tcp' && transport !== 'udp') return this.protocols
    const [first] = withoutLineEnds(bytes)
    return first === undefined ? [] : this.#byFirstByte[transport][first]
  }

  /** Remembers the protocol of a device whose sender was accepted; from then on its id is evidence for this protocol. */
  learn(device: string, { name }: Protocol): void {
    const [oldest] = this.#spoken.size >= MAX_LEARNT ? this.#spoken.keys() : []
    if (oldest !== undefined) this.#spoken.delete(oldest)
    this.#spoken.set(device, name)
  }

  /** A fault in the code of one protocol must not keep senders of other protocols from being understood. */
  #tried<Result>(protocol: Protocol, look: () => Result): Result | undefined {
    try {
      return look()
    } catch (error) {
      this.#options.onFault(error, protocol)
      return undefined
    }
  }

  #look(beginning: FirstBytes, protocol: Protocol): Guess | 'open' | undefined {
    const { bytes, transport, now } = beginning
    const session: Session = { settingsOf: noSettings, transport, now, lenient: false }
    if (!Buffer.isBuffer(bytes)) return protocol.http && this.#guess(protocol, [bytes], session)
    if (transport === 'udp')
      return protocol.udp && this.#guess(protocol, datagramFrames(bytes, protocol.udp, session), session)
    if (!protocol.tcp) return undefined
    const frames = firstFrames(bytes, protocol.tcp.frame, session)
    if (frames === 'open') return 'open'
    const guess = frames === 'none' ? undefined : this.#guess(protocol, frames, session)
    // How conversations of a protocol begin decides only between guesses that are as good.
    return guess && protocol.tcp.starts?.(bytes) === 'no' ? { ...guess, score: guess.score - 2 } : guess
  }

  /**
   * Returns the guess from the first frames; undefined if the first one is not understood, or has no evidence for the
   * protocol.
   */
  #guess(protocol: Protocol, [first, second]: readonly (Buffer | HttpRequest)[], session: Session): Guess | undefined {
    const message = messageOf(protocol, first, session)
    if (!message || (message.fixes === undefined && message.none === undefined)) return undefined
    const { device, secret } = message
    const evidence: Evidence[] = []
    if (session.hasVerified) evidence.push([say('its checksum fits'), SURE])
    if (device !== undefined) evidence.push(weighId(device))
    const isNamed = device !== undefined || message.fixes?.some((fix) => fix.device !== undefined)
    if (message.fixes?.length)
      evidence.push(isNamed ? weighFixes(message, session.now) : [say('its position names no device'), 1])
    if (message.none !== undefined)
      evidence.push(message.none === 'login' ? [say('it is a login'), 4] : [say('it is a {}', message.none), 3])
    if (second) {
      const isUnderstood = messageOf(protocol, second, Object.assign(session, { device })) !== undefined
      evidence.push(isUnderstood ? [say('the next frame fits'), 10] : [say('the next frame does not fit'), -15])
    }
    const sum = evidence.reduce((total, [, weight]) => total + weight, 0)
    const isOfImei = isImei(device) && isWhole(protocol) && SAYS_ENOUGH.has(message.none ?? fixesOf(message))
    return {
      protocol,
      device,
      secret,
      holds: holdsOf(message, session),
      none: message.none,
      evidence: evidence.map(([words]) => words),
      // A frame that neither names a device nor has a checksum may be anything, so it ranks behind all others.
      score: isNamed || session.hasVerified ? sum : sum / 100,
      isSure: (session.hasVerified || isOfImei) && evidence.every(([, weight]) => weight > 0),
    }
  }

  /**
   * Adds what is known of the device that a guess names. A sender that has not proved to be the device learns nothing about
   * it, not even through the guess.
   */
  #withDevice(guess: Guess, session: Conversation): Guess {
    const { device, protocol, secret } = guess
    const { name } = protocol
    const configured = device && this.#options.configured(device, { protocol: name, secret, session })
    if (!device || configured === undefined) return guess
    const known: Evidence[] = []
    if (configured === name) known.push([say('device {} is configured, with this protocol', device), SURE + 50])
    else if (configured === '') known.push([say('device {} is configured', device), SURE])
    if (this.#spoken.get(device) === name) known.push([say('device {} spoke it before', device), SURE])
    return {
      ...guess,
      evidence: [...guess.evidence, ...known.map(([words]) => words)],
      score: known.reduce((total, [, weight]) => total + weight, guess.score),
    }
  }
}

/** Returns the guesses with more evidence for than against them, likeliest first. */
export function likely(guesses: readonly Guess[]): readonly Guess[] {
  return guesses.filter(({ score }) => score > 0).toSorted(byLikelihood)
}

/** Returns the fault handler of a detector in a process that has a log. */
export function faultLogger(logger: Logger): DetectorOptions['onFault'] {
  return (error, { name }) => logFault(logger, error, { what: 'fault in finding out a protocol', protocol: name })
}

/** Sorts by likelihood; of guesses that are equally likely, the more usual protocol is first: it has the lower port. */
function byLikelihood(one: Guess, other: Guess): number {
  return other.score - one.score || portOf(one) - portOf(other)
}

function portOf({ protocol: { tcp, udp, http } }: Guess): number {
  return (tcp ?? udp ?? http)?.port ?? 0
}

/** Whether a stream or a datagram of this protocol may begin with this byte: its framer or its lines accept it. */
function mayBegin(protocol: Protocol, transport: 'tcp' | 'udp', byte: number): boolean {
  const session: Session = { settingsOf: noSettings, transport, now: 0, lenient: false }
  if (beginningsOf(protocol)?.has(byte) === false) return false
  return (protocol[transport]?.frame?.(Buffer.of(byte), session) ?? 0) >= 0
}

/** Returns the first two frames of a datagram; the whole datagram counts as one if it contains no complete frame. */
function datagramFrames(bytes: Buffer, { frame }: NonNullable<Protocol['udp']>, session: Session): readonly Buffer[] {
  const frames = frame ? cut(bytes, frame, session, 2).frames : []
  return frames.length > 0 ? frames : [bytes]
}

/** Returns the first two frames of a stream; `open`: the first is incomplete; `none`: it does not begin with a frame. */
function firstFrames(stream: Buffer, frame: Framer, session: Session): readonly Buffer[] | 'open' | 'none' {
  const bytes = withoutLineEnds(stream)
  if (bytes.length === 0) return 'open'
  const { frames, noise } = cut(bytes, frame, session, 1)
  if (noise > 0) return 'none'
  if (frames.length === 0) return 'open'
  const next = cut(withoutLineEnds(bytes.subarray(frames[0].length)), frame, session, 1)
  // Noise after the first frame counts as a second frame that no decoder understands.
  return next.noise > 0 ? [...frames, NOTHING] : [...frames, ...next.frames]
}

/** Streams begin with the line end of a frame before, and some devices send empty lines. */
function withoutLineEnds(bytes: Buffer): Buffer {
  let at = 0
  while (bytes[at] === 0x0a || bytes[at] === 0x0d) at++
  return bytes.subarray(at)
}

function messageOf(protocol: Protocol, frame: Buffer | HttpRequest, session: Session): Message | undefined {
  try {
    return decodeFrame(protocol, frame, session)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** Returns whether frames of the protocol mark their end. If not, the first frame may be the beginning of any other text. */
function isWhole({ tcp }: Protocol): boolean {
  return !tcp || !isEndless(tcp.frame)
}

function fixesOf({ fixes = [] }: Message): string {
  return fixes.some(({ valid }) => valid) ? 'fixes' : 'no fixes'
}

function holdsOf({ fixes = [], none }: Message, { hasVerified }: Session): Guess['holds'] {
  if (fixes.length > 0) return 'fixes'
  return none !== undefined && (hasVerified || SAYS_ENOUGH.has(none)) ? 'no fixes' : 'unknown'
}

/** What a frame must contain for its IMEI to be proof: other protocols have ids at the same places. */
const SAYS_ENOUGH: ReadonlySet<string> = new Set(['fixes', 'login', 'heartbeat'])

/** More than all that is not proof together. */
const SURE = 60
const NOTHING = Buffer.alloc(0)
const MAX_LEARNT = 100_000

/** The first bytes of one connection, until its protocol is known. */
export class Undecided {
  readonly #detector: Detector
  readonly #session: Conversation
  readonly #except: Protocol | undefined
  #found: readonly Guess[] = []
  #open: readonly Protocol[] | undefined
  #looked = 0
  /** The most likely first. */
  guesses: readonly Guess[] = []

  /** `except`: the protocol of the port, which has not understood them. */
  constructor(detector: Detector, session: Conversation, except?: Protocol) {
    this.#detector = detector
    this.#session = session
    this.#except = except
  }

  /**
   * Judges all bytes of the connection so far. A certain guess decides at once. Any other guess decides only when the sender
   * is quiet, because it then waits for an answer and will send nothing more to judge. Bytes that arrive one by one are
   * judged only when their number has doubled, and when the sender is quiet. The roster influences the guess, but never the
   * moment of the decision, which would otherwise tell which ids are configured.
   */
  decide(all: Buffer, { isQuiet, now }: { isQuiet: boolean; now: number }): Guess | undefined {
    const bytes = all.subarray(0, MOST_BYTES)
    if (bytes.length < 2 * this.#looked && !isQuiet) return undefined
    if (this.isNews(bytes)) {
      this.#looked = bytes.length
      const { found, open } = this.#detector.look({ bytes, transport: 'tcp', now }, this.#open)
      this.#found = found.filter(({ protocol }) => protocol !== this.#except)
      this.#open = [...this.#found.map(({ protocol }) => protocol), ...open]
    }
    this.guesses = likely(this.#found)
    if (!isQuiet && !this.guesses[0]?.isSure) return undefined
    this.guesses = this.#detector.ranked(this.#found, this.#session)
    return this.guesses[0]
  }

  /** Returns whether there are bytes that were not judged yet. */
  isNews({ length }: Buffer): boolean {
    return Math.min(length, MOST_BYTES) > this.#looked
  }
}

/** Bytes of a connection, or of a datagram, that are judged: every login is shorter by far. */
export const MOST_BYTES = 4096
/** After this silence of the sender, ms, the likeliest protocol is taken. */
export const QUIET_MS = 300
