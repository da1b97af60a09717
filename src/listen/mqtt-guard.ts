import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

export interface GuardOptions {
  /** How many bytes may follow the fixed header of the stream's nth packet. */
  readonly maxLength: (packet: number) => number
  /** Bytes arrived. */
  readonly heard: () => void
  /** The bytes in memory for the connection, in the broker or before it, have changed by so many. */
  readonly changed: (bytes: number) => void
  /** Called in place of passing on bytes that break the rules; it ends the connection. */
  readonly refuse: (fault: PacketFault) => void
}

/**
 * The stream that the broker reads and writes in place of a socket: the broker would buffer whatever arrives. It passes bytes
 * on no faster than the broker reads them, and none of a packet that is too long.
 */
export class GuardedStream extends Duplex {
  readonly #socket: Socket
  readonly #options: GuardOptions
  readonly #packets = createPackets()
  #isStopped = false
  #isWanted = false
  /** Bytes in memory of the packet that is not complete, and in all. */
  #partial = 0
  #kept = 0

  constructor(socket: Socket, options: GuardOptions) {
    super({ readableHighWaterMark: 1 })
    this.#socket = socket
    this.#options = options
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('end', () => this.push(null))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.destroy())
  }

  /** Stops reading the socket. */
  stopReading(): void {
    this.#isStopped = true
    this.#socket.pause()
  }

  startReading(): void {
    this.#isStopped = false
    if (this.#isWanted) this.#socket.resume()
  }

  override _read(): void {
    this.#isWanted = true
    this.#keep(this.#partial)
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
    this.#options.heard()
    const fault = follow(this.#packets, bytes, this.#options.maxLength)
    if (fault) return this.#options.refuse(fault)
    const { arrived } = this.#packets
    const cost = bytes.length + CHUNK_BYTES
    if (arrived === 0) this.#partial = 0
    else this.#partial = arrived > bytes.length ? this.#partial + cost : cost
    this.#keep(this.#kept + cost)
    this.#isWanted = this.push(bytes)
    if (!this.#isWanted) this.#socket.pause()
  }

  #keep(bytes: number): void {
    const change = bytes - this.#kept
    this.#kept = bytes
    if (change !== 0) this.#options.changed(change)
  }
}

/** What a chunk costs beside its bytes: a packet that arrives byte by byte is as many buffers. */
const CHUNK_BYTES = 200

/**
 * Follows the packets of an MQTT stream by their fixed headers, to know the length of each before the broker buffers it.
 *
 *   TT LL…  body      L  remaining length, 1 to 4 bytes of 7 bits, least significant first; top bit: another byte follows
 */
export interface Packets {
  /** Packets begun so far. */
  begun: number
  /** Bytes that have arrived of the packet that is not complete; 0 between packets. */
  arrived: number
  /** Bytes of its body that are missing. */
  missing: number
  /** Bytes of its fixed header that have arrived; 0: the header is complete, or there is none. */
  header: number
  length: number
}

/** A packet is longer than it may be, or its length has more than four bytes. */
export type PacketFault = 'frame_too_long' | 'malformed_packet'

export function createPackets(): Packets {
  return { begun: 0, arrived: 0, missing: 0, header: 0, length: 0 }
}

/** Follows the next bytes of the stream. `maxLength`: how many bytes may follow the fixed header of the nth packet. */
export function follow(
  packets: Packets,
  bytes: Buffer,
  maxLength: (packet: number) => number,
): PacketFault | undefined {
  for (let at = 0; at < bytes.length; ) {
    if (packets.missing > 0) {
      const here = Math.min(packets.missing, bytes.length - at)
      at += here
      packets.missing -= here
      packets.arrived += here
    } else {
      const fault = readHeader(packets, bytes[at++], maxLength)
      if (fault) return fault
    }
    if (packets.missing === 0 && packets.header === 0) packets.arrived = 0
  }
  return undefined
}

function readHeader(packets: Packets, byte: number, maxLength: (packet: number) => number): PacketFault | undefined {
  packets.arrived++
  if (packets.header++ === 0) {
    packets.begun++
    packets.length = 0
    return undefined
  }
  packets.length += (byte & 0x7f) * 128 ** (packets.header - 2)
  if (packets.length > maxLength(packets.begun)) return 'frame_too_long'
  if (byte < 0x80) {
    packets.missing = packets.length
    packets.header = 0
    return undefined
  }
  return packets.header > 4 ? 'malformed_packet' : undefined
}
