import { createServer } from 'node:net'
import type { Framer } from '../../protocols/kit/index.ts'
import { within } from '../async.ts'
import { createDoors } from './doors.ts'
import { type Endpoint, type Listener, PATIENCE_MS, type Shared } from './listener.ts'
import { ended, listening } from './server.ts'
import { begin, type Connection, type Line } from './tcp/connection.ts'

/** Trackers over TCP: bytes in, frames to `ingest`, replies back in the order of their frames, once they are stored. */
export async function listenTcp({ host, port, protocol }: Endpoint, shared: Shared): Promise<Listener> {
  const { frame } = protocol.tcp as { frame: Framer }
  const line: Line = { ...shared, protocol, frame, closing: false }
  const server = createServer({ allowHalfOpen: true, keepAlive: true, keepAliveInitialDelay: 60_000 })
  const actualPort = await listening(server, { host, port }, shared.logger)
  const doors = createDoors<Connection>('tcp', shared)
  server.on('connection', (socket) => doors.enter(socket, (remote) => begin(line, socket, remote)))
  return {
    port: actualPort,
    async close(patienceMs = PATIENCE_MS) {
      line.closing = true
      doors.close()
      const over = ended(server)
      for (const { busy, socket } of doors.guests) {
        socket.pause()
        if (!busy) socket.destroy()
      }
      await within(patienceMs, over)
      for (const { socket } of doors.guests) socket.destroy()
      await over
    },
  }
}
