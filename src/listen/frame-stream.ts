import { cut, type Protocol } from '../../protocols/kit/index.ts'
import type { DeviceSession } from '../ingest/device.ts'
import { ReceivedBytes } from './backpressure.ts'
import { type PortRules, ProtocolChoice } from './protocol-choice.ts'

/** Frames that are taken together. */
interface FrameGroup {
  readonly protocol: Protocol
  /** They, noise between them, and what follows them. */
  readonly bytes: Buffer
  readonly frames: readonly Buffer[]
  /** How many bytes the frames and the noise are. */
  readonly taken: number
  /** Whether there may be further frames. */
  readonly isStopped: boolean
}

/**
 * Cuts what arrives on one connection into frames. The protocol is that of the port, or the one that the first bytes
 * tell.
 */
export class FrameStream {
  /** undefined: not known yet. */
  protocol: Protocol | undefined
  /** Bytes since the last good frame that belong to none. */
  noise = 0
  /** The beginning of a frame, or all bytes that arrived while frames were being stored. */
  readonly received = new ReceivedBytes()
  readonly #rules: PortRules
  readonly #session: DeviceSession
  /** Until the device is known. */
  #choice: ProtocolChoice | undefined

  constructor(rules: PortRules, session: DeviceSession) {
    this.#rules = rules
    this.#session = session
    this.protocol = rules.protocol
  }

  /** Cuts off as many frames as may be taken in one turn of the event loop; undefined: none is complete. */
  cut(): FrameGroup | undefined {
    const { bytes } = this.received
    if (bytes.length === 0) return undefined
    if (this.#session.device === undefined) this.#choice ??= new ProtocolChoice(this.#rules, this.#session, bytes)
    this.protocol ??= this.#choice?.decide(bytes)
    const { protocol } = this
    const framer = protocol?.tcp?.frame ?? incomplete
    const { frames, rest, noise, isStopped } = cut(bytes, framer, this.#session, MOST_AT_ONCE)
    if (noise > 0 && this.isOfAnother(bytes)) return this.cut()
    this.noise += noise
    this.received.keep(rest)
    const taken = bytes.length - rest.length
    return taken === 0 || !protocol ? undefined : { protocol, bytes, frames, isStopped, taken }
  }

  /**
   * Whether bytes that the protocol does not understand are of another one. Then they are in no group any more, and will be
   * cut as that one says.
   */
  isOfAnother(bytes: Buffer): boolean {
    if (this.#session.device !== undefined || !this.#choice?.findsAnother(bytes)) return false
    this.protocol = this.#choice.protocol
    this.received.keep(bytes)
    return true
  }

  /** The device is known now, and with it the protocol. */
  settle(): void {
    this.#choice?.settle()
    this.#choice = undefined
  }

  /** Finds out the protocol of what has arrived, when the sender waits. Returns whether the protocol has changed. */
  decideInQuiet(): boolean {
    const { bytes } = this.received
    return this.protocol ? this.isOfAnother(bytes) : this.#choice?.decide(bytes, true) !== undefined
  }

  /** The connection has ended. */
  end(): void {
    if (this.#session.device === undefined) this.#choice?.giveUp()
  }
}

/** The framer of a connection whose protocol is not known yet. */
const incomplete = () => 0

/** Steps of the framer in one turn of the event loop: about a millisecond, then the other connections have theirs. */
const MOST_AT_ONCE = 100
