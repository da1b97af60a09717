import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { cut } from '../../protocols/kit/index.ts'
import { within } from '../async.ts'
import { createSession } from '../ingest/device.ts'
import { metrics } from '../observe/metrics.ts'
import { type Endpoint, type Listener, PATIENCE_MS, type Shared } from './listener.ts'
import { type Conversations, createConversations } from './udp/conversations.ts'

/** What a listener's datagrams have in common. */
interface Line extends Shared, Pick<Endpoint, 'protocol'> {
  readonly conversations: Conversations
  readonly socket: Socket
  /** Nothing can be sent any more. */
  closed: boolean
}

/**
 * Trackers over UDP: a datagram is a frame, or several where the protocol says how they are cut. Under pressure datagrams
 * are dropped unanswered: the device sends again.
 */
export async function listenUdp({ host, port, protocol }: Endpoint, shared: Shared): Promise<Listener> {
  const { limits, logger } = shared
  const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 4 << 20 })
  socket.bind(port, host)
  await once(socket, 'listening')
  socket.on('error', (error) => logger.error({ err: error, protocol: protocol.name }, 'UDP socket'))

  const conversations = createConversations(limits.max_connections, limits.idle_timeout)
  const line: Line = { ...shared, protocol, conversations, socket, closed: false }
  const storing = new Set<Promise<void>>()
  socket.on('message', (datagram: Buffer, remote) => {
    const reason = refusalOf(datagram, remote, line)
    if (reason) return metrics.refused.inc({ reason })
    const work = receive(line, datagram, remote).finally(() => storing.delete(work))
    storing.add(work)
  })
  return {
    port: socket.address().port,
    async close(patienceMs = PATIENCE_MS) {
      conversations.close()
      socket.removeAllListeners('message')
      await within(patienceMs, Promise.all(storing))
      line.closed = true
      await new Promise<void>((resolve) => socket.close(resolve))
    },
  }
}

/** Why a datagram is not even read, if so. Its sender can be made up, and port 0 is nobody's. */
export function refusalOf(
  { length }: Buffer,
  { port }: Pick<RemoteInfo, 'port'>,
  { limits, pressure }: Pick<Shared, 'limits' | 'pressure'>,
): string | undefined {
  if (port === 0) return 'no_source_port'
  if (length === 0) return 'empty_datagram'
  if (length > limits.max_frame_bytes) return 'frame_too_long'
  return pressure.high ? 'overload' : undefined
}

async function receive(line: Line, datagram: Buffer, remote: RemoteInfo): Promise<void> {
  const { logger, protocol } = line
  await take(line, datagram, remote).catch((error: unknown) =>
    logger.error({ err: error, protocol: protocol.name }, 'fault in handling a datagram'),
  )
}

async function take(line: Line, datagram: Buffer, remote: RemoteInfo): Promise<void> {
  const { conversations, ingest, pressure, protocol, socket } = line
  const from = `${remote.address}:${remote.port}`
  const session = conversations.find(from) ?? createSession('udp', from)
  const frames = framesOf(datagram, line)
  pressure.add(datagram.length, frames.length)
  const work = Promise.all(frames.map((frame) => ingest.take(frame, session, protocol)))
  conversations.remember(session)
  const outcomes = await work.finally(() => pressure.remove(datagram.length, frames.length))
  for (const outcome of outcomes) {
    if (outcome.status === 'not_stored' || line.closed) return
    const reply =
      outcome.status === 'stored' ? outcome.reply : outcome.status === 'refused' ? outcome.refusal : undefined
    if (reply) await send(socket, reply, remote)
  }
}

function framesOf(datagram: Buffer, { protocol }: Line): Buffer[] {
  if (!protocol.udp?.frame) return [datagram]
  const { frames, rest } = cut(datagram, protocol.udp.frame)
  return rest.length > 0 ? [...frames, rest] : frames
}

/** Resolves once the system has it; what it could not send is sent again when the device asks again. */
function send(socket: Socket, reply: Buffer, { address, port }: RemoteInfo): Promise<void> {
  return new Promise((resolve) => socket.send(reply, port, address, () => resolve()))
}
