import {
  DecodeError,
  type DecodeReason,
  decodeFrame,
  type HttpRequest,
  type Message,
  type Protocol,
  type Sealed,
  type Transport,
} from '../../protocols/kit/index.ts'
import type { Logger } from '../observe/log.ts'
import { guarded, logFault } from '../observe/faults.ts'
import { frameCounters, metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import type { DeviceSecrets } from '../roster/device-secrets.ts'
import { type Capacity, Waiting } from './acceptance.ts'
import type { Arrivals } from './arrivals.ts'
import { type DeviceSession, noteStored, relayed, senderOn, type UnknownDeviceQuota } from './device.ts'
import type { Enrolment } from './enrolment.ts'
import { FixStorage, type FixStorageOptions } from './fix-storage.ts'
import {
  doubtOf,
  failed,
  type FrameArrival,
  type FrameOutcome,
  isObstacle,
  noteDamaged,
  noteTaken,
  type Obstacle,
  type Reading,
} from './frame.ts'
import { FrameKeeper, type FrameKeeperOptions } from './frame-keeper.ts'
import type { FrameWatch } from './frame-watch.ts'
import type { GuessDelays } from './guesses.ts'
import type { HeardDevices } from './heard.ts'
import { Identity, type IdentityReason, introduce, ResolvedDevice, speakerOn } from './identity.ts'
import { rememberOpening } from './misunderstood.ts'
import { openBox, UNKNOWN_SECRET } from './sealed.ts'

export interface IngestOptions extends FixStorageOptions, FrameKeeperOptions {
  readonly replica: FixStorageOptions['replica']
  readonly capacity: Pick<Capacity, 'hasShortage' | 'shortageFor' | 'isFull'>
  readonly heard: HeardDevices
  readonly arrivals: Pick<Arrivals, 'refused' | 'unconfigured'>
  /** Decides which unknown devices may have held fixes. */
  readonly unknownDevices: Pick<UnknownDeviceQuota, 'admit'>
  readonly guesses?: GuessDelays
  /** While the window is open, unknown devices are admitted even with `hold.unknown: false`. */
  readonly enrolment: Pick<Enrolment, 'isOpen'>
  /** The secrets of devices, for frames that are encrypted with them; without it, only those that a sender has presented. */
  readonly secrets?: Pick<DeviceSecrets, 'of'>
  /** Keeps the frames of watched devices; without it, no frames are kept. */
  readonly frameWatch?: FrameWatch
  readonly logger: Logger
  /** How long a frame waits until it can be stored, by transport. */
  readonly waitMs?: Readonly<Record<Transport, number>>
}

/** The path of one frame: decode it, resolve its device, store its fixes. */
export class Ingest {
  readonly #options: IngestOptions
  readonly #waiting: Waiting
  readonly #identity: Identity
  readonly #fixes: FixStorage
  readonly #frames: FrameKeeper
  readonly #counters = new Map<string, ReturnType<typeof frameCounters>>()

  constructor(options: IngestOptions) {
    this.#options = options
    this.#waiting = new Waiting(options.waitMs)
    this.#fixes = new FixStorage(options)
    this.#frames = new FrameKeeper(options, this.#waiting)
    const { enrolment, hold } = options
    this.#identity = new Identity({ ...options, admitsUnknown: () => hold.unknown || enrolment.isOpen })
  }

  /**
   * Takes one frame. Resolves once its fixes are stored, or once storing was given up. Everything but the storing happens in
   * the order of the calls, so that the frames of a connection are decoded in their order.
   */
  take(frame: Buffer | HttpRequest, session: DeviceSession, protocol: Protocol): Promise<FrameOutcome> {
    const { frameWatch, logger } = this.#options
    const startedAt = performance.now()
    const deadline = startedAt + this.#waiting.waitMs[session.transport]
    let counters = this.#counters.get(protocol.name)
    if (!counters) this.#counters.set(protocol.name, (counters = frameCounters(protocol.name)))
    const arrival: FrameArrival = { frame, session, protocol, startedAt, deadline, counters, read: undefined }
    const taken = this.#take(arrival)
    if (frameWatch && !frameWatch.isIdle)
      guarded(
        () => frameWatch.follow(arrival, taken),
        (error) => logFault(logger, error, { what: 'fault in keeping a watched frame', protocol: protocol.name }),
      )
    return taken
  }

  async #take(arrival: FrameArrival): Promise<FrameOutcome> {
    const { arrivals, heard, logger, replica } = this.#options
    const { frame, session, protocol } = arrival
    if (!replica.current && !(await this.waitForRoster(session.transport))) return failed('roster', {})
    arrival.counters.frames[session.transport].value++
    session.now = this.#options.clock.now()
    session.settingsOf = this.#identity.settingsOn(session, protocol.name)

    let message = (arrival.read = decode(arrival, logger))
    if (!(message instanceof DecodeError) && message.sealed)
      message = arrival.read = await this.#opened(message.sealed, message, arrival)
    if (message instanceof DecodeError) return this.#damaged(message, arrival)
    if (message.secret !== undefined) session.presented = message.secret
    if (message.none !== undefined) rememberOpening(session, frame)
    const { device = session.device, fixes = [] } = message
    if (device === undefined && fixes.every((fix) => fix.device !== undefined))
      return this.#takeOfNobody(message, arrival)

    const before = senderBefore(message, arrival, replica.version)
    const sender = before ?? this.#identity.senderOf(message, session, protocol.name)
    if (typeof sender === 'string') {
      arrivals.refused(device ?? '', session, { reason: sender, protocol: protocol.name })
      return failed(sender, { ...message, device })
    }
    if (session.admits?.(sender) === false) return failed('flood', message)
    if (!before) introduce(sender, message, arrival, replica.version)
    if (message.device === undefined) session.hasUnnamed = true
    if (sender.entry) (sender.heard ??= heard.of(sender.id)).spoke(session, protocol.name)
    let failure: Obstacle | IdentityReason | undefined
    let others: readonly ResolvedDevice[] | undefined
    if (message.fixes?.some((fix) => fix.device !== undefined))
      ({ failure, accepted: others } = await this.#storeOfMany({ ...message, device: sender.id }, arrival))
    else if (message.fixes?.length) failure = await this.#storeOf(sender, message, arrival)
    const isClear = message.unreadable === undefined && message.fixes?.length
    const doubt = isClear ? undefined : doubtOf(message)
    if (doubt && !failure) failure = await this.#frames.keep({ doubt, message, sender, others }, arrival)
    if (failure) return this.#notStored(failure, sender, { message, session })
    // Another device may have spoken on the session meanwhile.
    if (fixes.length > 0 && session.device === sender.id) noteStored(session)
    if (!sender.entry && !message.fixes?.length) arrivals.unconfigured(sender.id, session, { protocol: protocol.name })
    if (sender.entry && observations.devices.has(sender.id)) noteTaken(sender.id, message, session)
    metrics.ackDuration.observe((performance.now() - arrival.startedAt) / 1000)
    const isAtOnce = (!session.isProved && !message.fixes?.length && !doubt) || undefined
    return { status: 'stored', reply: message.reply, response: message.response, isAtOnce }
  }

  /** Takes the login of a connection over MQTT. Answers why it is refused, if so, which the caller counts. */
  login(id: string, secret: string | undefined, session: DeviceSession): IdentityReason | undefined {
    const { arrivals, heard, replica } = this.#options
    const sender = id === '' ? 'unknown_device' : this.#identity.senderOf({ device: id, secret }, session)
    session.now = this.#options.clock.now()
    if (typeof sender === 'string') {
      arrivals.refused(id, session, { reason: sender })
      return sender
    }
    introduce(sender, { secret }, { session }, replica.version)
    if (sender.entry) heard.of(sender.id).spoke(session)
    else arrivals.unconfigured(sender.id, session, {})
    return undefined
  }

  /** The entry of the device that a sender says to be; undefined until it has presented what the entry asks for. */
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

  #notStored(
    failure: Obstacle | IdentityReason,
    { id, entry }: ResolvedDevice,
    { message, session }: { readonly message: Message; readonly session: DeviceSession },
  ): FrameOutcome {
    if (entry && isObstacle(failure)) this.#options.days?.of(id).add('not_stored', session.now)
    return failed(failure, { ...message, device: id })
  }

  /**
   * Returns what an encrypted message holds, with the secret that opens it, which its sender has proved to hold. A message that no
   * secret opens stays as it is; its sender counts as one with a wrong secret, if it has presented none beside it.
   */
  async #opened(sealed: Sealed, message: Message, arrival: FrameArrival): Promise<Message | DecodeError> {
    const { logger, secrets } = this.#options
    const { session } = arrival
    const { device = session.device, secret: presented = session.secret } = message
    const opened =
      (presented === undefined ? undefined : await openBox(sealed, [presented])) ??
      (await openBox(sealed, device === undefined ? [] : ((await secrets?.of(device)) ?? [])))
    if (!opened) return { ...message, secret: presented ?? UNKNOWN_SECRET }
    const read = readOpened(sealed, opened.content, arrival, logger)
    return read instanceof DecodeError ? read : { ...read, device: message.device, secret: opened.secret }
  }

  /** A damaged frame over MQTT is kept and acknowledged: otherwise the client would send it again for ever. */
  async #damaged({ code, message: error }: DecodeError, arrival: FrameArrival): Promise<FrameOutcome> {
    const { session, protocol } = arrival
    const outcome = this.#misunderstood(code, arrival)
    if (session.transport !== 'mqtt') return outcome
    const sender = this.#identity.senderOf({}, session, protocol.name)
    if (typeof sender === 'string') return failed(sender, {})
    const failure = await this.#frames.keep({ doubt: code, error, message: {}, sender }, arrival)
    return failure ? failed(failure, {}) : { status: 'stored' }
  }

  #misunderstood(reason: DecodeReason, arrival: FrameArrival): FrameOutcome {
    const { session, protocol } = arrival
    metrics.decodeErrors.inc({ protocol: protocol.name, reason })
    const entry = speakerOn(session, this.#options.replica)
    if (entry) this.#options.heard.of(entry.id).became('misunderstood', reason)
    if (reason === 'checksum') noteDamaged(entry?.id, arrival)
    return { status: 'misunderstood', reason }
  }

  /**
   * Takes a frame on a session without a device. In the frame of a relay each fix names its device; a frame of which not all
   * was understood is kept for one of the devices that were accepted. Without one it is not answered, as nobody's frame is
   * kept. Any other frame before the login has nothing to store.
   */
  async #takeOfNobody(message: Message, arrival: FrameArrival): Promise<FrameOutcome> {
    const { fixes: [first] = [], reply, response } = message
    if (!first && doubtOf(message)) return this.#misunderstood('unsupported', arrival)
    const { accepted, ...stored } = await this.#storeOfMany(message, arrival)
    let { failure } = stored
    if (message.unreadable && !failure) {
      const sender = accepted.find(({ entry }) => entry) ?? accepted[0]
      if (!sender) return this.#misunderstood('malformed', arrival)
      failure = await this.#frames.keep({ doubt: 'entries', message, sender, others: accepted }, arrival)
    }
    return failure ? failed(failure, message) : { status: 'stored', reply, response }
  }

  /**
   * Stores the fixes of one device, and tries again until the deadline. Returns undefined once they are stored. If the
   * clock jumps meanwhile, they are not stored and the device has to send them again: judged by the earlier clock, they
   * would come behind newer ones. So it is if the time zone of the device changes: the frame was read by the earlier one.
   */
  async #storeOf(
    sender: ResolvedDevice,
    message: Message,
    arrival: FrameArrival,
  ): Promise<Obstacle | IdentityReason | undefined> {
    const { session, protocol, deadline, counters } = arrival
    const { fixes = [] } = message
    const { clock } = this.#options
    const { jumps } = clock
    session.sender ??= senderOn(session, protocol.name)
    let failure: Obstacle | IdentityReason | undefined
    if (!sender.entry) failure = await this.#frames.keepGuessed({ message, sender }, arrival)
    failure ??= await this.#fixes.store(fixes, sender, session)
    while (failure && (await this.#waiting.mayRetry(failure, deadline))) {
      clock.now()
      if (clock.jumps !== jumps) break
      // The roster may have changed meanwhile, and another device may have spoken on the session.
      const resolved = this.#identity.senderOf({ ...message, device: sender.id }, session, protocol.name)
      if (typeof resolved !== 'string' && resolved.entry?.time_zone !== sender.entry?.time_zone) break
      failure = typeof resolved === 'string' ? resolved : await this.#fixes.store(fixes, resolved, session)
    }
    if (failure) return failure
    counters.received.value += fixes.length
    if (!sender.entry)
      this.#options.arrivals.unconfigured(sender.id, session, { protocol: protocol.name, fix: fixes[fixes.length - 1] })
    return undefined
  }

  /**
   * Stores the fixes of a relay's frame, each for the device that it names. Those of a device that is refused are left out,
   * counted. Resolves with the accepted devices once all their fixes are stored, or with why some are not.
   */
  async #storeOfMany(message: Message, arrival: FrameArrival): Promise<StoredOfMany> {
    const { heard } = this.#options
    const { session, protocol } = arrival
    const byDevice = Map.groupBy(message.fixes ?? [], (fix) => fix.device ?? message.device ?? '')
    const accepted: ResolvedDevice[] = []
    const storing = [...byDevice].map(async ([device, fixes]) => {
      const own = { ...message, device, fixes }
      const ownSession = device === message.device ? session : relayed(session, device)
      const sender = this.#identity.senderOf(own, ownSession, protocol.name)
      if (typeof sender === 'string') return sender
      if (session.admits?.(sender) === false) return 'flood'
      if (sender.entry) (sender.heard = heard.of(sender.id)).spoke(ownSession, protocol.name)
      const failure = await this.#storeOf(sender, own, { ...arrival, session: ownSession })
      if (!failure) accepted.push(sender)
      return failure
    })
    const failures = (await Promise.all(storing)).filter((failure) => failure !== undefined)
    for (const reason of failures) if (!isObstacle(reason)) metrics.refused.inc({ reason })
    return { failure: failures.find(isObstacle), accepted }
  }
}

