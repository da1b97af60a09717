import { createServer, type Socket } from 'node:net'
import { createSession } from '../ingest/index.ts'
import { metrics } from '../observe/metrics.ts'
import { type Listener, MAX_HELD_BYTES } from './listener.ts'
import { createBroker } from './mqtt/broker.ts'
import { type Guard, guard } from './mqtt/guard.ts'
import type { Link, MqttShared } from './mqtt/link.ts'
import { listening } from './server.ts'

interface Connection extends Link, Guard {
  /** When the last bytes arrived, ms UTC. */
  heardAt: number
}

/** Trackers over MQTT 3.1 and 3.1.1: the built-in broker, behind limits that it does not have itself. */
export async function listenMqtt(
  { host, port }: { readonly host: string; readonly port: number },
  shared: MqttShared,
): Promise<Listener> {
  const { admission, heard, limits, logger, pressure } = shared
  const broker = await createBroker(shared)
  const connections = new Set<Connection>()
  const open = metrics.connections.labels('mqtt')
  let held = 0
  let closing = false

  function accept(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    if (closing || !admission.enter(address)) {
      socket.destroy()
      return
    }
    const connection = connect(socket, `${address}:${socket.remotePort}`)
    connections.add(connection)
    open.inc()
    connection.stream.on('close', () => {
      connections.delete(connection)
      admission.leave(address)
      open.dec()
      heard.gone(connection.session)
    })
    if (pressure.high) connection.pause()
    broker.handle(connection)
  }

  function connect(socket: Socket, remote: string): Connection {
    socket.setNoDelay(true)
    const session = createSession('mqtt', remote)
    const connection: Connection = {
      ...guard(socket, {
        longest: (packet) => (packet === 1 ? Math.min(limits.max_frame_bytes, MAX_CONNECT_BYTES) : longest),
        heard: () => (connection.heardAt = Date.now()),
        hold(bytes) {
          held += bytes
          if (held > MAX_HELD_BYTES && bytes > 0) refuse(connection, 'memory')
        },
        refuse: (fault) => refuse(connection, fault),
      }),
      session,
      heardAt: session.connectedAt,
      silenceMs: limits.idle_timeout,
      unreleased: new Map(),
    }
    return connection
  }

  function refuse({ session, stream }: Link, reason: string): void {
    metrics.refused.inc({ reason })
    logger.debug({ reason, protocol: 'mqtt', device: session.device, remote: session.remote }, 'connection ended')
    stream.destroy()
  }

  /** Ends connections that never said who they are, or said nothing for long. */
  function sweep(): void {
    const now = Date.now()
    for (const connection of connections) {
      const { heardAt, session, silenceMs } = connection
      if (pressure.high) connection.heardAt = now
      else if (session.device === undefined && now - session.connectedAt > limits.identify_timeout)
        refuse(connection, 'not_identified')
      else if (now - heardAt > silenceMs) refuse(connection, 'idle')
    }
  }

  const longest = limits.max_frame_bytes + TOPIC_BYTES
  pressure.join({
    pause: () => connections.forEach((connection) => connection.pause()),
    resume: () => closing || connections.forEach((connection) => connection.resume()),
  })
  const server = createServer({ keepAlive: true, keepAliveInitialDelay: 60_000 }, accept)
  const actualPort = await listening(server, { host, port }, logger)
  const sweeper = setInterval(sweep, 1000)
  return {
    port: actualPort,
    async close() {
      closing = true
      clearInterval(sweeper)
      const done = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const connection of connections) connection.pause()
      await broker.close()
      for (const { stream } of connections) stream.destroy()
      await done
    },
  }
}

/** A login: ids, password, and a will that nobody wants. Before it, no more is held for anybody. */
const MAX_CONNECT_BYTES = 8192
/** What a PUBLISH has beside its payload. */
const TOPIC_BYTES = 1024
