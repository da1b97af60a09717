import { createServer, type Socket } from 'node:net'
import { cut, type Framer } from '../../protocols/kit/index.ts'
import { createSession, type DeviceSession, type Outcome } from '../ingest/index.ts'
import { metrics } from '../observe/metrics.ts'
import { type Endpoint, type Listener, MAX_HELD_BYTES, type Shared } from './listener.ts'
import { listening } from './server.ts'

interface Connection {
  readonly socket: Socket
  readonly session: DeviceSession
  /** What is not ingested yet: the beginning of a frame, or all that came while the last frames were being stored. */
  rest: Buffer
  /** Bytes since the last good frame that were none. */
  unusable: number
  /** When the last good frame came, ms UTC. */
  goodAt: number
  /** Whether its frames are being stored. */
  busy: boolean
}

/** Trackers over TCP: bytes in, frames to `ingest`, replies back in the order of their frames, once they are stored. */
export async function listenTcp({ host, port, protocol }: Endpoint, shared: Shared): Promise<Listener> {
  const { admission, heard, ingest, limits, logger, pressure } = shared
  const { frame } = protocol.tcp as { frame: Framer }
  const connections = new Set<Connection>()
  const open = metrics.connections.labels('tcp')
  let held = 0
  let closing = false

  function accept(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    if (closing || !admission.enter(address)) {
      socket.destroy()
      return
    }
    const session = createSession('tcp', `${address}:${socket.remotePort}`)
    const connection: Connection = { socket, session, rest: EMPTY, unusable: 0, goodAt: session.now, busy: false }
    connections.add(connection)
    open.inc()
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => arrive(connection, bytes))
    socket.on('end', () => connection.busy || socket.end())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      connections.delete(connection)
      keep(connection, EMPTY)
      admission.leave(address)
      open.dec()
      heard.gone(session)
    })
    if (pressure.high) socket.pause()
  }

  function arrive(connection: Connection, bytes: Buffer): void {
    if (!connection.socket.writable) return
    keep(connection, connection.rest.length === 0 ? bytes : Buffer.concat([connection.rest, bytes]))
    if (connection.busy) connection.socket.pause()
    else drain(connection).catch((error: unknown) => fail(connection, error))
  }

  /** Ingests what is there until no whole frame is left; one at a time for each connection, so that order is kept. */
  async function drain(connection: Connection): Promise<void> {
    const { session, socket } = connection
    connection.busy = true
    while (socket.writable) {
      const { frames, rest, noise } = cut(connection.rest, frame)
      const taken = connection.rest.length - rest.length
      keep(connection, Buffer.from(rest))
      connection.unusable += noise
      if (frames.length === 0) break
      pressure.add(taken)
      const work = Promise.all(frames.map((each) => ingest(each, session, protocol)))
      const outcomes = await work.finally(() => pressure.remove(taken))
      answer(connection, frames, outcomes)
    }
    connection.busy = false
    proceed(connection)
  }

  function proceed({ rest, socket, unusable }: Connection): void {
    if (!socket.writable) return
    if (rest.length > limits.max_frame_bytes) refuse(socket, 'frame_too_long')
    else if (unusable > limits.max_frame_bytes) refuse(socket, 'noise')
    else if (socket.writableLength > limits.max_frame_bytes) refuse(socket, 'not_reading')
    else if (closing || socket.readableEnded) finish(socket, [])
    else if (!pressure.high) socket.resume()
  }

  function answer(connection: Connection, frames: readonly Buffer[], outcomes: readonly Outcome[]): void {
    const replies: Buffer[] = []
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'misunderstood') {
        connection.unusable += frames[index].length
      } else if (outcome.status === 'stored') {
        connection.unusable = 0
        connection.goodAt = connection.session.now
        if (outcome.reply) replies.push(outcome.reply)
      } else {
        if (outcome.status === 'refused' && outcome.refusal) replies.push(outcome.refusal)
        finish(connection.socket, replies)
        return
      }
    }
    if (replies.length > 0 && connection.socket.writable) connection.socket.write(Buffer.concat(replies))
  }

  function keep(connection: Connection, rest: Buffer): void {
    held += rest.length - connection.rest.length
    connection.rest = rest
    if (held > MAX_HELD_BYTES && rest.length > 0) refuse(connection.socket, 'memory')
  }

  function refuse(socket: Socket, reason: string): void {
    metrics.refused.inc({ reason })
    logger.debug({ reason, protocol: protocol.name, remote: socket.remoteAddress }, 'connection ended')
    socket.destroy()
  }

  function fail({ session, socket }: Connection, error: unknown): void {
    logger.error({ err: error, device: session.device, protocol: protocol.name }, 'fault in handling a frame')
    socket.destroy()
  }

  /** Ends connections that never said who they are, or said nothing for long. */
  function sweep(): void {
    const now = Date.now()
    for (const { busy, goodAt, session, socket } of connections) {
      if (busy || pressure.high) continue
      if (session.device === undefined && now - session.connectedAt > limits.identify_timeout)
        refuse(socket, 'not_identified')
      else if (now - goodAt > limits.idle_timeout) refuse(socket, 'idle')
    }
  }

  pressure.join({
    pause: () => connections.forEach(({ socket }) => socket.pause()),
    resume: () => connections.forEach(({ busy, socket }) => busy || socket.resume()),
  })
  const server = createServer({ allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, accept)
  const actualPort = await listening(server, { host, port }, logger)
  const sweeper = setInterval(sweep, 1000)
  return {
    port: actualPort,
    async close() {
      closing = true
      clearInterval(sweeper)
      const done = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const { busy, socket } of connections) {
        socket.pause()
        if (!busy) socket.destroy()
      }
      await done
    },
  }
}

/**
 * Ends a connection after its last words. What it still sends is read and dropped: left unread it would make the system
 * reset the connection, and the last words would be lost on their way.
 */
function finish(socket: Socket, replies: readonly Buffer[]): void {
  socket.end(Buffer.concat(replies))
  socket.resume()
  setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref()
}

const EMPTY = Buffer.alloc(0)
const LAST_WORDS_MS = 2000
