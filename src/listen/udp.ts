import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { cut } from '../../protocols/kit/index.ts'
import { createSession, type DeviceSession } from '../ingest/index.ts'
import { metrics } from '../observe/metrics.ts'
import type { Endpoint, Listener, Shared } from './listener.ts'

/**
 * Trackers over UDP: a datagram is a frame, or several where the protocol says how they are cut. A conversation is an
 * address and port; it is forgotten when idle. Under pressure datagrams are dropped unanswered: the device sends again.
 */
export async function listenUdp({ host, port, protocol }: Endpoint, shared: Shared): Promise<Listener> {
  const { ingest, limits, logger, pressure } = shared
  const sessions = new Map<string, DeviceSession>()
  const storing = new Set<Promise<void>>()
  const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 4 << 20 })

  function receive(datagram: Buffer, remote: RemoteInfo): void {
    if (datagram.length === 0) metrics.refused.inc({ reason: 'empty_datagram' })
    else if (datagram.length > limits.max_frame_bytes) metrics.refused.inc({ reason: 'frame_too_long' })
    else if (pressure.high) metrics.refused.inc({ reason: 'overload' })
    else {
      const work = take(datagram, remote)
        .catch((error: unknown) =>
          logger.error({ err: error, protocol: protocol.name }, 'fault in handling a datagram'),
        )
        .finally(() => storing.delete(work))
      storing.add(work)
    }
  }

  async function take(datagram: Buffer, remote: RemoteInfo): Promise<void> {
    const session = sessionOf(`${remote.address}:${remote.port}`)
    const frames = framesOf(datagram)
    pressure.add(datagram.length)
    const work = Promise.all(frames.map((frame) => ingest(frame, session, protocol)))
    const outcomes = await work.finally(() => pressure.remove(datagram.length))
    for (const outcome of outcomes) {
      if (outcome.status === 'not_stored') return
      const reply =
        outcome.status === 'stored' ? outcome.reply : outcome.status === 'refused' ? outcome.refusal : undefined
      if (reply) await send(reply, remote)
    }
  }

  /** Resolves once the system has it; what it could not send is sent again when the device asks again. */
  function send(reply: Buffer, remote: RemoteInfo): Promise<void> {
    return new Promise((resolve) => socket.send(reply, remote.port, remote.address, () => resolve()))
  }

  function framesOf(datagram: Buffer): Buffer[] {
    if (!protocol.udp?.frame) return [datagram]
    const { frames, rest } = cut(datagram, protocol.udp.frame)
    return rest.length > 0 ? [...frames, rest] : frames
  }

  function sessionOf(remote: string): DeviceSession {
    const known = sessions.get(remote)
    if (known) return known
    const session = createSession('udp', remote)
    sessions.set(remote, session)
    if (sessions.size > limits.max_connections) sessions.delete(sessions.keys().next().value as string)
    return session
  }

  function sweep(): void {
    const now = Date.now()
    for (const [remote, { device, now: lastAt }] of sessions)
      if (now - lastAt > (device === undefined ? limits.identify_timeout : limits.idle_timeout)) sessions.delete(remote)
  }

  socket.on('message', receive)
  socket.on('error', (error) => logger.error({ err: error, protocol: protocol.name }, 'UDP socket'))
  socket.bind(port, host)
  await once(socket, 'listening')
  const sweeper = setInterval(sweep, 1000)
  return {
    port: socket.address().port,
    async close() {
      clearInterval(sweeper)
      socket.off('message', receive)
      await Promise.all(storing)
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    },
  }
}
