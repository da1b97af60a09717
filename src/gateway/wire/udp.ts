import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { cut, type Message, type Protocol, repliesOf, type Session } from '../../../protocols/kit/index.ts'
import { within } from '../../async.ts'
import { addressOf, networkOf } from '../../domain/addresses.ts'
import { metrics, type RefusedReason } from '../../observe/metrics.ts'
import { networkFilter } from '../admit/acceptor.ts'
import { type Flood, inNetwork, tokensOf } from '../admit/flood.ts'
import { bytesReceived, bytesSent } from '../air.ts'
import { Conversation } from '../conversation.ts'
import { answeredIn, type Outcome } from '../outcome.ts'
import { type Guess, MOST_BYTES } from './detect.ts'
import { CLOSE_WAIT_MS, type Listener, type ProtocolEndpoint, type Shared } from './listener.ts'
import { openTrial } from './trial/trial.ts'
import { TrialPeers } from './trial/trial-peers.ts'
import { isMisunderstood, isStored, learnFrom, type PortRules, replacementIn } from './protocol-choice.ts'
import { UdpSessions } from './udp-sessions.ts'

/**
 * Listens for trackers over UDP: a datagram is a frame, or several if the protocol has a framer for datagrams. Under
 * pressure, and above the limits of a sender, drops datagrams without an answer: the device sends again. The source of a
 * datagram may be forged. So an answer is never longer than the datagram, and a datagram that may itself be an answer of a
 * server gets none: one from a port of ours, or one without anything of a known device.
 */
export async function listenUdp(endpoint: ProtocolEndpoint, shared: Shared): Promise<Listener> {
  const { networks, protocol } = endpoint
  const { limits, logger } = shared
  const isPermitted = networkFilter(networks)
  const socket = await openSocket(endpoint)
  socket.on('error', (error) => logger.error({ err: error, protocol: protocol?.name }, 'UDP socket'))
  const { port: actualPort } = socket.address()
  const shortage = bufferShortage(socket.getRecvBufferSize())
  if (shortage !== undefined && !isShortageLogged) logger.warn(shortage)
  isShortageLogged ||= shortage !== undefined
  shared.udpPorts.add(actualPort)
  const sessions = new UdpSessions(limits.max_connections, limits.idle_timeout)
  const own = { protocol, port: actualPort, sessions, socket, ownAddresses: addressesOfMachine(), isClosed: false }
  const context: UdpContext = { ...shared, ...own }
  const storing = new Set<Promise<void>>()
  const trial = openTrial(endpoint, shared)
  const tookUnidentified = (ms: number) => void shared.flood.take('unidentified', EVERYBODY, Math.max(LEAST_MS, ms))
  const admits = (datagram: Buffer, sender: DatagramSender) => isWithinLimits(datagram, sender, shared.flood)
  const trials = trial && new TrialPeers({ ...context, trial, framesOf, admits, tookUnidentified })
  socket.on('message', (datagram: Buffer, peer) => {
    if (trials && isPassed(datagram, peer, context) && isPermitted(peer.address) && trials.passes(datagram, peer))
      return
    const remote = `${peer.address}:${peer.port}`
    const known = sessions.find(remote)
    const reason = isPermitted(peer.address)
      ? dropReason(datagram, peer, context, known?.device !== undefined)
      : 'network'
    if (reason) return metrics.refused.inc({ reason })
    if (!admits(datagram, known ?? { remote })) return metrics.refused.inc({ reason: 'flood' })
    const began = performance.now()
    const session = known ?? newSession(context, remote)
    bytesReceived(session, datagram.length)
    const work = take(context, { datagram, peer, session })
      .catch((error: unknown) => {
        shared.journal.fault(error, { what: 'fault in handling a datagram', protocol: protocol?.name })
      })
      .finally(() => {
        storing.delete(work)
        shared.journal.carried(session)
      })
    storing.add(work)
    if (known?.device === undefined) tookUnidentified(performance.now() - began)
  })
  return {
    port: actualPort,
    async close(waitMs = CLOSE_WAIT_MS) {
      shared.udpPorts.delete(actualPort)
      socket.removeAllListeners('message')
      trials?.close()
      await within(waitMs, Promise.all([...storing, trial?.close()]))
      context.isClosed = true
      await new Promise<void>((resolve) => socket.close(resolve))
    },
  }
}

async function openSocket({ fds: [fd] = [], host, isShared, port }: ProtocolEndpoint): Promise<Socket> {
  const socket = createSocket({
    type: isIPv6(host) ? 'udp6' : 'udp4',
    recvBufferSize: RECEIVE_BUFFER,
    reusePort: isShared,
  })
  const listening = once(socket, 'listening')
  if (fd === undefined) socket.bind(port, host)
  else socket.bind({ fd })
  await listening
  return socket
}

