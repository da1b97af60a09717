import { DecodeError, type Fix, type Message, type Protocol } from '../../protocols/kit/index.ts'
import type { DeviceEntry, Directory } from '../config/directory.ts'
import type { Appender } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import { cellsOf } from './cells.ts'
import type { HeardBook } from './heard.ts'
import { identify } from './identify.ts'
import type { FilterOptions } from './normalise.ts'
import type { Outcome } from './outcome.ts'
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
  /** The directory now in effect. */
  readonly directory: () => Directory
  readonly appender: Appender
  readonly heard: HeardBook
  readonly filter: FilterOptions
  readonly logger: Logger
}

export function createIngest({ directory, appender, heard, filter, logger }: IngestOptions): Ingest {
  return async (frame, session, protocol) => {
    const started = performance.now()
    const cells = cellsOf(protocol)
    cells.frames[session.transport].value++
    session.now = Date.now()

    const read = decode(frame, session, protocol)
    if (read instanceof Error) return misunderstood(read, protocol)
    if (saysNothing(read, session)) return { status: 'stored', reply: read.reply }

    const entry = identify(read, session, directory())
    if (typeof entry === 'string') {
      metrics.refused.inc({ reason: entry })
      return { status: 'refused', reason: entry, refusal: read.refusal }
    }
    const message = introduce(entry, read, session) ? decode(frame, session, protocol) : read
    if (message instanceof Error) return misunderstood(message, protocol)
    const stored = await store(message.fixes, entry, session, protocol)
    if (!stored) return { status: 'not_stored' }
    metrics.ackDuration.observe((performance.now() - started) / 1000)
    return { status: 'stored', reply: message.reply }
  }

  /** A decoder that fails otherwise than by DecodeError has a fault; the frame is in the log, and nobody else suffers. */
  function decode(frame: Buffer, session: DeviceSession, protocol: Protocol): Message | DecodeError {
    try {
      return protocol.decode(frame, session)
    } catch (error) {
      if (error instanceof DecodeError) return error
      logger.error(
        { stack: String((error as Error).stack), protocol: protocol.name, bytes: frame.length },
        'fault in a decoder',
      )
      return new DecodeError('malformed')
    }
  }

  async function store(
    fixes: Fix[] | undefined,
    entry: DeviceEntry,
    session: DeviceSession,
    protocol: Protocol,
  ): Promise<boolean> {
    const last = heard.of(entry.id, session, protocol.name)
    if (!fixes || fixes.length === 0) return true
    cellsOf(protocol).received.value += fixes.length
    const sorted = sort(fixes, { entry, directory: directory(), filter, now: session.now, last })
    for (const reason of sorted.filtered) metrics.filtered.inc({ reason })
    if (sorted.parts.length === 0) {
      appender.count(sorted.filtered)
      return true
    }
    return appender.append(sorted).then(
      () => true,
      () => false,
    )
  }
}

function misunderstood({ code }: DecodeError, { name }: Protocol): Outcome {
  metrics.decodeErrors.inc({ protocol: name, reason: code })
  return { status: 'misunderstood', reason: code }
}

/** A liveness message of a connection that has not said yet who it is. */
function saysNothing({ device, fixes }: Message, session: DeviceSession): boolean {
  return device === undefined && session.device === undefined && (!fixes || fixes.length === 0)
}

/** Tells the session who speaks. Answers whether the frame must be read again, as it was read without the device's settings. */
function introduce(entry: DeviceEntry, message: Message, session: DeviceSession): boolean {
  if (message.secret !== undefined) session.secret = message.secret
  session.device = entry.id
  if (session.settings === entry.protocolSettings) return false
  session.settings = entry.protocolSettings
  return Object.keys(entry.protocolSettings).length > 0
}
