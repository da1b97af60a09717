import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, type BlockList, createServer, isIPv6, type Server, type ServerOpts } from 'node:net'
import type { Protocol } from '../../../protocols/kit/index.ts'
import type { Config, TlsConfig, TrialConfig } from '../../config/schema.ts'
import type { Logger } from '../../observe/log.ts'
import { observations } from '../../observe/observations.ts'
import { say } from '../../texts/text.ts'
import type { Backpressure } from '../admit/backpressure.ts'
import type { ConnectionLimits } from '../admit/connection-limits.ts'
import type { Flood } from '../admit/flood.ts'
import type { Slots } from '../admit/slots.ts'
import type { Journal } from '../journal.ts'
import type { Ingest } from '../take.ts'
import type { Detector } from './detect.ts'
import type { TrialShared } from '../trial/book.ts'

/** What all listeners of a gateway share. */
export interface Shared {
  readonly ingest: Pick<Ingest, 'take'>
  readonly connectionLimits: ConnectionLimits
  readonly pressure: Backpressure
  readonly flood: Flood
  readonly slots: Slots
  /** Ports that the gateway listens on for datagrams. */
  readonly udpPorts: Set<number>
  readonly limits: Config['limits']
  /** Detects the protocol of a sender; undefined if no listener needs it. */
  readonly detector: Detector | undefined
  readonly journal: Pick<
    Journal,
    'carried' | 'fault' | 'gone' | 'notUnderstood' | 'refusedTopic' | 'sharedAddress' | 'wrongPort'
  >
  /** The proxies whose PROXY headers and `Forwarded` headers are trusted. */
  readonly trustedProxies: BlockList
  readonly logger: Logger
  /** What trials need; undefined if no listener has an old server. */
  readonly trials?: TrialShared
}

/** Where a listener listens, and which connections it accepts; by default all. */
export interface Endpoint {
  /** Its name, as in ports.json. */
  readonly name?: string
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly tls?: TlsConfig | null
  readonly proxy_protocol?: boolean
  readonly networks?: readonly string[]
  /** Whether other gateways of this `start` listen on the port, too: the kernel spreads connections and peers over them. */
  readonly isShared?: boolean
  /** Copies of the socket that is bound to host and port already. */
  readonly fds?: readonly number[]
}

/** A listener for trackers. Without a protocol it finds out what each speaks. */
export interface ProtocolEndpoint extends Endpoint {
  readonly protocol: Protocol | undefined
  /** The old server that answers in place of waybridge; null: none. */
  readonly trial?: TrialConfig | null
}

export interface Listener {
  readonly port: number
  /**
   * Accepts and reads nothing more. Resolves once every frame that was read is stored and answered. After `waitMs` the
   * connections end without an answer, and the devices send again.
   */
  close(waitMs?: number): Promise<void>
}

/** Closing a gateway may take 10 s; the remaining time is for what closes after the listeners. */
export const CLOSE_WAIT_MS = 8000

/** A server to open, the options of its sockets, and its logger. */
export interface ServerOpening {
  readonly server: Server
  readonly sockets: ServerOpts
  readonly logger: Logger
}

export interface OpenServer {
  readonly port: number
  /** Accepts no more connections; resolves once the last one has ended. */
  close(): Promise<void>
}

/**
 * Opens a server, if possible on several sockets: Node accepts one connection per socket in a turn of its event loop, and
 * while many vans connect at once these turns are long. @throws the system's error (EADDRINUSE, EACCES …).
 */
export async function openServer({ server, sockets, logger }: ServerOpening, endpoint: Endpoint): Promise<OpenServer> {
  const { fds = [], host, isShared } = endpoint
  listen(server, endpoint, fds[0])
  await once(server, 'listening').catch((error: Error) => {
    throw Object.assign(error, { address: host, port: endpoint.port })
  })
  const { port } = server.address() as AddressInfo
  const count = fds.length || (isShared ? SOCKETS_EACH : 1)
  const further = Array.from({ length: count - 1 }, () =>
    createServer(sockets, (socket) => void server.emit('connection', socket)),
  )
  const servers = [server, ...further]
  for (const each of servers) each.on('error', (error: NodeJS.ErrnoException) => noteNotAccepted(error, logger))
  for (const [at, each] of further.entries()) listen(each, { ...endpoint, port }, fds[at + 1])
  return {
    port,
    async close() {
      await Promise.all(servers.map((each) => new Promise((resolve) => each.close(resolve))))
    },
  }
}

function listen(server: Server, { host, port, isShared }: Endpoint, fd?: number): void {
  if (fd === undefined) server.listen({ host, port, backlog: BACKLOG, reusePort: isShared })
  else server.listen({ fd }, BACKLOG)
}

/** Reports that a new connection could not be accepted. Open connections are not affected. */
function noteNotAccepted(error: NodeJS.ErrnoException, logger: Logger): void {
  if (error.code === 'EMFILE' || error.code === 'ENFILE')
    observations.note('open_files', { evidence: say('a connection could not be accepted: {}', error.code ?? '') })
  else logger.error({ err: error }, 'a connection could not be accepted')
}

/** How many connections may wait to be accepted: all that come while a gateway is started again. */
const BACKLOG = 4096
/** Sockets per port. If all usual ports are open, this uses the open files that config/open-files.ts reserves for them. */
const SOCKETS_EACH = 4

/**
 * Finds out that no program uses a port, and resolves to it. A shared port could be shared with any program of this user that
 * also asks for sharing, so it is opened exclusively first. @throws the system's error (EADDRINUSE, EACCES …).
 */
export async function freePort({ transport, host, port }: SharedPort): Promise<number> {
  const socket = transport === 'udp' ? createSocket(isIPv6(host) ? 'udp6' : 'udp4') : createServer()
  if ('bind' in socket) socket.bind(port, host)
  else socket.listen({ host, port })
  await once(socket, 'listening')
  const { port: free } = socket.address() as AddressInfo
  socket.close()
  await once(socket, 'close')
  return free
}

interface SharedPort {
  readonly transport: 'tcp' | 'udp'
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}