/** What became of a relay's frame. */
interface StoredOfMany {
  readonly failure: Obstacle | undefined
  /** The devices whose fixes are stored. */
  readonly accepted: readonly ResolvedDevice[]
}

/** A decoder may only throw DecodeError. Any other error is a fault of ours: it is logged, and harms no other frame. */
export function decode({ frame, session, protocol }: Reading, logger: Logger): Message | DecodeError {
  try {
    return decodeFrame(protocol, frame, session)
  } catch (error) {
    if (error instanceof DecodeError) return error
    logFault(logger, error, { what: 'fault in a decoder', protocol: protocol.name })
    return new DecodeError('malformed')
  }
}

/** What the content of an encrypted frame says. */
export function readOpened(
  { read }: Sealed,
  content: Buffer,
  { session, protocol }: Reading,
  logger: Logger,
): Message | DecodeError {
  return decode({ frame: content, session, protocol: { ...protocol, decode: read } }, logger)
}

/** The sender of the frame before, where a message comes from it too, and the roster is the same; else undefined. */
function senderBefore(
  { device, secret }: Message,
  { session: { sending }, protocol }: FrameArrival,
  rosterVersion: number,
): ResolvedDevice | undefined {
  if (sending?.rosterVersion !== rosterVersion || sending.protocol !== protocol) return undefined
  const { sender } = sending
  return secret === undefined && (device ?? sender.id) === sender.id ? sender : undefined
}
