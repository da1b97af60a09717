import { connect, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { TrialConfig } from '../../../config/schema.ts'
import { hostPort } from '../../../domain/addresses.ts'
import { observations } from '../../../observe/observations.ts'
import { joined, say } from '../../../texts/text.ts'
import { KnownHost } from './known-host.ts'

/** The old server of a listener: opens connections to it, and knows whether it can be reached. */
export class OldServer {
  readonly host: string
  readonly port: number
  readonly known: KnownHost
  readonly #listener: string
  readonly #endNoting: () => void
  #failures = NO_FAILURES
  #probing: NodeJS.Timeout | undefined

  /** `listener`: its name, for the finding. */
  constructor({ host, port }: Pick<TrialConfig, 'host' | 'port'>, listener: string) {
    this.host = host
    this.port = port
    this.known = new KnownHost(host)
    this.#listener = listener
    this.#endNoting = observations.noteLasting(() => this.#note())
  }

  /**
   * Opens a connection, which the caller ends. Notes a failure; the caller handles the error. `isFed`: waybridge answers the
   * tracker, which misses nothing if the connection fails.
   */
  connect({ allowHalfOpen = true, isFed = false } = {}): Socket {
    const { host, port } = this
    const { lookup } = this.known
    const socket = connect({ host, port, lookup, ...SOCKETS, allowHalfOpen })
    const failed = ({ code = '', message }: NodeJS.ErrnoException) => {
      if (isFed) return
      if (code !== 'EMFILE' && code !== 'ENFILE') return this.failed(code || message)
      observations.note('open_files', { evidence: say('a connection could not be accepted: {}', code) })
    }
    socket.once('error', failed).once('connect', () => {
      socket.off('error', failed)
      this.reached()
    })
    return socket
  }

  /** Notes that it could not be reached over TCP. It is tried again until it can be: then the finding is over. */
  failed(reason: string): void {
    this.unanswered(reason)
    this.#probing ??= setInterval(() => this.#probe(), PROBE_MS).unref()
  }

  /** Notes that a datagram was refused. That counts for a minute, or until an answer comes. */
  unanswered(reason: string): void {
    this.#failures = { count: this.#failures.count + 1, reason, at: performance.now() }
  }

  reached(): void {
    this.#failures = NO_FAILURES
    clearInterval(this.#probing)
    this.#probing = undefined
  }

  close(): void {
    this.#endNoting()
    clearInterval(this.#probing)
  }

  #probe(): void {
    const socket = connect({ host: this.host, port: this.port, lookup: this.known.lookup, timeout: PROBE_MS })
    socket.on('error', () => {}).on('timeout', () => socket.destroy())
    socket.on('connect', () => {
      this.reached()
      socket.destroy()
    })
  }

  #note(): void {
    const { at, count, reason } = this.#failures
    if (count === 0 || (!this.#probing && performance.now() - at > COUNTS_MS)) return
    const evidence = [joined([hostPort(this), reason], ': ')]
    observations.noteState('trial_unreachable', { subject: { listener: this.#listener }, evidence, count })
  }
}

/** Ends a connection as one that was cut: the other end sees a reset. */
export function reset(socket: Socket): void {
  if (socket.destroyed) return
  if (socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}

/** A bound on bytes in memory. */
export class ByteRoom {
  readonly #most: number
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#bytes > this.#most
  }

  take(bytes: number): void {
    this.#bytes += bytes
  }

  give(bytes: number): void {
    this.#bytes -= bytes
  }
}

/** How long to wait for a tracker that has begun to send to name itself. */
export const NAMED_MS = 2000
/** How long the old server has to answer, or to end, once the tracker is gone. */
export const LEFT_MS = 10_000
const NO_FAILURES = { count: 0, reason: '', at: 0 }
const SOCKETS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
const PROBE_MS = 5000
const COUNTS_MS = 60_000
