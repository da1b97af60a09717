import { type HttpRequest, type Message, type Protocol, repliesOf } from '../../../../protocols/kit/index.ts'
import type { TrialConfig } from '../../../config/schema.ts'
import type { DeviceEntry } from '../../../roster/device-entry.ts'
import { guarded, logFault } from '../../../observe/faults.ts'
import type { Conversation, TrialMode } from '../../conversation.ts'
import type { Outcome } from '../../outcome.ts'
import type { AnswerComparison, Compared, SentFrame } from '../../trial/comparison.ts'
import type { TrialSender, TrialShared } from '../../trial/book.ts'
import { timeBytesOf } from '../../trial/time-bytes.ts'
import type { ProtocolEndpoint, Shared } from '../listener.ts'
import { ByteRoom, OldServer } from './old-server.ts'

/**
 * A listener with an old server, which gets and answers the trackers' messages. Waybridge reads a copy, and nothing waits for
 * it.
 */
export class Trial implements TrialMode {
  readonly push: boolean
  readonly server: OldServer
  readonly #shared: Shared
  readonly #of: TrialShared
  readonly #working = new Set<Promise<unknown>>()
  /** Room for data that wait for the old server, of trackers that waybridge answers. */
  readonly feeding = new ByteRoom(MOST_FED_BYTES)
  readonly #taking = new ByteRoom(MOST_BYTES)

  constructor(config: TrialConfig, listener: string, shared: Shared & { readonly trials: TrialShared }) {
    this.push = config.push
    this.server = new OldServer(config, listener)
    this.#shared = shared
    this.#of = shared.trials
  }

  get isFull(): boolean {
    return this.#taking.isFull
  }

  /** Whether waybridge may answer some devices: the old server then gets nothing until the sender is known. */
  get hasSwitched(): boolean {
    return this.#of.replica.roster.hasSwitched
  }

  /** Returns the entry of a device that waybridge answers itself; undefined: the old server does. */
  switched(device: string): DeviceEntry | undefined {
    const entry = this.#of.replica.roster.find(device)
    return entry?.trial === 'off' ? entry : undefined
  }

  /** Takes the copy of a frame. Resolves to its outcome; never rejects. */
  take(frame: Buffer | HttpRequest, session: Conversation, protocol: Protocol): Promise<Outcome> {
    const bytes = FRAME_BYTES + (Buffer.isBuffer(frame) ? frame.length : frame.uri.length + frame.body.length)
    this.#taking.take(bytes)
    return this.during(this.#shared.ingest.take(frame, session, protocol)).finally(() => this.#taking.give(bytes))
  }

  /** Makes the listener wait for some work before it closes. */
  during<Result>(work: Promise<Result>): Promise<Result> {
    this.#working.add(work)
    return work.finally(() => this.#working.delete(work))
  }

  /** Notes what became of the copy of a frame. */
  took(session: Conversation, protocol: Protocol, outcome: Outcome): void {
    this.#guarded(() => this.#of.book.took(senderOf(session, protocol), outcome))
  }

  /** Notes that bytes are no frame, or could not be looked at; `isFrame`: they may be one of the device. */
  missed(session: Conversation, protocol: Protocol | undefined, isFrame = false): void {
    this.#guarded(() => this.#of.book.missed(senderOf(session, protocol), isFrame))
  }

  compared(session: Conversation, protocol: Protocol | undefined, compared: Compared): void {
    this.#guarded(() => this.#of.book.compared(senderOf(session, protocol), compared))
  }

  /** Notes what becomes of the copy of a frame, and compares the old server's answer to it with ours. `work`: its outcome. */
  async compare(comparison: AnswerComparison, copied: CopiedFrame, work: Promise<Outcome>): Promise<void> {
    const { frame, protocol, session } = copied
    let at = 0
    let timeBytes: ReadonlySet<number> | undefined
    const sent: SentFrame = {
      frame,
      at: performance.now(),
      ours: undefined,
      timeBytes: () => (timeBytes ??= timeBytesOf({ ...copied, at }, sent.ours ?? NOTHING, replyBytes)),
    }
    comparison.sent(sent)
    const outcome = await work
    this.took(session, protocol, outcome)
    // Who is refused gets no answer of ours, and the end of the connection.
    if (outcome.status === 'refused') return comparison.giveUp()
    const { read, readAt = 0 } = outcome
    at = readAt
    sent.ours = read === undefined || read instanceof Error ? NOTHING : replyBytes(read)
    comparison.settled()
  }

  fault(error: unknown): void {
    logFault(this.#shared.logger, error, { what: 'fault in the copy of a trial' })
  }

  /** Resolves once everything that has arrived is taken. */
  async close(): Promise<void> {
    this.server.close()
    while (this.#working.size > 0) await Promise.allSettled(this.#working)
  }

  /** A fault in our copy must not harm what is passed on. */
  #guarded(work: () => void): void {
    guarded(work, (error) => this.fault(error))
  }
}

/** The trial of a listener, if it has an old server. */
export function openTrial({ name = '', trial }: ProtocolEndpoint, shared: Shared): Trial | undefined {
  const { trials } = shared
  return trial && trials ? new Trial(trial, name, { ...shared, trials }) : undefined
}

/** The copy of a frame of a stream or of a datagram. */
interface CopiedFrame {
  readonly frame: Buffer
  readonly session: Conversation
  readonly protocol: Protocol
}

/** The answers of a message over TCP or UDP, as one. */
function replyBytes({ reply }: Message): Buffer {
  return Buffer.concat(repliesOf(reply))
}

function senderOf({ device, presented, secret }: Conversation, protocol: Protocol | undefined): TrialSender {
  return { device, protocol: protocol?.name ?? '', secrets: [secret, presented] }
}

const NOTHING = Buffer.alloc(0)
/** For the copies of all connections of a listener: bytes of frames being stored, with their decoded messages. */
const MOST_BYTES = 16 << 20
const FRAME_BYTES = 3000
const MOST_FED_BYTES = 16 << 20
