import { DecodeError, type Fix, type Message, type Protocol } from '../../protocols/kit/index.ts'
import type { Appender, Part } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import { type DeviceEntry, sameId } from '../roster/directory.ts'
import { cellsOf } from './cells.ts'
import type { ClockWatch } from './clock.ts'
import type { HeardBook } from './heard.ts'
import type { Holding } from './holding.ts'
import { identify } from './identify.ts'
import type { JudgeOptions } from './judge.ts'
import { createKnocks } from './knocks.ts'
import type { Outcome } from './outcome.ts'
import type { Room } from './room.ts'
import type { DeviceSession } from './session.ts'
import { sort } from './sort.ts'

export { createHeard, type Heard, type HeardBook } from './heard.ts'
export { presents } from './identify.ts'
export type { Outcome } from './outcome.ts'
export { createSession, type DeviceSession } from './session.ts'

/**
 * The road of one frame: decode, find out whose it is, normalise, store. All but the storing happens before the first
 * await, so that the frames of a connection are decoded in the order of the calls.
 */
export type Ingest = (frame: Buffer, session: DeviceSession, protocol: Protocol) => Promise<Outcome>

export interface IngestOptions {
  /** Whether it is known who drives what; before that nothing is taken. */
  readonly complete: () => boolean
  /** What is in effect now. */
  readonly judge: () => JudgeOptions
  readonly appender: Appender
  readonly heard: HeardBook
  readonly holding: Pick<Holding, 'releasing' | 'held'>
  readonly clock: ClockWatch
  readonly room: Room
  /** Which devices that nobody has configured are held. */
  readonly strangers: { admit(id: string, address: string): boolean }
  readonly logger: Logger
}

