import { DecodeError, type DecodeReason, type Fix, type Message, type Protocol } from '../../protocols/kit/index.ts'
import { sameId } from '../domain/ids.ts'
import { type FaultPlace, logFault } from '../observe/faults.ts'
import type { Logger } from '../observe/log.ts'
import { frameCounters, metrics } from '../observe/metrics.ts'
import { type ObservationCode, observations } from '../observe/observations.ts'
import { noteNotStored } from '../observe/trouble.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import type { HoldReason } from '../store/index.ts'
import type { Contact } from '../store/device-record.ts'
import { kindOf, type MisunderstoodFrame } from '../store/misunderstood-frame.ts'
import { say } from '../texts/text.ts'
import type { Arrivals } from './arrivals.ts'
import type { DayBook, OpenNotes } from './day-book.ts'
import type { WatchedFrames } from './watched-frames.ts'
import type { Conversation } from './conversation.ts'
import {
  noteAhead,
  noteDamage,
  noteNoId,
  noteNotUnderstood,
  noteSharedAddress,
  noteWrongPort,
  type OwnPort,
  type UsedPort,
} from './frame-findings.ts'
import type { FrameNotes, HeardBook } from './heard.ts'
import { type IdentityReason, NOBODY, type Objection, type Refusal, type ResolvedDevice } from './identity.ts'
import { doubtOf, type FixSource, type FrameArrival, type MessageSource, type Outcome, type Share } from './outcome.ts'
import { type Placement, utcOf } from './place.ts'
import { noteSuspicion } from './suspicion.ts'
import { RejectedDeviceLog } from './unknown-devices.ts'

/** The books that the Journal writes, and the listeners that a finding may name. */
export interface JournalOptions {
  readonly heard: Pick<HeardBook, 'gone'> & { of(device: string): FrameNotes }
  readonly arrivals: Pick<Arrivals, 'notUnderstood' | 'refused' | 'unconfigured'>
  readonly days: Pick<DayBook, 'of'>
  readonly watchedFrames: Pick<WatchedFrames, 'isIdle' | 'keep'>
  readonly listeners: readonly OwnPort[]
  readonly logger: Logger
}

