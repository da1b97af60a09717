import type { Socket } from 'node:net'
import { cut } from '../../../protocols/kit/index.ts'
import type { Outcome } from '../../ingest/ingest.ts'
import { append, keep, sizeOf } from '../unread.ts'
import type { Connection } from './connection.ts'

/** Takes the next bytes of a connection. */
export function arrive(connection: Connection, bytes: Buffer): void {
  const { busy, line, socket, unread } = connection
  if (!socket.writable) return
  append(unread, bytes)
  if (busy) {
    socket.pause()
    line.pressure.hold(connection, sizeOf(unread))
  } else drain(connection).catch((error: unknown) => fail(connection, error))
}

/** Ingests what is there until no whole frame is left; one at a time for each connection, so that order is kept. */
async function drain(connection: Connection): Promise<void> {
  const { line, socket, unread } = connection
  connection.busy = true
  while (socket.writable) {
    const { frames, rest, noise } = cut(unread.bytes, line.frame)
    const taken = unread.bytes.length - rest.length
    keep(unread, rest)
    line.pressure.hold(connection, sizeOf(unread))
    connection.unusable += noise
    if (frames.length === 0) break
    line.pressure.add(taken, frames.length)
    const work = Promise.all(frames.map((frame) => take(connection, frame)))
    const outcomes = await work.finally(() => line.pressure.remove(taken, frames.length))
    answer(connection, frames, outcomes)
  }
  connection.busy = false
  proceed(connection)
}

function take(connection: Connection, frame: Buffer): Promise<Outcome> {
  const { line, session } = connection
  const before = session.device
  const outcome = line.ingest.take(frame, session, line.protocol)
  if (before !== undefined && before !== session.device) (connection.earlier ??= new Set()).add(before)
  return outcome
}

function answer(connection: Connection, frames: readonly Buffer[], outcomes: readonly Outcome[]): void {
  const replies: Buffer[] = []
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'misunderstood') {
      connection.unusable += frames[index].length
    } else if (outcome.status === 'stored') {
      connection.unusable = 0
      connection.heardAt = Date.now()
      if (outcome.reply) replies.push(outcome.reply)
    } else {
      connection.session.ended = outcome.status === 'refused' ? outcome.reason : outcome.status
      if (outcome.status === 'refused' && outcome.refusal) replies.push(outcome.refusal)
      finish(connection.socket, replies)
      return
    }
  }
  if (replies.length > 0 && connection.socket.writable) connection.socket.write(Buffer.concat(replies))
}

function proceed(connection: Connection): void {
  const { line, session, socket, unread, unusable } = connection
  const { max_frame_bytes: most } = line.limits
  const longest = session.device === undefined ? Math.min(MAX_UNIDENTIFIED_BYTES, most) : most
  if (!socket.writable) return
  if (unread.bytes.length > longest) connection.end('frame_too_long')
  else if (unusable > most) connection.end('noise')
  else if (socket.writableLength > most) connection.end('not_reading')
  else if (line.closing || socket.readableEnded) finish(socket, [])
  else if (!line.pressure.high) socket.resume()
}

function fail({ line, session, socket }: Connection, error: unknown): void {
  line.logger.error({ err: error, device: session.device, protocol: line.protocol.name }, 'fault in handling a frame')
  socket.destroy()
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

/** The beginning of a frame that is kept for somebody who has not said who it is: every login is shorter by far. */
const MAX_UNIDENTIFIED_BYTES = 4096
const LAST_WORDS_MS = 2000