export function createIngest(options: IngestOptions): Ingest {
  const { appender, clock, complete, heard, holding, judge, logger, room, strangers } = options
  const knock = createKnocks(logger)

  return async (frame, session, protocol) => {
    if (!complete()) return { status: 'not_stored' }
    const started = performance.now()
    cellsOf(protocol).frames[session.transport].value++
    session.now = Date.now()

    const read = decode(frame, session, protocol)
    if (read instanceof Error) return misunderstood(read, session, protocol)
    if (saysNothing(read, session)) return { status: 'stored', reply: read.reply }

    const speaker = whose(read, session)
    if (typeof speaker === 'string') return refused(speaker, read)
    const message = introduce(speaker, read, session) ? decode(frame, session, protocol) : read
    if (message instanceof Error) return misunderstood(message, session, protocol)
    if (message.unreadable) metrics.decodeErrors.inc({ protocol: protocol.name, reason: 'entry' }, message.unreadable)
    const outcome = await store(message.fixes ?? [], speaker, session, protocol)
    if (outcome !== 'stored') return outcome === 'refused' ? refused('unknown_device', message) : { status: outcome }
    metrics.ackDuration.observe((performance.now() - started) / 1000)
    return { status: 'stored', reply: message.reply }
  }

  /** A decoder that fails otherwise than by DecodeError has a fault; it is in the log, and nobody else suffers. */
  function decode(frame: Buffer, session: DeviceSession, protocol: Protocol): Message | DecodeError {
    try {
      return protocol.decode(frame, session)
    } catch (error) {
      if (error instanceof DecodeError) return error
      const { stack } = error as Error
      logger.error({ stack, protocol: protocol.name, bytes: frame.length }, 'fault in a decoder')
      return new DecodeError('malformed')
    }
  }

  function whose(message: Message, session: DeviceSession): Speaker | Refusal {
    const { directory } = judge()
    const entry = identify(message, session, directory)
    if (typeof entry === 'object') return { id: entry.id, entry }
    note(entry === 'other_device' ? session.device : (message.device ?? session.device), 'refused', entry)
    const id = sameId(message.device ?? session.device ?? '')
    const refusal = entry === 'unknown_device' ? strangerRefusal(id, session) : entry
    knock(id, refusal ?? 'held', session.remote)
    return refusal ?? { id, entry: undefined }
  }

  /** Notes what became of a message of which nothing is taken, if its device is configured. */
  function note(device: string | undefined, treatment: 'refused' | 'misunderstood', reason: string): void {
    const entry = device === undefined ? undefined : judge().directory.find(device)
    if (entry) heard.became(entry.id, treatment, reason)
  }

  function misunderstood({ code }: DecodeError, { device }: DeviceSession, { name }: Protocol): Outcome {
    metrics.decodeErrors.inc({ protocol: name, reason: code })
    note(device, 'misunderstood', code)
    return { status: 'misunderstood', reason: code }
  }

  /** Why the fixes of a device that nobody has configured are not held; undefined where they are. */
  function strangerRefusal(id: string, { device, remote, transport }: DeviceSession): Refusal | undefined {
    if (transport === 'mqtt' && id !== sameId(device ?? '')) return 'other_device'
    const [address] = remote.split(/:\d+$/)
    return judge().hold.unknown && strangers.admit(id, address) ? undefined : 'unknown_device'
  }

  async function store(
    fixes: readonly Fix[],
    { id, entry }: Speaker,
    session: DeviceSession,
    protocol: Protocol,
  ): Promise<'stored' | 'not_stored' | 'refused'> {
    const { now } = session
    const last = entry && heard.of(id, session, protocol.name)
    if (fixes.length === 0) return 'stored'
    cellsOf(protocol).received.value += fixes.length
    const releasing = holding.releasing(id)
    const sorted = sort(fixes, { device: id, entry, now, releasing, last }, judge())
    if (entry && clock.note(id, sorted.future, now)) return 'not_stored'
    if (!room.for(sorted.parts)) return 'not_stored'
    for (const reason of sorted.filtered) metrics.filtered.inc({ reason })
    if (sorted.parts.length === 0) {
      appender.count(sorted.filtered)
      if (entry) heard.became(id, 'filtered', sorted.filtered[sorted.filtered.length - 1])
      return 'stored'
    }
    const storing = appender.append(sorted)
    if (sorted.parts.some((part) => 'held' in part && part.held !== 'clock')) holding.held(id, storing)
    const stored = await storing.catch(() => undefined)
    if (!stored) return 'not_stored'
    if (stored.duplicates > 0) {
      metrics.filtered.inc({ reason: 'duplicate' }, stored.duplicates)
      if (last) last.filtered = { reason: 'duplicate', at: now, fix: fixes[fixes.length - 1] }
    }
    // What goes behind what is being released has a route.
    const isNew = stored.duplicates < fixes.length - sorted.filtered.length
    if (entry && isNew && !releasing) for (const part of sorted.parts) became(id, part)
    return stored.refused ? 'refused' : 'stored'
  }

  function became(id: string, part: Part): void {
    if ('lane' in part) heard.became(id, 'routed', part.lane)
    else heard.became(id, 'held', part.held)
  }
}

/** Who sent a message; without an entry nobody has configured the device. */
interface Speaker {
  readonly id: string
  readonly entry: DeviceEntry | undefined
}

type Refusal = (Outcome & { status: 'refused' })['reason']

function refused(reason: Refusal, { refusal }: Message): Outcome {
  metrics.refused.inc({ reason })
  return { status: 'refused', reason, refusal }
}

/** A liveness message of a connection that has not said yet who it is. */
function saysNothing({ device, fixes }: Message, session: DeviceSession): boolean {
  return device === undefined && session.device === undefined && (!fixes || fixes.length === 0)
}

/** Tells the session who speaks. Answers whether the frame must be read again, as it was read without the device's settings. */
function introduce({ id, entry }: Speaker, message: Message, session: DeviceSession): boolean {
  if (message.secret !== undefined) session.secret = message.secret
  session.device = id
  const settings = entry?.protocolSettings ?? session.settings
  if (session.settings === settings) return false
  session.settings = settings
  return Object.keys(settings).length > 0
}
