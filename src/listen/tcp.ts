import { createServer, type Socket } from 'node:net'
import { cut, type Framer, type Protocol } from '../../protocols/kit/index.ts'
import { within } from '../async.ts'
import type { DeviceSession } from '../ingest/device.ts'
import type { FrameOutcome } from '../ingest/ingest.ts'
import { metrics } from '../observe/metrics.ts'
import { noteNotStored } from '../observe/not-stored.ts'
import { Acceptor, type Origin, sessionOf } from './acceptor.ts'
import { Connections, type DeviceConnection } from './connections.ts'
import { CLOSE_WAIT_MS, closeServer, type Listener, type ProtocolEndpoint, type Shared } from './listener.ts'
import { ReceivedBytes } from './received-bytes.ts'

export async function listenTcp(endpoint: ProtocolEndpoint, shared: Shared): Promise<Listener> {
  const { protocol } = endpoint
  const { frame } = protocol.tcp as { frame: Framer }
  const context: TcpContext = { ...shared, protocol, frame, isClosing: false }
  const server = createServer({ allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: 60_000 })
  const acceptor = new Acceptor('tcp', endpoint, shared)
  const actualPort = await acceptor.open(server)
  const connections = new Connections<TcpConnection>(protocol.name, shared)
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
interface TcpContext extends Shared {
  readonly protocol: Protocol
  readonly frame: Framer
  isClosing: boolean
}

/**
 * One connection: bytes in, frames to `ingest`, replies out in the order of their frames, once these are stored. While frames
 * are being stored it is not read, so that a device that sends faster than Redis stores is held back by TCP.
 */
class TcpConnection implements DeviceConnection {
  readonly session: DeviceSession
  readonly idleMs: number
  unidentifiedSince: number
  heardAt: number
  partialBytes = 0
  storing = 0
  earlierDevices: Set<string> | undefined
  readonly #context: TcpContext
  readonly #socket: Socket
  /** The beginning of a frame, or all bytes that arrived while frames were being stored. */
  readonly #received = new ReceivedBytes()
  /** Bytes since the last good frame that belong to none. */
  #noise = 0

  constructor(context: TcpContext, socket: Socket, origin: Origin) {
    this.#context = context
    this.#socket = socket
    this.session = sessionOf('tcp', origin)
    this.idleMs = context.limits.idle_timeout
    this.unidentifiedSince = this.session.connectedAt
    this.heardAt = this.session.connectedAt
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('end', () => this.storing > 0 || socket.end())
    socket.on('error', () => socket.destroy())
  }

  stopReading(): void {
    this.#socket.pause()
  }

  startReading(): void {
    if (this.storing === 0) this.#socket.resume()
  }

  abort(reason: string): void {
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
    if (this.storing === 0) return void this.#takeAll()
    this.#socket.pause()
    this.#context.pressure.setPartial(this, this.#received.size)
  }

  /** Takes the received frames until none is complete; the connection takes one group of frames at a time. */
  async #takeAll(): Promise<void> {
    const { logger, pressure, protocol } = this.#context
    try {
      while (this.#socket.writable) {
        const { bytes } = this.#received
        const { frames, rest, noise } = cut(bytes, this.#context.frame)
        this.#noise += noise
        this.#received.keep(rest)
        if (this.#received.size !== this.partialBytes) pressure.setPartial(this, this.#received.size)
        if (frames.length === 0) break
        this.storing = frames.length
        const taken = bytes.length - rest.length
        pressure.add(taken, frames.length)
        const outcomes = await Promise.all(frames.map((frame) => this.#take(frame))).finally(() =>
          pressure.remove(taken, frames.length),
        )
        this.#answer(frames, outcomes)
      }
      this.storing = 0
      this.#continue()
    } catch (error) {
      noteNotStored('fault')
      logger.error({ err: error, device: this.session.device, protocol: protocol.name }, 'fault in handling a frame')
      this.#socket.destroy()
    }
  }

  #take(frame: Buffer): Promise<FrameOutcome> {
    const { ingest, protocol } = this.#context
    const { device } = this.session
    const outcome = ingest.take(frame, this.session, protocol)
    if (device !== undefined && device !== this.session.device) (this.earlierDevices ??= new Set()).add(device)
    return outcome
  }

  #answer(frames: readonly Buffer[], outcomes: readonly FrameOutcome[]): void {
    const replies: Buffer[] = []
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'misunderstood') {
        this.#noise += frames[index].length
      } else if (outcome.status === 'stored') {
        this.#noise = 0
        this.heardAt = Date.now()
        if (outcome.reply) replies.push(outcome.reply)
      } else {
        this.session.ended = outcome.status === 'refused' ? outcome.reason : outcome.status
        if (outcome.status === 'refused' && outcome.refusal) replies.push(outcome.refusal)
        this.#finish(replies)
        return
      }
    }
    if (replies.length > 0 && this.#socket.writable) this.#socket.write(Buffer.concat(replies))
  }

  /** Reads on, or ends a connection that breaks a limit. */
  #continue(): void {
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

/** For the beginning of a frame of an unidentified connection: every login is shorter by far. */
const MAX_UNIDENTIFIED_BYTES = 4096
const FINISH_MS = 2000