/** Returns the log line for a socket that gets a smaller receive buffer than requested. */
export function bufferShortage(size: number, platform = process.platform): string | undefined {
  // Linux includes its own overhead, and reports twice the usable size.
  const given = platform === 'linux' ? size / 2 : size
  if (given >= RECEIVE_BUFFER) return undefined
  return `the system gives UDP sockets a receive buffer of ${given >> 10} KiB, not ${RECEIVE_BUFFER >> 10} KiB: datagrams that come at once may be lost until their devices send them again; raise net.core.rmem_max to ${RECEIVE_BUFFER}`
}

/** Whether the shortage is logged already: the system limits all sockets alike. */
let isShortageLogged = false
/** For what arrives while the process is busy for a moment. */
const RECEIVE_BUFFER = 4 << 20

/** What the datagrams of one listener share. */
interface UdpContext extends Shared, PortRules {
  readonly sessions: UdpSessions
  readonly socket: Socket
  /** The addresses of this machine. */
  readonly ownAddresses: ReadonlySet<string>
  /** Nothing can be sent any more. */
  isClosed: boolean
}

/** Why a datagram is dropped, if so. Its source may be forged, and port 0 cannot be answered. `isKnown`: of an identified peer. */
export function dropReason(
  { length }: Buffer,
  { address, port }: Pick<RemoteInfo, 'address' | 'port'>,
  { limits, ownAddresses, pressure, udpPorts }: Pick<UdpContext, 'limits' | 'ownAddresses' | 'pressure' | 'udpPorts'>,
  isKnown = false,
): RefusedReason | undefined {
  if (port === 0) return 'no_source_port'
  if (length === 0) return 'empty_datagram'
  if (length > limits.max_frame_bytes) return 'frame_too_long'
  if (udpPorts.has(port) && ownAddresses.has(address)) return 'own_port'
  return pressure.isHigh || pressure.hasManyDatagrams(isKnown) ? 'overload' : undefined
}

/** Whether a datagram may go to an old server: it is not an answer of our own, and can be answered. */
function isPassed({ length }: Buffer, { address, port }: RemoteInfo, { ownAddresses, udpPorts }: UdpContext): boolean {
  return length > 0 && port !== 0 && !(udpPorts.has(port) && ownAddresses.has(address))
}

type DatagramSender = Pick<Conversation, 'remote'> & Partial<Pick<Conversation, 'device' | 'isConfigured'>>

/** Returns whether a sender is within its limits. An identified peer has the limit of its device; all others share one. */
function isWithinLimits({ length }: Buffer, { device, isConfigured, remote }: DatagramSender, flood: Flood): boolean {
  // Under a flood this is all that a datagram costs.
  if (device === undefined && !flood.admit('unidentified', EVERYBODY, 0)) return false
  const network = networkOf(addressOf(remote))
  if (device === undefined) return flood.admit('network', network, tokensOf(1, length))
  return flood.admit('device', inNetwork(device, network, isConfigured === true), length / 1024)
}

const EVERYBODY = 'all networks'
/** The least time that a datagram, or a part that nobody understands, counts: much of its cost is not measured. */
export const LEAST_MS = 0.05
const JUNK_MS = 0.2

/** Returns a session for an unknown peer: each of its frames counts for the device that it names. */
function newSession({ flood, port }: UdpContext, remote: string): Conversation {
  const network = networkOf(addressOf(remote))
  const admits: Conversation['admits'] = ({ id, entry }) =>
    flood.admit('device', inNetwork(id, network, entry !== undefined), 1)
  return new Conversation('udp', remote, { port, admits })
}

interface Arrival {
  readonly datagram: Buffer
  readonly peer: RemoteInfo
  readonly session: Conversation
}

