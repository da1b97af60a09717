import { metrics } from '../../observe/metrics.ts'
import { UnfinishedMessages } from './unfinished.ts'

/** A connection or request with an incomplete frame in memory. */
export interface PartialSender {
  /** Bytes in memory; written by `Backpressure`. */
  partialBytes: number
  readonly session?: { readonly device?: string }
  /** Drops the bytes: all senders together have too many. */
  abort(reason: 'memory'): void
}

/**
 * Bounds the memory of a gateway over all its listeners. Above the high mark of unstored frames no socket is read (devices
 * and the kernel's buffers keep the data); below half of the mark, reading goes on. Incomplete frames have a budget of their
 * own: above it, the senders with the most bytes are ended.
 */
export class Backpressure {
  /** Whether sockets must not be read now; only this class sets it. */
  isHigh = false
  /** Parts of split messages that sessions keep. */
  readonly unfinished = new UnfinishedMessages((sender, bytes) => this.setPartial(sender, bytes))
  readonly #highMark: number
  readonly #maxPartialBytes: number
  readonly #followers: ((isHigh: boolean) => void)[] = []
  readonly #senders = new Set<PartialSender>()
  #bytes = 0
  #weight = 0
  #partialBytes = 0
  #datagramBytes = 0
  /** By the monotonic clock, ms. */
  #datagramStoredAt = -Infinity

  /** The marks are bytes of memory: those of frames, with `FRAME_BYTES` for each, and those of incomplete frames. */
  constructor({ highMark = 64 << 20, maxPartialBytes = 256 << 20 } = {}) {
    this.#highMark = highMark
    this.#maxPartialBytes = maxPartialBytes
  }

  /** Calls `changed` when the pressure becomes high, and when it becomes low again. */
  follow(changed: (isHigh: boolean) => void): void {
    this.#followers.push(changed)
  }

  /** Counts `frames` of `bytes` in all that begin to wait for storage; negative numbers: frames that no longer wait. */
  add(bytes: number, frames = 1): void {
    this.#bytes += bytes
    this.#weight += bytes + frames * FRAME_BYTES
    metrics.inFlightBytes.value = this.#bytes
    if (this.isHigh ? this.#weight > this.#highMark / 2 : this.#weight < this.#highMark) return
    this.isHigh = !this.isHigh
    for (const changed of this.#followers) changed(this.isHigh)
  }

  /**
   * True if as many datagrams wait as are stored together. Further datagrams are then dropped: their senders do not wait for
   * answers, and data of connections would queue behind them. Identified peers may have twice as many waiting. If Redis has
   * stored none for a third of a second, datagrams may wait up to the high mark, as data of connections do.
   */
  hasManyDatagrams(isIdentified: boolean): boolean {
    const most = isIdentified ? 2 * MAX_DATAGRAM_BYTES : MAX_DATAGRAM_BYTES
    return this.#datagramBytes > most && performance.now() - this.#datagramStoredAt < REDIS_AWAY_MS
  }

  /** Counts a datagram that begins to wait until its frames are stored; negative numbers: one that no longer waits. */
  addDatagram(bytes: number, frames: number): void {
    this.#datagramBytes += bytes
    if (bytes < 0) this.#datagramStoredAt = performance.now()
    this.add(bytes, frames)
  }

  /** Notes how many bytes of an incomplete frame a sender has now. */
  setPartial(sender: PartialSender, bytes: number): void {
    this.#partialBytes += bytes - sender.partialBytes
    sender.partialBytes = bytes
    if (bytes > 0) this.#senders.add(sender)
    else this.#senders.delete(sender)
    if (this.#partialBytes > this.#maxPartialBytes) this.#endGreediest()
  }

  /** Frees an eighth at once, so that the search is rare. */
  #endGreediest(): void {
    for (const sender of [...this.#senders].toSorted(inOrderOfEnding)) {
      if (this.#partialBytes <= this.#maxPartialBytes * 0.875) break
      this.setPartial(sender, 0)
      sender.abort('memory')
    }
  }
}

/** Unidentified senders first, then those with most bytes. */
function inOrderOfEnding(one: PartialSender, other: PartialSender): number {
  const isIdentified = ({ session }: PartialSender) => Number(session?.device !== undefined)
  return isIdentified(one) - isIdentified(other) || other.partialBytes - one.partialBytes
}

/** Bytes of a stream or body that is not complete yet. */
export class ReceivedBytes {
  bytes: Buffer = EMPTY
  /** Bytes of memory in use. */
  size = 0
  /** The memory of `bytes`, with free space after them; empty while `bytes` is a chunk exactly as it arrived. */
  #buffer: Buffer = EMPTY

  /** Appends bytes. The cost depends only on the new bytes, even if they arrive in very small chunks. */
  append(more: Buffer): void {
    const { bytes } = this
    if (bytes.length === 0) {
      this.bytes = more
      this.size = more.length
      return
    }
    const length = bytes.length + more.length
    if (length > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(length * 2)
      this.#buffer.set(bytes)
    }
    this.#buffer.set(more, bytes.length)
    this.bytes = this.#buffer.subarray(0, length)
    this.size = this.#buffer.length
  }

  /** Keeps only the last bytes, as a copy, because views of the others may be in use. */
  keep(rest: Buffer): void {
    if (rest.length === this.bytes.length) return
    this.#buffer = EMPTY
    this.bytes = EMPTY
    this.size = rest.length
    if (rest.length === 0) return
    // Allocated outside Node's pool: a few bytes would keep a whole slab of the pool in memory.
    this.bytes = Buffer.allocUnsafeSlow(rest.length)
    this.bytes.set(rest)
  }

  /** Puts bytes that were taken back before the others. */
  putBack(taken: Buffer): void {
    this.#buffer = EMPTY
    this.bytes = Buffer.concat([taken, this.bytes])
    this.size = this.bytes.length
  }
}

const EMPTY = Buffer.alloc(0)
/** 1,300 datagrams of 100 bytes: at 26,000 fixes a second, those of 50 ms. */
const MAX_DATAGRAM_BYTES = 128 << 10
const REDIS_AWAY_MS = 300
/** Memory of an unstored frame beside its bytes, mostly its decoded message. Measured: 2,500 bytes for a frame of 44. */
const FRAME_BYTES = 3000