/**
 * Notes what happened to frames: metrics, observations, the log, and the books about devices, days, arrivals and watched
 * frames. The path of a frame decides, and writes none of these. Everything is noted in memory before the frame is answered;
 * each book writes itself to Redis, and no frame waits for that.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #rejected: RejectedDeviceLog
  readonly #counters = new Map<string, FrameCounters>()

  constructor(options: JournalOptions) {
    this.#options = options
    this.#rejected = new RejectedDeviceLog(options.logger)
  }

  /** Notes what became of a frame. A fault in here harms no frame. */
  note(arrival: FrameArrival, outcome: Outcome): void {
    const { watchedFrames, logger } = this.#options
    const { protocol } = arrival
    try {
      this.#noteFrame(arrival, outcome)
      if (arrival.session.isGone) this.gone(arrival.session)
      if (!watchedFrames.isIdle) watchedFrames.keep(arrival, outcome)
    } catch (error) {
      logFault(logger, error, { what: 'fault in noting a frame', protocol: protocol.name })
    }
  }

  /** Notes that a connection has ended. What became of its last frames may be noted later. */
  gone(session: Conversation): void {
    const { connectedAt, device: last, earlierDevices = NONE, ended, remote } = session
    session.gone()
    this.carried(session)
    for (const device of new Set([...earlierDevices, last]))
      this.#options.heard.gone({ connectedAt, device, ended, remote })
  }

  /**
   * Notes the data volume of a session. That of a session with several devices (a relay, a bridge) is not attributed.
   * `notes`: the open notes on its device, if at hand.
   */
  carried(session: Conversation, notes?: OpenNotes): void {
    const {
      airBytes: bytes,
      airConnections: connections,
      airFixes: fixes,
      device,
      earlierDevices,
      isConfigured,
    } = session
    if (bytes === 0 || device === undefined || !isConfigured || earlierDevices) return
    const open = notes ?? this.#options.days.of(device)
    open.carried({ bytes, connections, fixes })
    session.carriedIsNoted()
  }

  /** Notes a fault of waybridge that keeps a device's message from being stored. */
  fault(error: unknown, place: FaultPlace): void {
    noteNotStored('fault')
    logFault(this.#options.logger, error, place)
  }

  /** Notes a sender that no protocol understands. */
  notUnderstood(...sent: Parameters<Arrivals['notUnderstood']>): void {
    const [{ transport }, { protocol = 'auto' }] = sent
    metrics.unidentified.inc({ listener: `${transport}/${protocol}` })
    this.#options.arrivals.notUnderstood(...sent)
  }

  /** Notes that a session with a known device speaks to the port of another protocol. Its fixes are still taken. */
  wrongPort(session: Conversation, protocol: Protocol, at: UsedPort): void {
    session.spokeToWrongPort()
    noteWrongPort(session, protocol, { at, listeners: this.#options.listeners })
  }

  /** Notes that a device published to a topic that is not its own. */
  refusedTopic(reason: 'other_device' | 'unknown_topic', { device, isConfigured }: Conversation): void {
    metrics.refused.inc({ reason })
    if (device !== undefined && isConfigured) this.#options.heard.of(device).became('refused', reason, Date.now())
  }

  /** Notes that datagrams without an id are not taken from an address which these devices have used. */
  sharedAddress({ remote }: Conversation, devices: readonly string[]): void {
    noteSharedAddress(remote, devices)
  }

  /** Notes the login of a connection over MQTT. */
  login(id: string, from: MessageSource, sender: ResolvedDevice | Refusal): void {
    if ('reason' in sender) {
      this.#options.arrivals.refused(id, from, sender.reason)
      return this.#refused(sender, from)
    }
    this.#spoke(sender, from)
    if (!sender.entry) this.#unconfigured(sender, from)
  }

  /** Logs a fault of ours that a decoder has met, if there is one. */
  decoded(read: FrameArrival['read'], protocol: Protocol): void {
    if (read instanceof DecodeError && read.cause)
      logFault(this.#options.logger, read.cause, { what: 'fault in a decoder', protocol: protocol.name })
  }

  /** Notes what became of the fixes of a kept frame that is understood now. */
  understoodLate(share: Share<FixSource>, protocol: string): void {
    const { sender, fixes, failure } = share
    this.#placed(share)
    if (failure) return
    metrics.received.inc({ protocol }, fixes.length)
    this.#options.logger.info({ device: sender.id, protocol, fixes: fixes.length }, 'understood late')
  }

  /** Notes that fixes of a kept frame are left out, as their device is not accepted. */
  refusedLate(reason: IdentityReason): void {
    metrics.refused.inc({ reason })
  }

  /** Notes that frames are kept no more, and why. */
  keptNoMore(reason: LeavingReason, frames: number): void {
    if (frames > 0) metrics.misunderstoodLeft.inc({ reason }, frames)
  }

  /** Notes the time of a fix that was held and goes to a lane, ms UTC. */
  released(device: string, time: number): void {
    this.#options.days.of(device).add('fix', time)
  }

  /** Notes the sender and the time of a fix from before its device was configured; `fix`: it now goes to a lane. */
  sentBefore(device: string, by: Contact, fix?: Fix): void {
    this.#options.heard.of(device).sentBefore(by, fix)
  }

  /** Notes that a fix of a configured device is discarded because it was held for too long. */
  heldTooLong(device: string, held: HoldReason): void {
    observations.note('held_too_long', { subject: { device }, evidence: say(`held as ${held}` as const) })
  }

  #noteFrame(arrival: FrameArrival, outcome: Outcome): void {
    const { read, session, protocol } = arrival
    const { sender, shares = NONE, refusals = NONE, objections = NONE, kept } = outcome
    let counters = this.#counters.get(protocol.name)
    if (!counters) this.#counters.set(protocol.name, (counters = frameCounters(protocol.name)))
    if (read) counters.frames[session.transport].value++
    if (read instanceof DecodeError) this.#misunderstood(read.code, arrival, outcome.speaker)
    else if (outcome.status === 'misunderstood') this.#misunderstood(outcome.reason, arrival, outcome.speaker)
    if (sender) this.#spoke(sender, arrival)
    for (const share of shares) {
      // After a wait, the share of a frame has its own sender object, whose objection is noted above.
      if (share.sender !== sender) this.#spoke(share.sender, share.source, share.sender.id === sender?.id)
      this.#placed(share)
      if (share.fault !== undefined) this.#logFault(share.fault, share.sender.id, protocol)
      if (share.failure) continue
      if (session.trial?.push !== false) counters.received.value += share.fixes.length
      if (!share.sender.entry) this.#unconfigured(share.sender, share.source, share.fixes.at(-1))
    }
    if (sender?.entry && sender.id === session.device) {
      if (read && 'fixes' in read && read.fixes) session.carries(0, 0, read.fixes.length)
      this.carried(session, this.#notesOf(sender))
    }
    for (const refusal of refusals) this.#refused(refusal, arrival)
    for (const objection of objections) this.#objected(objection, arrival.at)
    if (kept) this.#kept(kept)
    if (outcome.status === 'stored') {
      if (sender) this.#answered(sender, arrival)
    } else if (outcome.status === 'not_stored') this.#notStored(outcome, arrival)
    else if (outcome.status === 'refused' && !sender && !(read instanceof DecodeError))
      this.#options.arrivals.refused(outcome.device ?? '', arrival, outcome.reason)
  }

  /** A frame is damaged, or not of its protocol; `speaker`: the configured device of its connection. */
  #misunderstood(reason: DecodeReason, { at, session, protocol, read }: FrameArrival, speaker?: DeviceEntry): void {
    metrics.decodeErrors.inc({ protocol: protocol.name, reason })
    if (speaker) this.#options.heard.of(speaker.id).became('misunderstood', reason, at)
    if (reason === 'checksum') noteDamage(session, protocol, { device: speaker?.id, now: at })
    this.decoded(read, protocol)
  }

  /** Notes a message of a device; `isKnown`: its objection is already noted. */
  #spoke(sender: ResolvedDevice, { at, protocol, session }: MessageSource, isKnown = false): void {
    if (sender.objection && !isKnown) this.#objected(sender.objection, at)
    if (!sender.entry) return
    sender.heard ??= this.#options.heard.of(sender.id)
    sender.heard.spoke(session, protocol?.name, sender.isProved, at)
  }

  /** Notes where fixes go and what is suspicious about them and, once they are stored, the result. */
  #placed({ sender, source, fixes, placed, duplicates, claim, move, failure }: Share<FixSource>): void {
    const { id, entry } = sender
    const { at } = source
    if (claim) noteSuspicion(id, claim, at)
    if (move) noteSuspicion(id, move, at)
    if (!placed) return
    // A sender without proof tells nothing about the device's clock.
    if (entry && placed.aheadMs > 0) noteAhead(entry, placed.aheadMs, at)
    else if (entry && placed.lastFix && observations.devices.has(id)) observations.over(id, CLOCK)
    if (failure) return
    for (const reason of placed.filtered)
      if (reason !== 'trial' && source.session.trial?.push !== false) metrics.filtered.inc({ reason })
    if (duplicates > 0) metrics.filtered.inc({ reason: 'duplicate' }, duplicates)
    if (placed.repaired > 0) metrics.repaired.inc({ reason: 'gps_week' }, placed.repaired)
    if (!entry) return
    this.#notesOf(sender).placed(placed, at, duplicates)
    // What is understood late says nothing of where the device is now.
    if (source.lateAt !== undefined || !sender.heard) return
    noteTreatment(sender.heard, placed, { at, duplicates })
    noteSaid(sender.heard, fixes, { entry, now: at })
  }

  #unconfigured({ id }: ResolvedDevice, from: MessageSource, fix?: Fix): void {
    this.#options.arrivals.unconfigured(id, from, fix)
  }

  /** Notes that a message of a device is answered: ends the findings that it shows to be over. */
  #answered(sender: ResolvedDevice, arrival: FrameArrival): void {
    const { id, entry } = sender
    const { read, session, startedAt } = arrival
    if (!session.trial) metrics.ackDuration.observe((performance.now() - startedAt) / 1000)
    const message = read as Message
    const { said } = message
    if (said) sender.heard?.said(said, { at: arrival.at, cameAt: arrival.at })
    if (!entry) {
      if (!message.fixes?.length) this.#unconfigured(sender, arrival)
    } else if (observations.devices.has(id)) {
      observations.over(id, message.fixes?.length && !doubtOf(message) ? UNDERSTOOD : IDENTIFIED)
      if (!session.isWrongPort) observations.over(id, RIGHT_PORT)
    }
  }

  #refused(refusal: Refusal, { at, protocol, session: { remote, transport } }: MessageSource): void {
    const { device, reason, objection, isCrowded } = refusal
    metrics.refused.inc({ reason })
    if (objection) this.#objected(objection, at)
    if (reason === 'unknown_device' && refusal !== NOBODY) this.#rejected.log(sameId(device), reason, remote)
    if (reason === 'other_device') this.#rejected.log(device, reason, remote)
    if (isCrowded) observations.note('unknown_refused', { evidence: sameId(device).slice(0, 64) })
    if (device === '' && protocol) noteNoId(protocol, { remote, transport, now: at })
  }

  #objected({ device, reason, finding }: Objection, now: number): void {
    if (finding) observations.note(finding.code, { subject: { device }, evidence: finding.evidence, now })
    if (reason) this.#options.heard.of(device).became('refused', reason, now)
  }

  /** Notes that not all of a frame is understood. It is kept, or storing it failed. */
  #kept(frame: MisunderstoodFrame): void {
    const { at, company, device, protocol, reason, unreadable } = frame
    if (unreadable) metrics.decodeErrors.inc({ protocol, reason: 'entry' }, unreadable.length)
    metrics.misunderstood.inc({ protocol, reason })
    if (company === undefined) return
    this.#options.heard.of(device).became('misunderstood', reason, at)
    if (kindOf(reason) === 'position') noteNotUnderstood(frame)
  }

  #notStored({ reason, sender, fault }: NotStored, { at, session, protocol }: FrameArrival): void {
    // On a trial the old server answers, and a missed copy counts in the account of the trial.
    if (!session.trial) noteNotStored(reason)
    // A request is answered 503, a datagram dropped.
    if (reason === 'flood' && session.transport === 'udp') metrics.refused.inc({ reason })
    if (fault !== undefined) this.#logFault(fault, session.device, protocol)
    if (sender?.entry && !session.trial) this.#notesOf(sender).add('not_stored', at)
  }

  #logFault(error: unknown, device: string | undefined, { name }: Protocol): void {
    logFault(this.#options.logger, error, { what: 'fault in handling a frame', device, protocol: name })
  }

  #notesOf(sender: ResolvedDevice): OpenNotes {
    if (!sender.notes?.isOpen) sender.notes = this.#options.days.of(sender.id)
    return sender.notes
  }
}

