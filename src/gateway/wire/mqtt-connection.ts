import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { metrics, type RefusedReason } from '../../observe/metrics.ts'
import { type Origin, sessionOf } from '../admit/acceptor.ts'
import { type DeviceConnection, pauseOf } from '../admit/connections.ts'
import { MAX_DEBT_MS, SenderLimits } from '../admit/flood.ts'
import { bytesReceived, bytesSent, connectionBegan } from '../air.ts'
import type { Conversation } from '../conversation.ts'
import type { Shared } from './listener.ts'
import { PacketFollower } from './mqtt-packets.ts'

/**
 * One connection. The broker uses this stream in place of the socket, because it would buffer everything that arrives. The
 * stream passes bytes on only as fast as the broker reads them, and no bytes of a packet that is too long.
 */
export class MqttConnection extends Duplex implements DeviceConnection {
  readonly session: Conversation
  readonly senderLimits: SenderLimits
  slotDevice?: string
  namedAt?: number
  unidentifiedSince: number
  heardAt: number
  idleMs: number
  /** Bytes in memory, in the broker or before it. */
  partialBytes = 0
  storing = 0
  readonly #shared: Shared
  readonly #socket: Socket
  readonly #packets = new PacketFollower()
  #isStopped = false
  #isWanted = false
  /** Limits that the sender met, and that it waits for. */
  #holds = 0
  /** Bytes that are read, to be passed on in a later turn of the event loop. */
  #rest: Buffer = EMPTY
  /** Bytes in memory of the packet that is not complete. */
  #incomplete = 0

  constructor(shared: Shared, socket: Socket, origin: Origin) {
    super({ readableHighWaterMark: 1 })
    this.#shared = shared
    this.#socket = socket
    this.session = sessionOf('mqtt', origin)
    this.senderLimits = new SenderLimits(shared.flood, origin.address)
    this.unidentifiedSince = performance.now()
    this.heardAt = this.unidentifiedSince
    this.idleMs = shared.limits.idle_timeout
    connectionBegan(this.session)
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => {
      bytesReceived(this.session, bytes.length)
      this.#receive(bytes)
    })
    socket.on('end', () => this.#goOn())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.destroy())
  }

  stopReading(): void {
    this.#isStopped = true
    this.#socket.pause()
  }

  startReading(): void {
    this.#isStopped = false
    this.#goOn()
  }

  /** Does not read the connection for `ms`. */
  async hold(ms: number): Promise<void> {
    this.#holds++
    this.#socket.pause()
    await pauseOf(this.#socket, ms)
    this.#holds--
    this.#goOn()
  }

  /**
   * Counts a packet that begins to be stored. The connection is not read until all such packets are stored, so that others do
   * not queue behind more of them.
   */
  beginStoring(): void {
    this.storing++
  }

  endStoring(): void {
    this.storing--
    this.#goOn()
  }

  /** The connection is not read until its login has ended. */
  beginLogin(): void {
    this.#holds++
  }

  endLogin(): void {
    this.#holds--
    this.#goOn()
  }

  abort(reason: RefusedReason): void {
    this.session.endFor(reason)
    metrics.refused.inc({ reason })
    this.destroy()
  }

  override _read(): void {
    this.#isWanted = true
    this.#keep(this.#incomplete)
    // Runs after the broker has taken its present input.
    setImmediate(() => this.#goOn())
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#write(bytes, done)
  }

  override _writev(chunks: { chunk: unknown }[], done: (error?: Error | null) => void): void {
    this.#write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done)
  }

  #write(bytes: Buffer, done: (error?: Error | null) => void): void {
    bytesSent(this.session, bytes.length)
    this.#socket.write(bytes, done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    this.#keep(0)
    done(error)
  }

  #receive(bytes: Buffer): void {
    const { max_frame_bytes: max } = this.#shared.limits
    this.heardAt = performance.now()
    const mostOf = (packet: number, type: number) => {
      if (packet === 1) return Math.min(max, MAX_CONNECT_BYTES)
      return type === PUBLISH ? max + TOPIC_BYTES : MAX_OTHER_BYTES
    }
    const fault = this.#packets.follow(bytes, mostOf, MOST_AT_ONCE)
    if (fault) return this.abort(fault)
    const { arrived, followed, packets, passed } = this.#packets
    const cost = followed + CHUNK_BYTES
    if (arrived === 0) this.#incomplete = 0
    else this.#incomplete = arrived > followed ? this.#incomplete + cost : cost
    this.#keep(this.partialBytes + cost)
    this.#rest = followed < bytes.length ? bytes.subarray(followed) : EMPTY
    this.#isWanted = this.push(bytes.subarray(0, passed))
    const waitMs = this.senderLimits.read(packets, followed, this.session)
    if (waitMs >= MAX_DEBT_MS) this.abort('flood')
    else if (waitMs > 0) void this.hold(waitMs)
    else if (!this.#isWanted || this.#rest.length > 0) this.#socket.pause()
  }

  /**
   * Passes on more bytes if the broker asks for them and nothing prevents it, the oldest first; after the last ones the end,
   * at which the broker drops the packets that it has not handled.
   */
  #goOn(): void {
    if (this.#isStopped || this.#holds > 0 || this.storing > 0 || !this.#isWanted || this.destroyed) return
    if (this.#rest.length === 0) return void (this.#socket.readableEnded ? this.push(null) : this.#socket.resume())
    const rest = this.#rest
    this.#rest = EMPTY
    this.#holds++
    setImmediate(() => {
      this.#holds--
      if (this.destroyed) return
      this.#receive(rest)
      this.#goOn()
    })
  }

  #keep(bytes: number): void {
    if (bytes !== this.partialBytes) this.#shared.pressure.setPartial(this, bytes)
  }
}

const EMPTY = Buffer.alloc(0)
/** Packets that are passed on in one turn of the event loop. */
const MOST_AT_ONCE = 100
/** A login: ids, a password, and a will that is dropped. Before it, no more is buffered. */
const MAX_CONNECT_BYTES = 8192
const PUBLISH = 3
/** Largest SUBSCRIBE, although nothing can be subscribed to; all other packets are a few bytes long. */
const MAX_OTHER_BYTES = 512
/** Room of a PUBLISH beside its payload. */
const TOPIC_BYTES = 1024
/** Cost of a chunk beside its bytes: a packet that arrives byte by byte consists of as many buffers. */
const CHUNK_BYTES = 200
