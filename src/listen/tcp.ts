import { createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { cut, type Protocol, repliesOf } from '../../protocols/kit/index.ts'
import { within } from '../async.ts'
import type { DeviceSession } from '../ingest/device.ts'
import type { FrameOutcome } from '../ingest/frame.ts'
import { metrics, type RefusedReason } from '../observe/metrics.ts'
import { noteNotStored } from '../observe/not-stored.ts'
import { Acceptor, type Origin, sessionOf } from './acceptor.ts'
import { ReceivedBytes } from './backpressure.ts'
import { Connections, type DeviceConnection, pauseOf } from './connections.ts'
import { MAX_DEBT_MS, SenderLimits } from './flood.ts'
import { QUIET_MS } from './detect.ts'
import { CLOSE_WAIT_MS, closeServer, type Listener, type ProtocolEndpoint, type Shared } from './listener.ts'
import { isMisunderstood, type PortRules, ProtocolChoice } from './protocol-choice.ts'

export async function listenTcp(endpoint: ProtocolEndpoint, shared: Shared): Promise<Listener> {
  const { protocol, name = 'tcp' } = endpoint
  const server = createServer({ allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: 60_000 })
  const acceptor = new Acceptor('tcp', endpoint, shared)
  const actualPort = await acceptor.open(server)
  const context: TcpContext = { ...shared, protocol, port: actualPort, isClosing: false }
  const connections = new Connections<TcpConnection>(name, shared)
  acceptor.accept(server, (socket, origin) => connections.add(socket, new TcpConnection(context, socket, origin)))
  return {
    port: actualPort,
    async close(waitMs = CLOSE_WAIT_MS) {
      context.isClosing = true
      const handshakes = acceptor.close()
      connections.close()
      const closed = closeServer(server)
      for (const connection of connections.open) connection.close()
      await within(waitMs, closed)
      for (const connection of connections.open) connection.destroy()
      await Promise.all([closed, handshakes])
    },
  }
}

/** What the connections of one listener share. */
interface TcpContext extends Shared, PortRules {
  isClosing: boolean
}

/**
 * One connection: bytes in, frames to `ingest`, replies out in the order of their frames, once these are stored. While frames
 * are being stored it is not read, so that a device that sends faster than Redis stores is held back by TCP.
 */
class TcpConnection implements DeviceConnection {
  readonly session: DeviceSession
  readonly senderLimits: SenderLimits
  slotDevice?: string
  readonly idleMs: number
  unidentifiedSince: number
  heardAt: number
  partialBytes = 0
  storing = 0
  readonly #context: TcpContext
  readonly #socket: Socket
  /** The beginning of a frame, or all bytes that arrived while frames were being stored. */
  readonly #received = new ReceivedBytes()
  /** Bytes since the last good frame that belong to none. */
  #noise = 0
  /** Whether frames are being taken; meanwhile what arrives is kept. */
  #isTaking = false
  #protocol: Protocol | undefined
  /** Until the device is known. */
  #choice: ProtocolChoice | undefined
  #quiet: NodeJS.Timeout | undefined

  constructor(context: TcpContext, socket: Socket, origin: Origin) {
    this.#context = context
    this.#socket = socket
    this.#protocol = context.protocol
    this.session = sessionOf('tcp', origin)
    this.senderLimits = new SenderLimits(context.flood, origin.address)
    this.idleMs = context.limits.idle_timeout
    this.unidentifiedSince = performance.now()
    this.heardAt = this.unidentifiedSince
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('end', () => this.#isTaking || socket.end())
    socket.on('error', destroy)
  }

  gone(): void {
    this.#choice?.giveUp()
  }

  stopReading(): void {
    this.#socket.pause()
  }

  startReading(): void {
    if (!this.#isTaking) this.#socket.resume()
  }

  abort(reason: RefusedReason): void {
    this.session.ended = reason
    metrics.refused.inc({ reason })
    this.#socket.destroy()
  }

  /** Reads nothing more, and ends once the frames that were read are answered. */
  close(): void {
    this.#socket.pause()
    if (this.storing === 0) this.#socket.destroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #receive(bytes: Buffer): void {
    if (!this.#socket.writable) return
    this.#received.append(bytes)
    if (this.session.device === undefined) this.#choice ??= new ProtocolChoice(this.#context, this.session, bytes)
    if (!this.#isTaking) return void this.#takeAll()
    this.#socket.pause()
    this.#context.pressure.setPartial(this, this.#received.size)
  }

  /** Takes the received frames until none is complete; the connection takes one group of frames at a time. */
  async #takeAll(): Promise<void> {
    const { ingest, logger, pressure } = this.#context
    const { session } = this
    this.#isTaking = true
    clearTimeout(this.#quiet)
    try {
      for (let group = this.#cut(); group; group = this.#cut()) {
        const { bytes, frames, isStopped, taken } = group
        const protocol = this.#protocol as Protocol
        this.storing = Math.max(1, frames.length)
        pressure.add(taken, frames.length)
        let outcomes: readonly FrameOutcome[]
        try {
          // Most frames arrive alone.
          if (frames.length === 1) outcomes = [await ingest.take(frames[0], session, protocol)]
          else outcomes = await Promise.all(frames.map((frame) => ingest.take(frame, session, protocol)))
        } finally {
          pressure.add(-taken, -frames.length)
        }
        if (this.#socket.destroyed) break
        if (this.#choice && outcomes.every(isMisunderstood) && this.#isOfAnother(bytes)) continue
        const heldMs = this.#answerAfterMs(outcomes)
        if (heldMs > 0) await this.#pause(heldMs)
        if (!this.#socket.writable) break
        this.#answer(frames, outcomes)
        const pausedMs = this.senderLimits.read(frames.length, taken, session.device)
        if (pausedMs >= MAX_DEBT_MS) this.abort('flood')
        else if (pausedMs > 0) await this.#pause(pausedMs)
        else if (isStopped) await setImmediate()
      }
      this.#continue()
    } catch (error) {
      noteNotStored('fault')
      logger.error({ err: error, device: session.device, protocol: this.#protocol?.name }, 'fault in handling a frame')
      this.#socket.destroy()
    }
  }

  /** Cuts off as many frames as may be taken in one turn of the event loop; undefined: none is complete, or none is wanted. */
  #cut(): FrameGroup | undefined {
    const { bytes } = this.#received
    if (!this.#socket.writable || bytes.length === 0) return undefined
    this.#protocol ??= this.#choice?.decide(bytes)
    const framer = this.#protocol?.tcp?.frame ?? incomplete
    const { frames, rest, noise, isStopped } = cut(bytes, framer, this.session, MOST_AT_ONCE)
    if (noise > 0 && this.#isOfAnother(bytes)) return this.#cut()
    this.#noise += noise
    this.#received.keep(rest)
    if (this.#received.size !== this.partialBytes) this.#context.pressure.setPartial(this, this.#received.size)
    const taken = bytes.length - rest.length
    return taken === 0 ? undefined : { bytes, frames, isStopped, taken }
  }

  /** Whether bytes that are not understood are of another protocol than that of the port: they are taken as that then. */
  #isOfAnother(bytes: Buffer): boolean {
    if (this.session.device !== undefined || !this.#choice?.findsAnother(bytes)) return false
    this.#protocol = this.#choice.protocol
    this.#received.keep(bytes)
    return true
  }

  /** Settles the protocol where the device is known; else the sender may still be about to go on. */
  #settle(choice: ProtocolChoice): void {
    if (this.session.device !== undefined) {
      choice.settle()
      this.#choice = undefined
    } else if (this.#context.detector && this.#received.size > 0) {
      this.#quiet = setTimeout(() => this.#isQuiet(), QUIET_MS)
    }
  }

  #isQuiet(): void {
    const { bytes } = this.#received
    if (this.#isTaking || !this.#socket.writable) return
    if (this.#protocol ? this.#isOfAnother(bytes) : this.#choice?.decide(bytes, true)) void this.#takeAll()
  }

  /** Waits because the sender met a limit. That counts as silence. */
  async #pause(ms: number): Promise<void> {
    const { storing } = this
    this.storing = 0
    await pauseOf(this.#socket, ms)
    this.storing = storing
  }

  /** For how many ms the answers must wait: the sender failed, or logged in, too often. Ends it where that is too long. */
  #answerAfterMs(outcomes: readonly FrameOutcome[]): number {
    const { device } = this.session
    let failed = 0
    for (const { status } of outcomes)
      if (status === 'refused' || (status !== 'not_stored' && device === undefined)) failed++
    let waitMs = failed > 0 ? this.senderLimits.failed(failed) : 0
    if (device !== undefined && this.slotDevice === undefined) {
      this.#context.slots.identified(this, device)
      waitMs = Math.max(waitMs, this.senderLimits.identified(device))
    }
    if (waitMs < MAX_DEBT_MS) return waitMs
    this.abort('flood')
    return 0
  }

  #answer(frames: readonly Buffer[], outcomes: readonly FrameOutcome[]): void {
    let replies: readonly Buffer[] = []
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'misunderstood') {
        this.#noise += frames[index].length
      } else if (outcome.status === 'stored') {
        // A ping before the login says nothing.
        this.#noise = this.session.device === undefined ? this.#noise + frames[index].length : 0
        this.heardAt = performance.now()
        replies = replies.length === 0 ? repliesOf(outcome.reply) : [...replies, ...repliesOf(outcome.reply)]
      } else {
        this.session.ended = outcome.status === 'refused' ? outcome.reason : outcome.status
        this.#finish(outcome.status === 'refused' && outcome.refusal ? [...replies, outcome.refusal] : replies)
        return
      }
    }
    if (replies.length === 0 || !this.#socket.writable) return
    this.#socket.write(replies.length === 1 ? replies[0] : Buffer.concat(replies))
  }

  /** Reads on, or ends a connection that breaks a limit. */
  #continue(): void {
    if (this.#choice) this.#settle(this.#choice)
    this.storing = 0
    this.#isTaking = false
    const { isClosing, limits, pressure } = this.#context
    const { max_frame_bytes: maxBytes } = limits
    const maxFrameBytes = this.session.device === undefined ? Math.min(MAX_UNIDENTIFIED_BYTES, maxBytes) : maxBytes
    if (!this.#socket.writable) return
    if (this.#received.bytes.length > maxFrameBytes) this.abort('frame_too_long')
    else if (this.#noise > maxBytes) this.abort('noise')
    else if (this.#socket.writableLength > maxBytes) this.abort('not_reading')
    else if (isClosing || this.#socket.readableEnded) this.#finish([])
    else if (!pressure.isHigh) this.#socket.resume()
  }

  /**
   * Ends the connection after its last replies. What the device still sends is read and dropped: unread, it would make the
   * system reset the connection, and the replies would be lost.
   */
  #finish(replies: readonly Buffer[]): void {
    this.#socket.end(Buffer.concat(replies))
    this.#socket.resume()
    setTimeout(() => this.#socket.destroy(), FINISH_MS).unref()
  }
}

/** One function for all connections: each would take memory. */
function destroy(this: Socket): void {
  this.destroy()
}

/** The framer of a connection whose protocol is not known yet. */
const incomplete = () => 0

/** Frames that are taken together; `bytes`: with what follows them, `taken`: how many of these they and noise are. */
interface FrameGroup {
  readonly bytes: Buffer
  readonly frames: readonly Buffer[]
  readonly taken: number
  /** Whether there may be further frames. */
  readonly isStopped: boolean
}

/** For the beginning of a frame of an unidentified connection: every login is shorter by far. */
const MAX_UNIDENTIFIED_BYTES = 4096
/** Steps of the framer in one turn of the event loop: about a millisecond, then the other connections have theirs. */
const MOST_AT_ONCE = 100
const FINISH_MS = 2000