/** Why a kept frame is dropped. */
export type LeavingReason = 'understood' | 'no_position' | 'other_company' | 'not_needed' | 'max_age'

type FrameCounters = ReturnType<typeof frameCounters>
type NotStored = Extract<Outcome, { readonly status: 'not_stored' }>

/** Notes the last fixes of a configured device, and what became of its message. */
function noteTreatment(
  device: FrameNotes,
  placed: Placement,
  { at, duplicates }: { readonly at: number; readonly duplicates: number },
): void {
  const { filtered, lastFix, lastUnplaced, parts, received } = placed
  const isDuplicate = duplicates > 0 && lastFix
  device.stored({
    fix: lastFix && { at, fix: fixAlone(lastFix) },
    filtered: isDuplicate
      ? { at, reason: 'duplicate', fix: fixAlone(lastFix) }
      : lastUnplaced && { at, ...lastUnplaced, fix: fixAlone(lastUnplaced.fix) },
  })
  if (parts.length === 0) device.became('filtered', filtered[filtered.length - 1], at)
  // Duplicates change nothing.
  if (duplicates >= received - filtered.length) return
  for (const part of parts)
    if ('lane' in part) device.became('routed', part.lane, at)
    else device.became('held', part.held, at)
}

/** Returns a fix without the values beside its position, which the record has separately. */
function fixAlone({ said: _said, ...fix }: Fix): Fix {
  return fix
}

