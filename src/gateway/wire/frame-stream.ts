import { cut, type Protocol } from '../../../protocols/kit/index.ts'
import { ReceivedBytes } from '../admit/backpressure.ts'
import type { Conversation } from '../conversation.ts'
import { type PortRules, ProtocolChoice } from './protocol-choice.ts'

/** Cuts the bytes of one connection into frames. The protocol is that of the port, or the one detected from the first bytes. */
export class FrameStream {
  /** undefined: not known yet. */
  protocol: Protocol | undefined
  /** Bytes since the last good frame that belong to no frame. */
  noise = 0
  /** The beginning of a frame, or all bytes that arrived while frames were being stored. */
  readonly received = new ReceivedBytes()
  readonly #rules: PortRules
  readonly #session: Conversation
  /** Until the device is known. */
  #choice: ProtocolChoice | undefined

  constructor(rules: PortRules, session: Conversation) {
    this.#rules = rules
    this.#session = session
    this.protocol = rules.protocol
  }

  /** Cuts off as many frames as may be taken in one turn of the event loop; undefined: none is complete. */
  cut(): FrameGroup | undefined {
    const { protocol, received } = this
    const { bytes } = received
    if (!protocol?.tcp) return undefined
    const pieces = cut(bytes, protocol.tcp.frame, this.#session, MOST_AT_ONCE, MOST_BYTES_AT_ONCE)
    const { frames, isStopped, noise, rest } = pieces
    const taken = bytes.length - rest.length
    if (taken === 0) return undefined
    this.noise += noise
    received.keep(rest)
    return { protocol, bytes, frames, noise, taken, isStopped }
  }

  /**
   * The same while the device is unknown and the protocol may have to be detected first. More bytes may arrive during that
   * time.
   */
  async cutUnidentified(): Promise<FrameGroup | undefined> {
    const { bytes } = this.received
    if (bytes.length === 0) return undefined
    this.#choice ??= new ProtocolChoice(this.#rules, this.#session, bytes)
    this.protocol ??= await this.#choice.decide(bytes)
    const group = this.cut()
    if (!group?.noise || !(await this.isOfAnother(group))) return group
    this.noise -= group.noise
    return this.cutUnidentified()
  }

  /**
   * Resolves to true if another protocol understands these bytes; the stream then switches to that protocol and frames them
   * again. `taken`: how many of them were already cut off.
   */
  async isOfAnother({ bytes, taken }: Pick<FrameGroup, 'bytes' | 'taken'>): Promise<boolean> {
    if (this.#session.device !== undefined || !(await this.#choice?.findsAnother(bytes))) return false
    this.protocol = this.#choice?.protocol
    if (taken > 0) this.received.putBack(bytes.subarray(0, taken))
    return true
  }

  /** Call it once the device is known: from then on no other protocol is considered. `isTaken`: some of its data was stored. */
  settle(isTaken: boolean): void {
    this.#choice?.settle(isTaken)
    this.#choice = undefined
  }

  /** Detects the protocol of the bytes so far, when the sender waits. */
  async decideInQuiet(): Promise<void> {
    const { bytes } = this.received
    if (this.protocol) await this.isOfAnother({ bytes, taken: 0 })
    else this.protocol = await this.#choice?.decide(bytes, true)
  }

  /** The connection has ended. */
  end(): void {
    if (this.#session.device === undefined) this.#choice?.giveUp()
  }
}

/** Frames that are taken together. */
export interface FrameGroup {
  readonly protocol: Protocol
  /** They, noise between them, and what follows them. */
  readonly bytes: Buffer
  readonly frames: readonly Buffer[]
  /** How many bytes the noise is, and the frames with it. */
  readonly noise: number
  readonly taken: number
  /** Whether there may be further frames. */
  readonly isStopped: boolean
}

/** Steps of the framer in one turn of the event loop: about a millisecond, then the other connections have theirs. */
const MOST_AT_ONCE = 100
/** If each fix is of another half hour, Redis takes about 20 ms for this many bytes, and all vans wait for it. */
const MOST_BYTES_AT_ONCE = 16_384
