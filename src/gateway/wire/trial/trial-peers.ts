import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import type { Protocol } from '../../../../protocols/kit/index.ts'
import { connectionsThatFit } from '../../../config/open-files.ts'
import { Conversation } from '../../conversation.ts'
import { AnswerComparison } from '../../trial/comparison.ts'
import type { Shared } from '../listener.ts'
import type { PortRules } from '../protocol-choice.ts'
import type { UdpSessions } from '../udp-sessions.ts'
import { deviceNamedIn } from './first-device.ts'
import type { Trial } from './trial.ts'

/** What the peers of one listener share. */
interface PeersContext extends Pick<Shared, 'pressure'>, PortRules {
  readonly trial: Trial
  /** The socket of the listener. */
  readonly socket: Socket
  /** The peers that we answer ourselves. */
  readonly sessions: Pick<UdpSessions, 'find'>
  /** Whether there is time to read a datagram. */
  readonly admits: (datagram: Buffer, session: Conversation) => boolean
  /** Counts the processing time of a datagram from an unidentified peer, ms. */
  readonly tookUnidentified: (ms: number) => void
  /** Cuts a datagram into the frames of a protocol. */
  readonly framesOf: (datagram: Buffer, protocol: Protocol, session: Conversation) => Buffer[]
}

/**
 * The peers of a UDP listener with an old server: each has its own socket to that server, so that answers reach the right
 * peer.
 */
export class TrialPeers {
  readonly #context: PeersContext
  /** By address and port, the one that was heard longest ago first. */
  readonly #peers = new Map<string, TrialPeer>()
  readonly #most = Math.min(MOST_PEERS, Math.floor(connectionsThatFit() / 4))
  readonly #sweeping = setInterval(() => this.#sweep(), SWEEP_MS).unref()

  constructor(context: PeersContext) {
    this.#context = context
  }

  /** Passes a datagram to the old server; answers false if its device is one that we answer ourselves. */
  passes(datagram: Buffer, from: RemoteInfo): boolean {
    const remote = `${from.address}:${from.port}`
    const known = this.#peers.get(remote)
    const entry = this.#switched(datagram, remote)
    if (entry && !entry.feed) return false
    const peer = known ?? new TrialPeer(this.#context, from, () => this.#peers.delete(remote))
    this.#peers.delete(remote)
    this.#peers.set(remote, peer)
    const [longest] = this.#peers.size > this.#most ? this.#peers.values() : []
    longest?.close()
    if (!entry) peer.send(datagram)
    else peer.feed(datagram)
    return !entry
  }

  close(): void {
    clearInterval(this.#sweeping)
    for (const peer of this.#peers.values()) peer.close()
  }

  /** A datagram that names no device is of the one that the old server, or we, know by its address. */
  #switched(datagram: Buffer, remote: string) {
    const { sessions, trial } = this.#context
    if (!trial.hasSwitched) return undefined
    const known = this.#peers.get(remote)
    const protocol = known?.protocol ?? this.#context.protocol
    const device =
      deviceNamedIn(datagram, 'udp', { ...this.#context, protocol }) ??
      known?.session.device ??
      sessions.find(remote)?.device
    return device === undefined ? undefined : trial.switched(device)
  }

  #sweep(): void {
    const now = performance.now()
    for (const peer of this.#peers.values()) if (now - peer.heardAt > IDLE_MS) peer.close()
  }
}

/** A peer, and the socket that represents it to the old server. */
class TrialPeer {
  readonly session: Conversation
  protocol: Protocol | undefined
  heardAt = 0
  readonly #context: PeersContext
  readonly #old: Socket
  readonly #comparison: AnswerComparison
  readonly #closed: () => void
  /** Datagrams that wait until the address of the old server is known. */
  #waiting: Buffer[] | undefined = []
  #isFed = false
  #isClosed = false

  constructor(context: PeersContext, { address, port }: RemoteInfo, closed: () => void) {
    const { socket, trial } = context
    const { server } = trial
    this.#context = context
    this.#closed = closed
    this.protocol = context.protocol
    this.session = new Conversation('udp', `${address}:${port}`, { port: context.port, trial })
    this.#comparison = new AnswerComparison((compared) => trial.compared(this.session, this.protocol, compared))
    this.#old = createSocket({ type: server.host.includes(':') ? 'udp6' : 'udp4', lookup: server.known.lookupOne })
    this.#old.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      // A device that waybridge answers misses nothing.
      if (!this.#isFed) server.unanswered(code)
      if (this.#waiting) this.close()
    })
    this.#old.on('message', (answer: Buffer) => {
      server.reached()
      if (this.#isFed) return
      socket.send(answer, port, address, () => {})
      this.#comparison.heard(answer, false)
    })
    this.#old.once('connect', () => {
      for (const datagram of this.#waiting ?? []) this.#old.send(datagram, () => {})
      this.#waiting = undefined
    })
    this.#old.connect(server.port, server.host)
  }

  send(datagram: Buffer): void {
    this.#isFed = false
    this.#pass(datagram)
    const { admits, tookUnidentified, trial } = this.#context
    const isUnidentified = this.session.device === undefined
    if (!admits(datagram, this.session)) return trial.missed(this.session, this.protocol)
    const began = performance.now()
    this.#copy(datagram).catch((error: unknown) => trial.fault(error))
    if (isUnidentified) tookUnidentified(performance.now() - began)
  }

  /** Sends a datagram to the old server although waybridge answers the device. */
  feed(datagram: Buffer): void {
    this.#isFed = true
    this.#pass(datagram)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#closed()
    this.#context.pressure.unfinished.drop(this.session)
    this.#comparison.ended()
    this.#waiting = []
    this.#old.removeAllListeners('message').removeAllListeners('connect')
    this.#old.close()
  }

  #pass(datagram: Buffer): void {
    this.heardAt = performance.now()
    if (!this.#waiting) this.#old.send(datagram, () => {})
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push(datagram)
  }

  async #copy(datagram: Buffer): Promise<void> {
    const { framesOf, pressure, trial } = this.#context
    const { session } = this
    const protocol = this.#protocolOf(datagram)
    if (!protocol) return trial.missed(session, undefined)
    const frames = framesOf(datagram, protocol, session)
    const compare = (frame: Buffer) =>
      trial.compare(this.#comparison, { frame, session, protocol }, trial.take(frame, session, protocol))
    await Promise.all(frames.map(compare))
    if (session.isConfigured && !this.#isClosed) pressure.unfinished.look(session)
    else pressure.unfinished.drop(session)
    if (session.device !== undefined) this.protocol = protocol
  }

  #protocolOf(datagram: Buffer): Protocol | undefined {
    const { detector, journal, port } = this.#context
    if (this.protocol ?? !detector) return this.protocol
    const { session } = this
    const look = () =>
      detector.ranked(detector.look({ bytes: datagram, transport: 'udp', now: Date.now() }).found, session)
    const guesses = detector.budget.ofDatagram(session.remote, look) ?? []
    const [first] = guesses
    if (first) session.believed(first.evidence)
    else journal.notUnderstood(session, { port, protocol: undefined, bytes: datagram, guesses })
    return first?.protocol
  }
}

const MOST_PEERS = 10_000
const MOST_WAITING = 10
const IDLE_MS = 300_000
const SWEEP_MS = 30_000
