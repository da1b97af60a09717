import { setImmediate } from 'node:timers/promises'
import type { Conversation } from '../../conversation.ts'
import { AnswerComparison } from '../../trial/comparison.ts'
import { QUIET_MS } from '../detect.ts'
import { type FrameGroup, FrameStream } from '../frame-stream.ts'
import type { Shared } from '../listener.ts'
import { isMisunderstood, isStored, type PortRules } from '../protocol-choice.ts'
import type { Trial } from './trial.ts'

/** What the copies of one listener share. */
export type CopyContext = Pick<Shared, 'limits' | 'pressure'> & PortRules & { readonly trial: Trial }

/**
 * The copy of a connection to the old server. Its frames are taken like those of any connection, but nothing waits for them,
 * and the old server's answers are compared with ours. Frames without room in memory are missed. No method throws.
 */
export class StreamCopy {
  partialBytes = 0
  readonly session: Conversation
  readonly #context: CopyContext
  readonly #stream: FrameStream
  readonly #comparison: AnswerComparison
  #isTaking = false
  /** Whether there are frames that the comparison does not know yet. */
  #isCut = false
  /** Whether the sender and its protocol are known. */
  #isSettled = false
  /** Whether what the connection brings is not looked at any more. */
  #isOver = false
  #hasEnded = false
  #quiet: NodeJS.Timeout | undefined
  /** How many bytes had arrived when the tracker was quiet last. */
  #quietLength = 0

  constructor(context: CopyContext, session: Conversation) {
    this.#context = context
    this.session = session
    this.#stream = new FrameStream(context, session)
    const { trial } = context
    this.#comparison = new AnswerComparison((compared) => trial.compared(session, this.#stream.protocol, compared))
  }

  /** Call it with bytes of the tracker that are passed to the old server. */
  sent(bytes: Buffer): void {
    const { pressure } = this.#context
    const { received } = this.#stream
    if (this.#isOver) return this.#missed()
    if (received.size + bytes.length > MOST_BEHIND) return this.abort()
    received.append(bytes)
    pressure.setPartial(this, received.size)
    this.#take()
  }

  /** The old server has answered. */
  heard(bytes: Buffer): void {
    this.#comparison.heard(bytes, this.#isCut || this.#stream.received.bytes.length > 0)
  }

  /** Ends the connection; bytes that have arrived are still taken. */
  ended(): void {
    this.#hasEnded = true
    if (!this.#isTaking) this.#continue()
  }

  #finish(): void {
    const { journal, pressure } = this.#context
    clearTimeout(this.#quiet)
    if (!this.#isOver && this.#stream.received.bytes.length > 0) this.#missed()
    this.#isOver = true
    this.#comparison.ended()
    pressure.setPartial(this, 0)
    pressure.unfinished.drop(this.session)
    this.#stream.end()
    journal.gone(this.session)
  }

  /** There is no room for the incomplete frame: everything else on the connection is missed. */
  abort(): void {
    this.#missed()
    this.#isOver = true
    this.#comparison.giveUp()
    this.#stream.received.keep(NOTHING)
    this.#context.pressure.setPartial(this, 0)
  }

  #missed(): void {
    this.#context.trial.missed(this.session, this.#stream.protocol, this.#isSettled)
  }

  #take(isQuiet = false): void {
    if (this.#isTaking) return
    this.#isTaking = true
    clearTimeout(this.#quiet)
    const work = this.#takeAll(isQuiet)
      .catch((error: unknown) => {
        this.#context.trial.fault(error)
        this.abort()
      })
      .finally(() => {
        this.#isTaking = false
        this.#continue()
      })
    void this.#context.trial.during(work)
  }

  /** Takes frames until none is complete. Passing data to the old server has priority, also between frames. */
  async #takeAll(isQuiet: boolean): Promise<void> {
    const stream = this.#stream
    if (isQuiet) {
      this.#quietLength = stream.received.bytes.length
      await stream.decideInQuiet()
    }
    while (!this.#isOver) {
      await setImmediate()
      const group = this.#isSettled ? stream.cut() : await stream.cutUnidentified()
      this.#context.pressure.setPartial(this, stream.received.size)
      if (!group) return
      this.#isCut = true
      await this.#takeGroup(group)
      this.#isCut = false
    }
  }

  /** Takes the frames of a group; while the sender is unknown, resolves once they are taken. */
  async #takeGroup(group: FrameGroup): Promise<void> {
    const { frames, noise, protocol } = group
    const { pressure, trial } = this.#context
    const { session } = this
    const work = frames.map((frame) => trial.take(frame, session, protocol))
    if (!this.#isSettled) {
      const outcomes = await Promise.all(work)
      const isNothing = session.device === undefined && outcomes.every(isMisunderstood)
      if (isNothing && (await this.#stream.isOfAnother(group))) return
      if (session.device !== undefined) {
        this.#stream.settle(outcomes.some(isStored))
        this.#isSettled = true
      }
    }
    pressure.unfinished.look(session)
    if (noise > 0) this.#missed()
    for (const [index, frame] of frames.entries())
      void trial.compare(this.#comparison, { frame, session, protocol }, work[index])
  }

  #continue(): void {
    const { detector, limits } = this.#context
    const { bytes } = this.#stream.received
    const isUndecided = !this.#isSettled && detector && bytes.length > 0 && bytes.length !== this.#quietLength
    // Once the sender waits, or has ended, its protocol may be clear.
    if (this.#hasEnded) return isUndecided && !this.#isOver ? this.#take(true) : this.#finish()
    if (this.#isOver || bytes.length === 0) return
    if (bytes.length > limits.max_frame_bytes) return this.abort()
    if (isUndecided) this.#quiet = setTimeout(() => this.#take(true), QUIET_MS)
  }
}

const NOTHING = Buffer.alloc(0)
/** For one connection that sends faster than its copy is read: later bytes are missed. */
const MOST_BEHIND = 16 << 20