async function take(context: UdpContext, arrival: Arrival): Promise<void> {
  const { peer, session, datagram } = arrival
  const { detector, flood, journal, port, protocol: expected, sessions, socket } = context
  const hadStored = session.hasStoredAsOwn
  const arrivedAt = performance.now()
  const known = session.resolved?.protocol
  const isOpen = !known && !expected
  let guesses = isOpen ? guessesOf(context, arrival) : []
  if (!guesses) return
  const [first] = guesses
  if (first) session.believed(first.evidence)
  let protocol = known ?? expected ?? first?.protocol
  let outcomes = protocol ? await takeAs(protocol, context, arrival) : NOT_UNDERSTOOD
  if (session.device === undefined && outcomes.every(isMisunderstood)) {
    flood.take('unidentified', EVERYBODY, JUNK_MS)
    if (!isOpen) guesses = guessesOf(context, arrival)
    if (!guesses) return
    const guess = protocol && replacementIn(guesses, protocol)
    if (guess) {
      session.believed(guess.evidence)
      outcomes = await takeAs((protocol = guess.protocol), context, arrival)
    } else
      journal.notUnderstood(session, {
        port,
        protocol: expected?.name,
        bytes: datagram,
        guesses: guesses.filter((each) => each.protocol !== protocol).slice(0, 1),
      })
  }
  if (protocol && !hadStored) learnFrom(session, protocol, detector)
  for (const outcome of outcomes) if (outcome.status === 'refused') sessions.noteRefused(session, outcome.device)
  if (session.device === undefined || session.hasUnnamed)
    journal.sharedAddress(session, sessions.sharing(session.remote) ?? [])
  const isNew = session.device !== undefined && known !== protocol
  if (isNew && protocol && expected && expected !== protocol && outcomes.some(isStored))
    journal.wrongPort(session, protocol, { port, expected })
  const replies = outcomes.map((outcome) => repliesOf(replyTo(outcome, session, context)))
  const waitMs = replies.flat().length > 0 ? answeredIn(outcomes, arrivedAt) : 0
  if (waitMs > 0) await sleep(waitMs)
  if (context.isClosed) return
  let left = datagram.length
  for (const [index, { status }] of outcomes.entries()) {
    if (status === 'not_stored') return
    for (const reply of replies[index]) {
      left -= reply.length
      if (left < 0) return metrics.refused.inc({ reason: 'reply_too_long' })
      bytesSent(session, reply.length)
      await send(socket, reply, peer)
    }
  }
}

/** Returns the possible protocols of a datagram, likeliest first; undefined: there is no time for detection. */
function guessesOf({ detector }: UdpContext, { datagram, session }: Arrival): readonly Guess[] | undefined {
  if (!detector || datagram.length > MOST_BYTES) return []
  const look = () =>
    detector.ranked(detector.look({ bytes: datagram, transport: 'udp', now: Date.now() }).found, session)
  return detector.budget.ofDatagram(session.remote, look)
}

/** Returns the outcome of a datagram's frames, read as one protocol. */
async function takeAs(
  protocol: Protocol,
  { ingest, pressure, sessions }: UdpContext,
  { datagram, session }: Arrival,
): Promise<readonly Outcome[]> {
  const frames = framesOf(datagram, protocol, session)
  pressure.addDatagram(datagram.length, frames.length)
  const work = Promise.all(frames.map((frame) => ingest.take(frame, session, protocol)))
  sessions.remember(session)
  return work.finally(() => {
    pressure.addDatagram(-datagram.length, -frames.length)
    // Its address may be forged: nothing is kept for unconfigured ids.
    if (session.isConfigured) pressure.unfinished.look(session)
    else pressure.unfinished.drop(session)
  })
}

const NOT_UNDERSTOOD: readonly Outcome[] = [{ status: 'misunderstood', reason: 'unsupported' }]

/** Returns the reply to a peer whose address may be forged. */
function replyTo(outcome: Outcome, { device, remote }: Conversation, { flood }: UdpContext): Message['reply'] {
  if (outcome.status === 'stored') return device === undefined ? undefined : outcome.reply
  const isRefused = outcome.status === 'refused' && outcome.refusal !== undefined
  return isRefused && flood.admit('failures', networkOf(addressOf(remote)), 1) ? outcome.refusal : undefined
}

/** The addresses of this machine: a datagram from one of them and from a port of ours is an answer of our own. */
function addressesOfMachine(): ReadonlySet<string> {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return new Set(['127.0.0.1', '::1', ...interfaces.map(({ address }) => address)])
}

/**
 * Returns the frames of a datagram and the remaining bytes. A datagram in which no frame begins counts as one frame, unless
 * it is blank.
 */
function framesOf(datagram: Buffer, { udp }: Protocol, session: Session): Buffer[] {
  if (!udp?.frame) return [datagram]
  const { frames, rest } = cut(datagram, udp.frame, session)
  if (rest.length > 0) return [...frames, rest]
  return frames.length === 0 && datagram.some((byte) => byte > BLANK) ? [datagram] : frames
}

const BLANK = 0x20

/** Resolves once the system has taken the reply; a lost reply is sent again when the device asks again. */
function send(socket: Socket, reply: Buffer, { address, port }: RemoteInfo): Promise<void> {
  return new Promise((resolve) => socket.send(reply, port, address, () => resolve()))
}
