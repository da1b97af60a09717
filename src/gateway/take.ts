import {
  DecodeError,
  type DecodeReason,
  type HttpRequest,
  type Message,
  type Protocol,
  type Sealed,
  type Transport,
} from '../../protocols/kit/index.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import type { DeviceSecrets } from '../roster/device-secrets.ts'
import { Waiting } from './acceptance.ts'
import type { Conversation } from './conversation.ts'
import type { Enrolment } from './enrolment.ts'
import { FrameStorage, type StorageParts } from './fix-storage.ts'
import { FrameKeeper, type FrameKeeperOptions } from './frame-keeper.ts'
import type { GuessDelays } from './guesses.ts'
import { Identity, type IdentityReason, NOBODY, objectionsTo, type ResolvedDevice, speakerOn } from './identity.ts'
import type { Journal } from './journal.ts'
import type { Mappings } from './mappings.ts'
import { type Course, doubtOf, type FrameArrival, failed, type Outcome, type Share } from './outcome.ts'
import type { HoldOptions } from './place.ts'
import { decode, openBox, readByMapping, readOpened, UNKNOWN_SECRET, UnreadFrames } from './reading.ts'
import type { UnknownDeviceQuota } from './unknown-devices.ts'

export interface IngestOptions extends FrameKeeperOptions, Pick<StorageParts, 'clock' | 'storage'> {
  readonly hold: Pick<HoldOptions, 'unknown'>
  /** Decides which unknown devices may have held fixes. */
  readonly unknownDevices: Pick<UnknownDeviceQuota, 'admit'>
  readonly guesses: GuessDelays
  /** While the window is open, unknown devices are admitted even with `hold.unknown: false`. */
  readonly enrolment: Pick<Enrolment, 'isOpen'>
  /** The secrets of devices, for encrypted frames. */
  readonly secrets: Pick<DeviceSecrets, 'of'>
  readonly journal: Pick<Journal, 'note' | 'login'>
  /** Tried on JSON that the protocol of its port cannot read. */
  readonly mappings: Pick<Mappings, 'read'>
  /** How long a frame waits until it can be stored, by transport. */
  readonly waitMs?: Readonly<Record<Transport, number>>
}

/** The path of one frame: decodes it, finds its sender, places its fixes, and stores them. It notes nothing; the Journal does. */
export class Ingest {
  readonly #options: IngestOptions
  readonly #waiting: Waiting
  readonly #identity: Identity
  readonly #frames: FrameKeeper
  readonly #storage: FrameStorage
  readonly #unread = new UnreadFrames()

