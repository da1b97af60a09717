import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { DeviceSession } from '../ingest/device.ts'
import { metrics } from '../observe/metrics.ts'
import { type Origin, sessionOf } from './acceptor.ts'
import type { DeviceConnection } from './connections.ts'
import type { Shared } from './listener.ts'
import { PacketFollower } from './mqtt-packets.ts'

/**
 * One connection: the stream that the broker reads and writes in place of the socket, since the broker would buffer whatever
 * arrives. It passes bytes on no faster than the broker reads them, and none of a packet that is too long.
 */
export class MqttConnection extends Duplex implements DeviceConnection {
  readonly session: DeviceSession
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
  /** Bytes in memory of the packet that is not complete. */
  #incomplete = 0

  constructor(shared: Shared, socket: Socket, origin: Origin) {
    super({ readableHighWaterMark: 1 })
    this.#shared = shared
    this.#socket = socket
    this.session = sessionOf('mqtt', origin)
    this.unidentifiedSince = this.session.connectedAt
    this.heardAt = this.session.connectedAt
    this.idleMs = shared.limits.idle_timeout
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('end', () => this.push(null))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.destroy())
  }

  stopReading(): void {
    this.#isStopped = true
    this.#socket.pause()
  }

  startReading(): void {
    this.#isStopped = false
    if (this.#isWanted) this.#socket.resume()
  }

  abort(reason: string): void {
    this.session.ended = reason
    metrics.refused.inc({ reason })
    this.destroy()
  }

  override _read(): void {
    this.#isWanted = true
    this.#keep(this.#incomplete)
    if (!this.#isStopped) this.#socket.resume()
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(bytes, done)
  }

  override _writev(chunks: { chunk: unknown }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done)
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
    this.heardAt = Date.now()
    const fault = this.#packets.follow(bytes, (packet) =>
      packet === 1 ? Math.min(max, MAX_CONNECT_BYTES) : max + TOPIC_BYTES,
    )
    if (fault) return this.abort(fault)
    const { arrived } = this.#packets
    const cost = bytes.length + CHUNK_BYTES
    if (arrived === 0) this.#incomplete = 0
    else this.#incomplete = arrived > bytes.length ? this.#incomplete + cost : cost
    this.#keep(this.partialBytes + cost)
    this.#isWanted = this.push(bytes)
    if (!this.#isWanted) this.#socket.pause()
  }

  #keep(bytes: number): void {
    if (bytes !== this.partialBytes) this.#shared.pressure.setPartial(this, bytes)
  }
}

/** A login: ids, a password, and a will that is dropped. Before it, no more is buffered. */
const MAX_CONNECT_BYTES = 8192
/** What a PUBLISH has beside its payload. */
const TOPIC_BYTES = 1024
/** What a chunk costs beside its bytes: a packet that arrives byte by byte is as many buffers. */
const CHUNK_BYTES = 200
