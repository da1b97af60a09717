/*
 * What an old server answers is a stream without marks: nothing in it says which answer is that of which frame. Its bytes are
 * compared with our answers in the order of the frames.
 *
 *   bytes of the old server    are                           counts
 *   our next answer            the same                      equal
 *   but for the time in it     the same, at another moment   equal
 *   our answer to a later one  the earlier have none         each of these is different, the later one equal
 *   anything else              an answer of its own          different, once the tracker has sent its next frame
 *
 * Where several frames wait when an answer of its own comes, nobody can say whose it is: it counts once, and nothing more is
 * compared on this connection.
 */

/** Result of comparing an answer. Bytes are truncated. */
export type Compared =
  | { readonly isEqual: true }
  /** `frame`: the frame that it answers, if known; `ours` and `old` are empty if there is no answer. */
  | { readonly isEqual: false; readonly frame: Buffer; readonly ours: Buffer; readonly old: Buffer }

/** A frame that was passed to the old server. */
export interface SentFrame {
  readonly frame: Buffer
  /** ms of the monotonic clock. */
  readonly at: number
  /** Our answer to the frame; undefined: it is not known yet. */
  ours: Buffer | undefined
  /** Returns which bytes of our answer depend on the time of answering; undefined: unknown. */
  readonly timeBytes: () => ReadonlySet<number> | undefined
}

/** Compares the answers of the old server on one connection, or to one UDP peer, with ours. */
export class AnswerComparison {
  readonly #found: (compared: Compared) => void
  /** Frames without an answer of the old server, in order. */
  #waiting: SentFrame[] = []
  /** Bytes of the old server that are not compared yet. */
  #old: Buffer = NOTHING
  /** Whether these bytes may answer a frame that was not cut from its stream when they arrived. */
  #mayBeLater = false
  /** Whether a frame was given up whose answer may still come. */
  #hasLate = false
  #isOver = false

  constructor(found: (compared: Compared) => void) {
    this.#found = found
  }

  /** A frame went to the old server. */
  sent(frame: SentFrame): void {
    if (this.#isOver) return
    this.#expire(frame.at)
    this.#endExchange()
    if (this.#waiting.length === MOST_WAITING) return this.giveUp()
    this.#waiting.push(frame)
  }

  /** Call it when our answer to some frame is known. */
  settled(): void {
    this.#compare()
  }

  /** Compares an answer of the old server. `isBehind`: some bytes of the tracker are not cut into frames yet. */
  heard(bytes: Buffer, isBehind: boolean): void {
    if (this.#isOver || (this.#hasLate && this.#waiting.length === 0)) return
    this.#mayBeLater = isBehind || (this.#mayBeLater && this.#old.length > 0)
    this.#old = this.#old.length === 0 ? bytes : Buffer.concat([this.#old, bytes])
    if (this.#old.length > MOST_BYTES) return this.giveUp()
    if (this.#waiting.length > 0) this.#compare()
    else if (!isBehind) this.#differs(NOBODYS, this.#takeOld())
  }

  /** Ends the conversation. Frames without an answer so far are not compared. */
  ended(): void {
    if (this.#isOver) return
    this.#mayBeLater = false
    this.#endExchange()
    this.giveUp()
  }

  /** Compares nothing more. */
  giveUp(): void {
    this.#isOver = true
    this.#waiting = []
    this.#old = NOTHING
  }

  #compare(): void {
    while (!this.#isOver && this.#old.length > 0) {
      const known = this.#waiting.findIndex(({ ours }) => ours === undefined)
      const open = known < 0 ? this.#waiting : this.#waiting.slice(0, known)
      const first = open.findIndex(({ ours }) => ours?.length)
      if (first < 0) return
      const at = open.findIndex((each, index) => index >= first && isAnswer(each, this.#old, index > first))
      if (at < 0) {
        const mayBecome = open.some(({ ours = NOTHING }) => isBeginning(this.#old, ours))
        if (mayBecome || this.#waiting.length === 1 || known >= 0) return
        this.#differs(open[first], this.#takeOld())
        return this.giveUp()
      }
      for (const each of open.slice(first, at)) if (each.ours?.length) this.#differs(each, NOTHING)
      this.#found({ isEqual: true })
      this.#old = this.#old.subarray(open[at].ours?.length)
      this.#waiting = this.#waiting.slice(at + 1)
    }
  }

  /** If the old server's bytes are none of our answers, they are its answer to the only frame that waits. */
  #endExchange(): void {
    const [only, ...others] = this.#waiting
    if (others.length > 0 || only?.ours === undefined) return
    const isAnswered = this.#old.length > 0 && !this.#mayBeLater && !isBeginning(this.#old, only.ours)
    if (isAnswered) this.#differs(only, this.#takeOld())
    if (isAnswered || only.ours.length === 0) this.#waiting = []
  }

  /** Frames that were not answered for a minute count as not answered. */
  #expire(now: number): void {
    for (let [first] = this.#waiting; first && now - first.at > ANSWERED_MS; [first] = this.#waiting) {
      if (first.ours === undefined || this.#old.length > 0) return
      if (first.ours.length > 0) {
        this.#hasLate = true
        this.#differs(first, NOTHING)
      }
      this.#waiting = this.#waiting.slice(1)
    }
  }

  #differs({ frame, ours = NOTHING }: Pick<SentFrame, 'frame' | 'ours'>, old: Buffer): void {
    this.#found({ isEqual: false, frame, ours, old })
  }

  #takeOld(): Buffer {
    const old = this.#old
    this.#old = NOTHING
    return old
  }
}

/** Returns whether bytes begin with our answer to a frame, except for the time in it; `isExact`: the time must be equal too. */
function isAnswer({ ours, timeBytes }: SentFrame, bytes: Buffer, isExact: boolean): boolean {
  if (!ours?.length || bytes.length < ours.length) return false
  const old = bytes.subarray(0, ours.length)
  if (ours.equals(old)) return true
  return !isExact && isSameButFor(ours, old, timeBytes())
}

/** Returns whether two answers of the same length differ only in these bytes. */
export function isSameButFor(ours: Buffer, old: Buffer, bytes: ReadonlySet<number> | undefined): boolean {
  if (!bytes?.size || ours.length !== old.length) return false
  return ours.every((byte, index) => byte === old[index] || bytes.has(index))
}

/** Returns whether bytes may be the beginning of an answer that is still arriving. */
function isBeginning(bytes: Buffer, answer: Buffer): boolean {
  return bytes.length < answer.length && answer.subarray(0, bytes.length).equals(bytes)
}

const NOTHING = Buffer.alloc(0)
const NOBODYS = { frame: NOTHING, ours: NOTHING }
/** The most frames of one connection without an answer, and the most bytes that belong to no frame. */
const MOST_WAITING = 100
const MOST_BYTES = 16_384
const ANSWERED_MS = 60_000
