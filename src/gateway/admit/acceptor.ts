import type { Server, ServerOpts, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { networkOf } from '../../domain/addresses.ts'
import { isWithin, networksOf } from '../../domain/networks.ts'
import { guarded, logFault } from '../../observe/faults.ts'
import { metrics, type RefusedReason } from '../../observe/metrics.ts'
import { observations } from '../../observe/observations.ts'
import { Conversation } from '../conversation.ts'
import { type Endpoint, type OpenServer, openServer, type Shared } from '../wire/listener.ts'
import { pauseOf } from './connections.ts'
import { MAX_DEBT_MS } from './flood.ts'
import { handshakeTurns } from './handshake-turns.ts'
import { OneAddressDetector } from './one-address.ts'
import { readProxyHeader } from './proxy-header.ts'
import { readClientHello, TlsHandshakes } from './tls.ts'

/**
 * The sender of a connection: the address in its PROXY header, else the address of the socket. `port`: 0 if a proxy names the
 * sender of a request.
 */
export interface Origin {
  readonly address: string
  readonly port: number
  /** The name in the client certificate, verified. */
  readonly certificate?: string
  /** Bytes of the TLS handshake in both directions; undefined: there was none. */
  readonly handshakeBytes?: number
}

export function sessionOf(
  transport: 'tcp' | 'http' | 'mqtt',
  { address, port, certificate, handshakeBytes }: Origin,
  more?: ConstructorParameters<typeof Conversation>[2],
): Conversation {
  // A joined text is one string in memory; a template string would keep each of its parts.
  return new Conversation(transport, [address, port].join(':'), { ...more, certificate, handshakeBytes })
}

/** Returns a filter for addresses in these networks; without networks, it accepts all. */
export function networkFilter(networks: readonly string[] = []): (address: string) => boolean {
  const list = networksOf(networks)
  return networks.length === 0 ? () => true : (address) => isWithin(list, address)
}

interface WaitingOrigin {
  readonly origin: Origin
  readonly network: string
  readonly waitMs: number
}

type Serve = (socket: Socket, origin: Origin) => void

/**
 * Prepares connections for the code that serves them: reads the PROXY header, refuses addresses that may not connect,
 * enforces the limits of connections, and does the TLS handshake. A connection that is not ready within `identify_timeout`
 * ends.
 */
export class Acceptor {
  readonly permits: (address: string) => boolean
  readonly #transport: 'tcp' | 'http' | 'mqtt'
  readonly #endpoint: Endpoint
  readonly #shared: Shared
  readonly #handshakes: TlsHandshakes | undefined
  readonly #oneAddress: OneAddressDetector | undefined
  /** Connections that wait, or whose header or handshake is incomplete. */
  readonly #beginning = new Set<Socket>()
  /** Of these, those without a PROXY header, the oldest first: no limit of connections counts them. */
  readonly #unaddressed = new Set<Socket>()
  #isClosing = false

  /** @throws UserError if the certificate cannot be used */
  constructor(transport: 'tcp' | 'http' | 'mqtt', endpoint: Endpoint, shared: Shared) {
    const { name = transport, networks, proxy_protocol, tls } = endpoint
    this.#transport = transport
    this.#endpoint = endpoint
    this.#shared = shared
    this.permits = networkFilter(networks)
    this.#handshakes = tls ? new TlsHandshakes(tls, name, shared) : undefined
    this.#oneAddress = proxy_protocol ? undefined : new OneAddressDetector(name)
  }

  /** Opens the server; its sockets have these options. @throws the system's error (EADDRINUSE, EACCES …) */
  async open(server: Server, sockets: ServerOpts): Promise<OpenServer> {
    try {
      return await openServer({ server, sockets, logger: this.#shared.logger }, this.#endpoint)
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** Hands the connections of a server to `serve`. */
  accept(server: Server, serve: Serve): void {
    const { proxy_protocol } = this.#endpoint
    server.on('connection', (socket) => {
      const { remoteAddress: address = '', remotePort: port = 0 } = socket
      if (this.#isClosing) socket.destroy()
      else if (proxy_protocol) this.#behindProxy(socket, { address, port }, serve)
      else this.#admit(socket, { address, port }, serve)
    })
  }

  /** Accepts no more connections, and ends those that are not ready. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const socket of this.#beginning) socket.destroy()
    this.#oneAddress?.close()
    await this.#handshakes?.close()
  }

  #behindProxy(socket: Socket, proxy: Origin, serve: Serve): void {
    if (!isWithin(this.#shared.trustedProxies, proxy.address)) return refuse(socket, 'proxy_header')
    const begun = this.#begin(socket, 'proxy_header')
    const [oldest] = this.#unaddressed
    if (this.#unaddressed.size >= MAX_UNADDRESSED) {
      // `close` comes only after this turn, in which more connections may be accepted.
      this.#unaddressed.delete(oldest)
      oldest.destroy()
    }
    this.#unaddressed.add(socket)
    socket.once('close', () => this.#unaddressed.delete(socket))
    receiveFirstBytes(socket, { read: readProxyHeader, shared: this.#shared }, (header) => {
      begun()
      this.#unaddressed.delete(socket)
      this.#admit(socket, header.source ?? proxy, serve)
    })
  }

  #admit(socket: Socket, origin: Origin, serve: Serve): void {
    const { connectionLimits, flood } = this.#shared
    const isHttpProxy = this.#isHttpProxy(origin.address)
    if (!this.permits(origin.address) && !isHttpProxy) return refuse(socket, 'network')
    const also = isHttpProxy ? undefined : this.#oneAddress
    if (!connectionLimits.admit(socket, { transport: this.#transport, address: origin.address, also })) return
    if (isHttpProxy) return this.#secure(socket, origin, serve)
    const network = networkOf(origin.address)
    const waitMs = flood.take('connections', network, this.#handshakes ? HANDSHAKE_TOKENS : 1)
    if (waitMs >= MAX_DEBT_MS) return refuse(socket, 'flood')
    if (waitMs === 0 && !this.#handshakes && this.#transport !== 'http') return serve(socket, origin)
    this.#makeWait(socket, { origin, waitMs, network }, serve)
  }

  /** While a connection waits or has its handshake before it, it may be ended to make room for another one. */
  #makeWait(socket: Socket, { origin, waitMs, network }: WaitingOrigin, serve: Serve): void {
    const { slots } = this.#shared
    const slot = { senderLimits: { network }, abort: (reason: RefusedReason) => refuse(socket, reason) }
    slots.opened(slot)
    socket.on('close', () => slots.closed(slot))
    const secure = () =>
      this.#secure(socket, origin, (secured, complete) => {
        // From here on the connection has its own slot. A connection for HTTP requests never names a device.
        if (this.#transport !== 'http') slots.closed(slot)
        serve(secured, complete)
      })
    if (waitMs === 0) return secure()
    this.#beginning.add(socket)
    socket.on('error', () => socket.destroy())
    void pauseOf(socket, waitMs)
      .finally(() => this.#beginning.delete(socket))
      .then(() => socket.destroyed || secure())
  }

  #secure(socket: Socket, origin: Origin, serve: Serve): void {
    const handshakes = this.#handshakes
    if (!handshakes) return serve(socket, origin)
    const begun = this.#begin(socket, 'tls')
    const start = () => {
      if (socket.destroyed) return
      const receive = () =>
        handshakes.receive(socket, (secured, certificate) => {
          begun()
          serve(secured, { ...origin, certificate, handshakeBytes: handshakeBytesOf(socket, secured) })
        })
      guarded(receive, (error) => endAfterFault(socket, error, this.#shared))
    }
    // Only with all of its first record the handshake costs something, and waits for its turn.
    receiveFirstBytes(
      socket,
      { read: readClientHello, invalid: () => this.#notePlain(origin), shared: this.#shared },
      () => handshakeTurns.add(networkOf(origin.address), start),
    )
  }

  #notePlain({ address }: Origin): void {
    observations.note('plain_to_tls', { subject: { listener: this.#endpoint.name }, evidence: address })
  }

  /** Whether the address is that of a trusted proxy for HTTP: such a proxy names the sender in each request. */
  #isHttpProxy(address: string): boolean {
    return this.#transport === 'http' && isWithin(this.#shared.trustedProxies, address)
  }

  /** Counts the connection as refused if it ends or runs out of time before the returned function is called. */
  #begin(socket: Socket, reason: 'proxy_header' | 'tls'): () => void {
    const late = setTimeout(() => socket.destroy(), this.#shared.limits.identify_timeout)
    const end = () => {
      clearTimeout(late)
      this.#beginning.delete(socket)
      if (!this.#isClosing) metrics.refused.inc({ reason })
    }
    this.#beginning.add(socket)
    socket.on('close', end).on('error', () => socket.destroy())
    return () => {
      clearTimeout(late)
      this.#beginning.delete(socket)
      socket.off('close', end)
    }
  }
}

/** TLS 1.3 sends its tickets after the handshake. */
function handshakeBytesOf({ bytesRead, bytesWritten }: Socket, secured: TLSSocket): number {
  return bytesRead + bytesWritten + (secured.getProtocol() === 'TLSv1.3' ? TICKET_BYTES : 0)
}

function endAfterFault(socket: Socket, error: unknown, { logger }: Pick<Shared, 'logger'>): void {
  logFault(logger, error, { what: 'fault at the beginning of a connection' })
  socket.destroy()
}

function refuse(socket: Socket, reason: RefusedReason): void {
  metrics.refused.inc({ reason })
  socket.destroy()
}

/** How the beginning of a connection is read. */
interface PendingStart<Start> {
  /**
   * `incomplete`: more bytes are needed; `invalid`: no further bytes can make it valid. `length`: bytes that are not passed
   * on.
   */
  readonly read: (bytes: Buffer) => Start | 'incomplete' | 'invalid'
  /** Called before a connection with such bytes ends. */
  readonly invalid?: () => void
  readonly shared: Pick<Shared, 'logger' | 'pressure'>
}

/**
 * Reads the first bytes of a connection and calls `done` with the result of `read`. Destroys the connection if they are
 * invalid. Later bytes stay unread, and no listener stays on the socket.
 */
function receiveFirstBytes<Start extends { readonly length: number }>(
  socket: Socket,
  { read, invalid, shared }: PendingStart<Start>,
  done: (start: Start) => void,
): void {
  const { pressure } = shared
  const sender = { partialBytes: 0, abort: end }
  let received: Buffer = Buffer.alloc(0)

  function receive(): void {
    const more = socket.read() as Buffer | null
    if (!more) return
    received = Buffer.concat([received, more])
    const start = read(received)
    pressure.setPartial(sender, start === 'incomplete' ? received.length : 0)
    if (start === 'incomplete') return
    socket.off('readable', receiveGuarded).off('end', end)
    if (start === 'invalid') {
      invalid?.()
      end()
      return
    }
    if (received.length > start.length) socket.unshift(received.subarray(start.length))
    // The stream releases its reader only after this turn, and HTTP and TLS attach their own.
    setImmediate(() => socket.destroyed || done(start))
  }

  function end(): void {
    socket.destroy()
  }

  function receiveGuarded(): void {
    guarded(receive, (error) => endAfterFault(socket, error, shared))
  }

  socket.on('readable', receiveGuarded).on('end', end)
  socket.on('close', () => pressure.setPartial(sender, 0))
}

/** A proxy sends its header at once; until it arrives, a whole backlog of connections may be accepted. */
const MAX_UNADDRESSED = 4096
/** A handshake costs about a millisecond. 10,000 vans that connect at once wait up to 24 s for theirs. */
const HANDSHAKE_TOKENS = 10
/** Two tickets. */
const TICKET_BYTES = 550