  constructor(options: IngestOptions) {
    this.#options = options
    this.#waiting = new Waiting(options.waitMs)
    this.#frames = new FrameKeeper(options, this.#waiting)
    const { clock, enrolment, hold, storage } = options
    this.#identity = new Identity({ ...options, admitsUnknown: () => hold.unknown || enrolment.isOpen })
    this.#storage = new FrameStorage({
      clock,
      storage,
      identity: this.#identity,
      frames: this.#frames,
      waiting: this.#waiting,
    })
  }

  /**
   * Takes one frame. Resolves to its outcome once its fixes are stored or storing was given up; never rejects. Everything
   * except storing happens in the order of the calls, so that the frames of a connection are decoded in order.
   */
  async take(frame: Buffer | HttpRequest, session: Conversation, protocol: Protocol): Promise<Outcome> {
    const startedAt = performance.now()
    const deadline = startedAt + (session.trial ? 0 : this.#waiting.waitMs[session.transport])
    const { clock } = this.#options
    const arrival: FrameArrival = {
      frame,
      session,
      protocol,
      startedAt,
      deadline,
      at: clock.now(),
      jumps: clock.jumps,
      read: undefined,
      spoken: undefined,
      course: undefined,
    }
    let outcome: Outcome
    try {
      outcome = await this.#take(arrival)
    } catch (fault) {
      outcome = { status: 'not_stored', reason: 'fault', fault, ...arrival.course }
    }
    this.#options.journal.note(arrival, outcome)
    return session.trial ? { ...outcome, read: arrival.read, readAt: arrival.at } : outcome
  }

  async #take(arrival: FrameArrival): Promise<Outcome> {
    const { clock, replica } = this.#options
    const { frame, session } = arrival
    // On a trial, messages are read even with an outdated roster, because a connection names its device only once.
    if (!replica.current && !session.trial) {
      if (!(await this.waitForRoster(session.transport))) return failed('roster')
      arrival.at = clock.now()
      arrival.jumps = clock.jumps
    }
    let message = (arrival.read = this.#read(arrival))
    const { protocol } = arrival
    if (!(message instanceof DecodeError) && message.sealed)
      message = arrival.read = await this.#opened(message.sealed, message, arrival)
    let unread: DecodeError | undefined
    if (message instanceof DecodeError) {
      if (!message.envelope || !(session.hasVerified || this.#comesAgain(message.envelope, arrival)))
        return this.#damaged(message, arrival)
      unread = message
      message = arrival.read = { ...message.envelope, fixes: [] }
    }
    if (message.secret !== undefined) session.presents(message.secret)
    if (message.none !== undefined) session.opened(frame)
    const { device = session.device, fixes = [], refusal } = message
    if (device === undefined && fixes.every((fix) => fix.device !== undefined))
      return this.#takeOfNobody(message, arrival)

    const before = this.#identity.senderBefore(message, session, protocol)
    const sender = before ?? this.#identity.senderOf(message, session, protocol.name)
    if ('reason' in sender) return failed(sender, refusal)
    if (session.admits?.(sender) === false) return failed('flood', refusal, { objections: objectionsTo(sender) })
    if (!before) session.spokeAs({ sender, protocol, rosterVersion: replica.version }, message.secret)
    if (message.device === undefined && !session.hasUnnamed) session.spokeUnnamed()

    let { shares, refusals, objections, failure, kept }: Course & Pick<Share, 'failure'> = NOTHING
    const isRelay = fixes.some((fix) => fix.device !== undefined)
    if (isRelay)
      ({ shares, refusals, objections, failure } = await this.#storage.storeOfMany(
        { ...message, device: sender.id },
        arrival,
      ))
    else if (fixes.length > 0) {
      const share = await this.#storage.store(sender, message, arrival)
      shares = [share]
      failure = share.failure
    }
    arrival.course = { sender, shares, refusals, objections }
    const doubt = message.unreadable === undefined && fixes.length > 0 ? undefined : doubtOf(message)
    if (doubt && !failure) {
      const others = isRelay ? acceptedIn(shares) : undefined
      const error = unread?.message
      ;({ kept, failure } = await this.#frames.keep({ doubt, error, message, sender, others }, arrival))
    }
    if (failure) return failed(failure, refusal, { sender, shares, refusals, objections, kept })
    // Another device may have sent on the session in between.
    if (fixes.length > 0 && session.device === sender.id) session.stored()
    const isAtOnce = (fixes.length === 0 && !doubt && !session.isProved) || undefined
    const { reply, response } = message
    return { status: 'stored', reply, response, isAtOnce, sender, shares, refusals, kept }
  }

  /** Takes the login of a connection over MQTT. Returns the reason of a refusal, if there is one. */
  login(id: string, secret: string | undefined, session: Conversation): IdentityReason | undefined {
    const { clock, journal, replica } = this.#options
    const sender = id === '' ? NOBODY : this.#identity.senderOf({ device: id, secret }, session)
    const rosterVersion = replica.version
    session.reads(clock.now(), undefined, this.#identity)
    if (!('reason' in sender)) session.spokeAs({ sender, protocol: undefined, rosterVersion }, secret)
    journal.login(id, { session, at: session.now }, sender)
    return 'reason' in sender ? sender.reason : undefined
  }

  /**
   * Returns the entry of the device that a sender claims to be; undefined until it has presented the proof that the entry
   * asks for.
   */
  provedEntry(...claim: Parameters<Identity['provedEntry']>): DeviceEntry | undefined {
    return this.#identity.provedEntry(...claim)
  }

  /** Resolves once the roster is current; false: it was not for as long as a device may wait. */
  async waitForRoster(transport: Transport): Promise<boolean> {
    const deadline = performance.now() + this.#waiting.waitMs[transport]
    while (!this.#options.replica.current) if (!(await this.#waiting.mayRetry('roster', deadline))) return false
    return true
  }

  /** Lets no frame wait from now on: what cannot be stored at once is not stored. */
  close(): void {
    this.#waiting.close()
  }

  /** Decodes a frame: with a mapping where its protocol may have missed a position. */
  #read(arrival: FrameArrival): Message | DecodeError {
    const { at, session } = arrival
    session.reads(at, arrival.protocol, this.#identity)
    const read = decode(arrival)
    const mapped = readByMapping(read, arrival, this.#options.mappings)
    if (!mapped) return read
    arrival.protocol = mapped.protocol
    session.reads(at, mapped.protocol, this.#identity)
    return mapped.message
  }

  /**
   * Resolves to the content of an encrypted message, with the secret that opens it, which its sender has thereby proved to
   * know. A message that no secret opens stays unchanged; its sender counts as one with a wrong secret, unless it has
   * presented another secret beside it.
   */
  async #opened(sealed: Sealed, message: Message, arrival: FrameArrival): Promise<Message | DecodeError> {
    const { secrets } = this.#options
    const { session } = arrival
    const { device = session.device, secret: presented = session.secret } = message
    const opened =
      (presented === undefined ? undefined : await openBox(sealed, [presented])) ??
      (await openBox(sealed, device === undefined ? [] : await secrets.of(device)))
    if (!opened) return { ...message, secret: presented ?? UNKNOWN_SECRET }
    session.reads(arrival.at, arrival.protocol, this.#identity)
    const read = readOpened(sealed, opened.content, arrival)
    return read instanceof DecodeError ? read : { ...read, device: message.device, secret: opened.secret }
  }

  /**
   * Returns whether a frame with a valid envelope came before, byte for byte, which damage never does. A frame that was read
   * by a guess may be another protocol's.
   */
  #comesAgain({ device }: Message, { frame, session }: FrameArrival): boolean {
    if (session.isGuessed && !session.hasStoredAsOwn) return false
    return this.#unread.hasCome(device ?? session.device, frame)
  }

  /** A damaged frame over MQTT is kept and acknowledged: otherwise the client would send it again for ever. */
  async #damaged({ code, message: error }: DecodeError, arrival: FrameArrival): Promise<Outcome> {
    const { session, protocol } = arrival
    const outcome = this.#misunderstood(code, arrival)
    if (session.transport !== 'mqtt') return outcome
    const { speaker } = outcome
    const sender = this.#identity.senderOf({}, session, protocol.name)
    if ('reason' in sender) return failed(sender, undefined, { speaker })
    const { kept, failure } = await this.#frames.keep({ doubt: code, error, message: {}, sender }, arrival)
    const course = { speaker, kept, objections: objectionsTo(sender) }
    return failure ? failed(failure, undefined, course) : { status: 'stored', ...course }
  }

  #misunderstood(reason: DecodeReason, { session }: FrameArrival): Outcome {
    return { status: 'misunderstood', reason, speaker: speakerOn(session, this.#options.replica) }
  }

  /**
   * Takes a frame on a session without a device. In a relay's frame each fix names its device; if the frame is not fully
   * understood, it is kept for one of the accepted devices. Without an accepted device it is not answered, because a frame
   * without a device is not kept. Any other frame before the login has nothing to store.
   */
  async #takeOfNobody(message: Message, arrival: FrameArrival): Promise<Outcome> {
    const { fixes: [first] = [], refusal, reply, response } = message
    if (!first && doubtOf(message)) return this.#misunderstood('unsupported', arrival)
    const { failure, ...stored } = await this.#storage.storeOfMany(message, arrival)
    const { shares, refusals } = (arrival.course = stored)
    if (failure) return failed(failure, refusal, stored)
    if (!message.unreadable) return { status: 'stored', reply, response, shares, refusals }
    const others = acceptedIn(shares)
    const sender = others.find(({ entry }) => entry) ?? others[0]
    if (!sender) return { ...this.#misunderstood('malformed', arrival), shares, refusals }
    const keeping = await this.#frames.keep({ doubt: 'entries', message, sender, others }, arrival)
    const course = { shares, refusals, kept: keeping.kept }
    return keeping.failure ? failed(keeping.failure, refusal, course) : { status: 'stored', reply, response, ...course }
  }
}

const NOTHING = { shares: undefined, refusals: undefined, objections: undefined, failure: undefined, kept: undefined }

/** The devices whose fixes are stored. */
function acceptedIn(shares: readonly Share[] = []): ResolvedDevice[] {
  return shares.flatMap(({ failure, sender }) => (failure ? [] : sender))
}
