import { createServer, type Socket } from 'node:net'
import { within } from '../async.ts'
import { createSession } from '../ingest/device.ts'
import { metrics } from '../observe/metrics.ts'
import { createDoors, type Guest } from './doors.ts'
import { type Listener, PATIENCE_MS } from './listener.ts'
import { createBroker } from './mqtt/broker.ts'
import { type Guard, guard } from './mqtt/guard.ts'
import type { Link, MqttShared } from './mqtt/link.ts'
import { ended, listening } from './server.ts'

interface Connection extends Link, Guard, Guest {
  silenceMs: number
}

/** Trackers over MQTT 3.1 and 3.1.1: the built-in broker, behind limits that it does not have itself. */
export async function listenMqtt(
  { host, port }: { readonly host: string; readonly port: number },
  shared: MqttShared,
): Promise<Listener> {
  const broker = await createBroker(shared)
  const server = createServer({ keepAlive: true, keepAliveInitialDelay: 60_000 })
  const actualPort = await listening(server, { host, port }, shared.logger)
  const doors = createDoors<Connection>('mqtt', shared)
  server.on('connection', (socket) => {
    const connection = doors.enter(socket, (remote) => connect(shared, socket, remote))
    if (connection) broker.handle(connection)
  })
  return {
    port: actualPort,
    async close(patienceMs = PATIENCE_MS) {
      doors.close()
      const over = ended(server)
      for (const connection of doors.guests) connection.pause()
      await within(patienceMs, broker.close())
      for (const { stream } of doors.guests) stream.destroy()
      await over
    },
  }
}

function connect(shared: MqttShared, socket: Socket, remote: string): Connection {
  const { heard, limits, pressure } = shared
  const session = createSession('mqtt', remote)
  const longest = limits.max_frame_bytes + TOPIC_BYTES
  const connection: Connection = {
    ...guard(socket, {
      longest: (packet) => (packet === 1 ? Math.min(limits.max_frame_bytes, MAX_CONNECT_BYTES) : longest),
      heard: () => (connection.heardAt = Date.now()),
      // What was taken back when memory was short is given back once more as the connection ends.
      hold: (bytes) => pressure.hold(connection, Math.max(0, connection.heldBytes + bytes)),
      refuse: (fault) => connection.end(fault),
    }),
    session,
    heldBytes: 0,
    askedAt: session.connectedAt,
    heardAt: session.connectedAt,
    silenceMs: limits.idle_timeout,
    unreleased: new Map(),
    end: (reason) => end(shared, connection, reason),
    left: () => heard.gone(session),
  }
  socket.setNoDelay(true)
  return connection
}

function end({ logger }: MqttShared, { session, stream }: Link, reason: string): void {
  session.ended = reason
  metrics.refused.inc({ reason })
  logger.debug({ reason, protocol: 'mqtt', device: session.device, remote: session.remote }, 'connection ended')
  stream.destroy()
}

/** A login: ids, password, and a will that nobody wants. Before it, no more is held for anybody. */
const MAX_CONNECT_BYTES = 8192
/** What a PUBLISH has beside its payload. */
const TOPIC_BYTES = 1024
