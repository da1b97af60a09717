import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Protocol } from '../../../protocols/kit/index.ts'
import { within } from '../../async.ts'
import { allowHalfOpen, takeConnections } from '../../http/insides/connections.ts'
import { endFlood, readOn, stopReading } from '../../http/insides/parser.ts'
import { metrics } from '../../observe/metrics.ts'
import { Acceptor, type Origin } from '../admit/acceptor.ts'
import type { Backpressure } from '../admit/backpressure.ts'
import { senderOf } from '../admit/forwarded.ts'
import { FRAMES_PER_REQUEST, HttpExchanges, type RequestRefusal, rawAnswer } from './http-exchange.ts'
import { openTrial } from './trial/trial.ts'
import { TrialRequests } from './trial/trial-requests.ts'
import { CLOSE_WAIT_MS, type Listener, type ProtocolEndpoint, type Shared } from './listener.ts'

/**
 * Listens for trackers over HTTP: a request is a frame in a session of its own, and the status is its outcome. Uses plain
 * node:http: with one handler for all paths, a framework would only add cost.
 */
export async function listenHttp(endpoint: ProtocolEndpoint, shared: Shared): Promise<Listener> {
  const { limits, pressure, trustedProxies } = shared
  const acceptor = new Acceptor('http', endpoint, shared)
  const origins = new WeakMap<Socket, Origin>()
  const originOf = ({ headers, socket }: IncomingMessage): Origin | undefined => {
    const origin = origins.get(socket) as Origin
    const address = senderOf(origin.address, headers, trustedProxies)
    if (!acceptor.permits(address)) return undefined
    return address === origin.address ? origin : { address, port: 0 }
  }
  const exchanges = new HttpExchanges(shared, endpoint.protocol as Protocol, originOf)
  const trial = openTrial(endpoint, shared)
  const context = { ...shared, protocol: endpoint.protocol as Protocol, port: endpoint.port, exchanges }
  const trials = trial && new TrialRequests({ ...context, trial })
  const serveOne = async (request: IncomingMessage, response: ServerResponse) => {
    const origin = trials && originOf(request)
    if (origin) await trials.serve(request, response, origin)
    else if (!request.socket.destroyed) await exchanges.serve(request, response)
  }
  const queues = new RequestQueues(serveOne, pressure, { isForOldServer: trial !== undefined })
  const add = (request: IncomingMessage, response: ServerResponse) => {
    if (trials && originOf(request)) trials.arrived(request)
    queues.add(request, response)
  }
  const server = createServer(
    {
      // With an old server, that server decides how long a client may take.
      headersTimeout: trial ? 0 : limits.identify_timeout,
      requestTimeout: trial ? 0 : limits.identify_timeout,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: trial ? 0 : Math.min(limits.idle_timeout, MAX_IDLE_MS),
      requireHostHeader: !trial,
      ...SOCKETS,
    },
    add,
  )
  allowHalfOpen(server)
  if (trials) {
    // Replaces the answer of node:http to `Expect`.
    server.on('checkExpectation', add).on('checkContinue', (request, response) => {
      if (!originOf(request)) response.writeContinue()
      add(request, response)
    })
  }
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) =>
    endBroken(socket as Socket, code, !queues.isAnswering(socket as Socket)),
  )
  const serve = takeConnections(server)
  acceptor.accept(server, (socket, origin) => {
    origins.set(socket, origin)
    serve(socket)
  })
  const opened = await acceptor.open(server, { ...SOCKETS, allowHalfOpen: true })
  return {
    port: opened.port,
    async close(waitMs = CLOSE_WAIT_MS) {
      const handshakes = acceptor.close()
      const closed = opened.close()
      await within(waitMs, exchanges.close())
      server.closeAllConnections()
      await Promise.all([closed, handshakes])
      trials?.close()
      await within(waitMs, Promise.resolve(trial?.close()))
    },
  }
}

const SOCKETS = { keepAlive: true, noDelay: true }

/** Ends a connection whose bytes are not a complete request. Answers it unless another answer is still to be sent. */
function endBroken(socket: Socket, code = '', mayAnswer: boolean): void {
  const reason = CLIENT_ERRORS.get(code) ?? (code.startsWith('HPE_') ? 'malformed_request' : undefined)
  if (reason) {
    metrics.refused.inc({ reason })
    if (mayAnswer && socket.writable) socket.write(rawAnswer(reason))
  }
  socket.destroy()
}

const CLIENT_ERRORS = new Map<string, RequestRefusal>([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'not_identified'],
  ['HPE_HEADER_OVERFLOW', 'headers_too_long'],
])

type PendingRequest = [request: IncomingMessage, response: ServerResponse]

/**
 * Serves the requests of each connection in their order, each after the answer to the one before. A client may send a few
 * ahead; a connection with too many is ended.
 */
export class RequestQueues {
  readonly #serve: (...pending: PendingRequest) => Promise<void>
  readonly #pressure: Backpressure
  readonly #isForOldServer: boolean
  readonly #queues = new WeakMap<Socket, PendingRequest[]>()
  /** Connections that are read no further. */
  readonly #stopped = new WeakSet<Socket>()
  #ahead = 0

  /**
   * `isForOldServer`: a connection with many requests ahead is read no further, and not ended, unless all together have too many; what
   * a client has sent is served also once it is gone.
   */
  constructor(
    serve: (...pending: PendingRequest) => Promise<void>,
    pressure: Backpressure,
    { isForOldServer = false } = {},
  ) {
    this.#serve = serve
    this.#pressure = pressure
    this.#isForOldServer = isForOldServer
  }

  add(...pending: PendingRequest): void {
    const [{ socket }] = pending
    const queue = this.#queues.get(socket) ?? []
    if (queue.length >= MAX_REQUESTS_AHEAD) {
      if (!this.#isForOldServer || this.#ahead >= MAX_AHEAD_IN_ALL) return endFlood(socket)
      this.#stopped.add(socket)
      stopReading(socket)
    }
    queue.push(pending)
    if (queue.length > 1) return this.#count(1)
    this.#queues.set(socket, queue)
    void this.#serveAll(socket, queue)
  }

  /** Whether a connection has a complete request that is not answered yet. */
  isAnswering(socket: Socket): boolean {
    return this.#queues.get(socket)?.[0][0].complete ?? false
  }

  async #serveAll(socket: Socket, queue: PendingRequest[]): Promise<void> {
    for (let next = queue[0]; next; next = queue[0]) {
      if (!socket.destroyed || this.#isForOldServer) await this.#serve(...next)
      queue.shift()
      if (queue.length > 0) this.#count(-1)
      if (queue.length < MAX_REQUESTS_AHEAD && this.#stopped.delete(socket)) readOn(socket)
    }
    this.#queues.delete(socket)
  }

  /** Requests that wait for an old server do not delay the end of the gateway. */
  #count(requests: number): void {
    if (this.#isForOldServer) this.#ahead += requests
    else this.#pressure.add(0, requests * FRAMES_PER_REQUEST)
  }
}

/** An idle connection ends; the next request opens a new one. */
const MAX_IDLE_MS = 60_000
/** The most unanswered requests of one connection. Trackers send one and wait. */
const MAX_REQUESTS_AHEAD = 16
/** Some kilobytes each. A chunk of 64 KB may hold 2,400. */
const MAX_AHEAD_IN_ALL = 20_000
