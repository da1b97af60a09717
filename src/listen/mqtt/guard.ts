import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { createPackets, follow, type PacketFault } from './packets.ts'

/** What stands between a socket and the broker, which would buffer whatever arrives. */
export interface Guard {
  /** What the broker reads and writes. */
  readonly stream: Duplex
  /** Stops and starts reading the socket. */
  pause(): void
  resume(): void
}

interface GuardOptions {
  /** How many bytes may follow the header of the stream's nth packet. */
  readonly longest: (packet: number) => number
  /** Bytes arrived. */
  readonly heard: () => void
  /** What is held for the connection, by the broker or before it, has changed by so many bytes. */
  readonly hold: (bytes: number) => void
  /** Bytes that break the rules are not passed on; the callee ends the connection. */
  readonly refuse: (fault: PacketFault) => void
}

/** Passes a socket's bytes on, no faster than the broker takes them, and none of a packet that is too long. */
export function guard(socket: Socket, { longest, heard, hold, refuse }: GuardOptions): Guard {
  const packets = createPackets()
  let paused = false
  let wanted = false
  let unfinished = 0
  let held = 0

  function keep(bytes: number): void {
    const change = bytes - held
    held = bytes
    if (change !== 0) hold(change)
  }

  const stream = new Duplex({
    readableHighWaterMark: 1,
    read() {
      wanted = true
      keep(unfinished)
      if (!paused) socket.resume()
    },
    write: (bytes: Buffer, _encoding, done) => void socket.write(bytes, done),
    writev: (chunks, done) => void socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy()
      keep(0)
      done(error)
    },
  })

  function arrive(bytes: Buffer): void {
    heard()
    const fault = follow(packets, bytes, longest)
    if (fault) {
      refuse(fault)
      return
    }
    const cost = bytes.length + CHUNK_COST
    if (packets.arrived === 0) unfinished = 0
    else unfinished = packets.arrived > bytes.length ? unfinished + cost : cost
    keep(held + cost)
    wanted = stream.push(bytes)
    if (!wanted) socket.pause()
  }

  socket.on('data', arrive)
  socket.on('end', () => stream.push(null))
  socket.on('error', () => socket.destroy())
  socket.on('close', () => stream.destroy())
  return {
    stream,
    pause() {
      paused = true
      socket.pause()
    },
    resume() {
      paused = false
      if (wanted) socket.resume()
    },
  }
}

/** What a chunk costs beyond its bytes: a packet that comes byte by byte is as many buffers. */
const CHUNK_COST = 200
