import type { Socket } from 'node:net'
import type { Framer, Protocol } from '../../../protocols/kit/index.ts'
import { createSession } from '../../ingest/device.ts'
import { metrics } from '../../observe/metrics.ts'
import type { Guest } from '../doors.ts'
import type { Shared } from '../listener.ts'
import { createUnread, type Unread } from '../unread.ts'
import { arrive } from './stream.ts'

/** What the connections of one listener have in common. */
export interface Line extends Shared {
  readonly protocol: Protocol
  readonly frame: Framer
  closing: boolean
}

export interface Connection extends Guest {
  readonly line: Line
  readonly socket: Socket
  /** What is not ingested yet: the beginning of a frame, or all that came while the last frames were being stored. */
  readonly unread: Unread
  /** Bytes since the last good frame that were none. */
  unusable: number
  /** Whether its frames are being stored. */
  busy: boolean
  /** Devices that spoke here before the session's present one. */
  earlier: Set<string> | undefined
}

/** A connection that begins now: its bytes are read, it answers, and it ends by itself. */
export function begin(line: Line, socket: Socket, remote: string): Connection {
  const session = createSession('tcp', remote)
  const connection: Connection = {
    line,
    socket,
    session,
    unread: createUnread(),
    heldBytes: 0,
    unusable: 0,
    busy: false,
    earlier: undefined,
    askedAt: session.connectedAt,
    heardAt: session.connectedAt,
    silenceMs: line.limits.idle_timeout,
    pause: () => void socket.pause(),
    resume: () => void (connection.busy || socket.resume()),
    end: (reason) => end(connection, reason),
    left: () => leave(connection),
  }
  socket.setNoDelay(true)
  socket.on('data', (bytes: Buffer) => arrive(connection, bytes))
  socket.on('end', () => connection.busy || socket.end())
  socket.on('error', () => socket.destroy())
  return connection
}

function end({ line, session, socket }: Connection, reason: string): void {
  const { device, remote } = session
  session.ended = reason
  metrics.refused.inc({ reason })
  line.logger.debug({ reason, protocol: line.protocol.name, device, remote }, 'connection ended')
  socket.destroy()
}

function leave({ earlier, line, session }: Connection): void {
  for (const device of earlier ?? []) if (device !== session.device) line.heard.gone({ ...session, device })
  line.heard.gone(session)
}
