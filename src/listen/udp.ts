import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { cut, type Protocol } from '../../protocols/kit/index.ts'
import { within } from '../async.ts'
import { createSession, type DeviceSession } from '../ingest/device.ts'
import { metrics } from '../observe/metrics.ts'
import { noteNotStored } from '../observe/not-stored.ts'
import { networkFilter } from './acceptor.ts'
import { CLOSE_WAIT_MS, type Listener, type ProtocolEndpoint, type Shared } from './listener.ts'

/**
 * Listens for trackers over UDP: a datagram is a frame, or several where the protocol has a framer for datagrams. Under
 * pressure datagrams are dropped without an answer: the device sends again.
 */
export async function listenUdp(endpoint: ProtocolEndpoint, shared: Shared): Promise<Listener> {
  const { host, port, protocol, networks } = endpoint
  const { limits, logger } = shared
  const isPermitted = networkFilter(networks)
  const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 4 << 20 })
  socket.bind(port, host)
  await once(socket, 'listening')
  socket.on('error', (error) => logger.error({ err: error, protocol: protocol.name }, 'UDP socket'))

  const sessions = new UdpSessions(limits.max_connections, limits.idle_timeout)
  const context: UdpContext = { ...shared, protocol, sessions, socket, isClosed: false }
  const storing = new Set<Promise<void>>()
  socket.on('message', (datagram: Buffer, peer) => {
    const reason = isPermitted(peer.address) ? dropReason(datagram, peer, context) : 'network'
    if (reason) return metrics.refused.inc({ reason })
    const work = take(context, datagram, peer)
      .catch((error: unknown) => {
        noteNotStored('fault')
        logger.error({ err: error, protocol: protocol.name }, 'fault in handling a datagram')
      })
      .finally(() => storing.delete(work))
    storing.add(work)
  })
  return {
    port: socket.address().port,
    async close(waitMs = CLOSE_WAIT_MS) {
      sessions.close()
      socket.removeAllListeners('message')
      await within(waitMs, Promise.all(storing))
      context.isClosed = true
      await new Promise<void>((resolve) => socket.close(resolve))
    },
  }
}

/** What the datagrams of one listener share. */
interface UdpContext extends Shared {
  readonly protocol: Protocol
  readonly sessions: UdpSessions
  readonly socket: Socket
  /** Nothing can be sent any more. */
  isClosed: boolean
}

/** Why a datagram is dropped, if so. Its source may be forged, and port 0 cannot be answered. */
export function dropReason(
  { length }: Buffer,
  { port }: Pick<RemoteInfo, 'port'>,
  { limits, pressure }: Pick<Shared, 'limits' | 'pressure'>,
): string | undefined {
  if (port === 0) return 'no_source_port'
  if (length === 0) return 'empty_datagram'
  if (length > limits.max_frame_bytes) return 'frame_too_long'
  return pressure.isHigh ? 'overload' : undefined
}

async function take(context: UdpContext, datagram: Buffer, peer: RemoteInfo): Promise<void> {
  const { ingest, pressure, protocol, sessions, socket } = context
  const remote = `${peer.address}:${peer.port}`
  const session = sessions.find(remote) ?? createSession('udp', remote)
  const frames = framesOf(datagram, protocol)
  pressure.add(datagram.length, frames.length)
  const work = Promise.all(frames.map((frame) => ingest.take(frame, session, protocol)))
  sessions.remember(session)
  const outcomes = await work.finally(() => pressure.remove(datagram.length, frames.length))
  for (const outcome of outcomes) {
    if (outcome.status === 'not_stored' || context.isClosed) return
    const reply =
      outcome.status === 'stored' ? outcome.reply : outcome.status === 'refused' ? outcome.refusal : undefined
    if (reply) await send(socket, reply, peer)
  }
}

function framesOf(datagram: Buffer, { udp }: Protocol): Buffer[] {
  if (!udp?.frame) return [datagram]
  const { frames, rest } = cut(datagram, udp.frame)
  return rest.length > 0 ? [...frames, rest] : frames
}

/** Resolves once the system has taken the reply; a lost reply is sent again when the device asks again. */
function send(socket: Socket, reply: Buffer, { address, port }: RemoteInfo): Promise<void> {
  return new Promise((resolve) => socket.send(reply, port, address, () => resolve()))
}

/**
 * The sessions of identified peers, by address and port; unidentified ones are not kept, so that forged sources push out no
 * device. Two generations make forgetting cheap: a device that speaks moves to the younger one, and the older one is dropped
 * as a whole when the younger one is full or has lasted `idleMs`.
 */
export class UdpSessions {
  readonly #idleMs: number
  readonly #maxPerGeneration: number
  readonly #timer: NodeJS.Timeout
  #younger = new Map<string, DeviceSession>()
  #older = this.#younger

  constructor(max: number, idleMs: number) {
    this.#idleMs = idleMs
    this.#maxPerGeneration = Math.ceil(max / 2)
    this.#timer = setInterval(() => this.#dropOlder(), Math.min(idleMs, MAX_INTERVAL_MS))
  }

  find(remote: string): DeviceSession | undefined {
    const session = this.#younger.get(remote) ?? this.#older.get(remote)
    return session && Date.now() - session.now <= this.#idleMs ? session : undefined
  }

  remember(session: DeviceSession): void {
    if (session.device === undefined || this.#younger.get(session.remote) === session) return
    if (this.#younger.size >= this.#maxPerGeneration) this.#dropOlder()
    this.#younger.set(session.remote, session)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #dropOlder(): void {
    this.#older = this.#younger
    this.#younger = new Map()
  }
}

const MAX_INTERVAL_MS = 2 ** 31 - 1