/**
 * Notes the values that a device sends with its fixes, earliest first. Their time is that of the fix, by our clock if the
 * device's is behind; the time of arrival if that of the fix cannot be right.
 */
function noteSaid(device: FrameNotes, fixes: readonly Fix[], arrival: { entry: DeviceEntry; now: number }): void {
  const { now } = arrival
  const timeOf = ({ time }: Fix) => utcOf(time, arrival)
  // Most messages have one fix.
  const inOrder = fixes.length > 1 ? fixes.toSorted((one, other) => timeOf(one) - timeOf(other)) : fixes
  for (const fix of inOrder) {
    if (!fix.said) continue
    const time = timeOf(fix)
    const at = time > now - OLDEST_SAID_MS ? Math.min(time + device.behindMs, now) : now
    device.said(fix.said, { at, cameAt: now })
  }
}

/**
 * Observations that end: with an answered message, with one that is fully understood, with one on the port of its protocol,
 * and with a fix in time.
 */
const IDENTIFIED: readonly ObservationCode[] = ['wrong_secret', 'not_permitted', 'checksum_errors']
const UNDERSTOOD: readonly ObservationCode[] = [...IDENTIFIED, 'not_understood']
const RIGHT_PORT: readonly ObservationCode[] = ['wrong_port']
const CLOCK: readonly ObservationCode[] = ['clock_ahead']
const NONE: readonly never[] = []
/** No backlog is older than a year; the clock of such a tracker was never set. */
const OLDEST_SAID_MS = 366 * 86_400_000
