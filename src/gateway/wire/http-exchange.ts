import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import {
  type HttpAnswer,
  type HttpRequest,
  isJson,
  type Message,
  type Protocol,
  repliesOf,
} from '../../../protocols/kit/index.ts'
import { addressOf, networkOf } from '../../domain/addresses.ts'
import { logFault } from '../../observe/faults.ts'
import { metrics } from '../../observe/metrics.ts'
import { type Origin, sessionOf } from '../admit/acceptor.ts'
import { ReceivedBytes } from '../admit/backpressure.ts'
import { pauseOf } from '../admit/connections.ts'
import { inNetwork, MAX_DEBT_MS, tokensOf } from '../admit/flood.ts'
import { bytesReceived, bytesSent, connectionBegan } from '../air.ts'
import type { Conversation } from '../conversation.ts'
import { answeredIn, type Outcome } from '../outcome.ts'
import { decompressed, ENCODINGS } from './content-encoding.ts'
import type { Guess } from './detect.ts'
import type { Shared } from './listener.ts'
import { isStored, replacementIn } from './protocol-choice.ts'

/** How many frames a request counts as. */
export const FRAMES_PER_REQUEST = 2

/** Reads the requests of one listener and answers them. */
export class HttpExchanges {
  #isClosing = false
  readonly #shared: Shared
  readonly #protocol: Protocol
  readonly #originOf: (request: IncomingMessage) => Origin | undefined
  /** Requests that are being stored and answered. */
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #connections = new WeakMap<Socket, RequestConnection>()
  /** Of the requests that came from a device itself. */
  readonly #sessions = new WeakMap<IncomingMessage, Conversation>()

  /** `originOf`: returns the sender of a request; undefined if it may not connect. */
  constructor(shared: Shared, protocol: Protocol, originOf: (request: IncomingMessage) => Origin | undefined) {
    this.#shared = shared
    this.#protocol = protocol
    this.#originOf = originOf
  }

  /** Resolves once the answer is written, or the client is gone. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, this.#shared)
    if (body !== undefined) await this.answer(request, body, response)
  }

  /** The same for a request whose body was read, or is refused. */
  async answer(request: IncomingMessage, body: Buffer | RequestRefusal, response: ServerResponse): Promise<void> {
    const work = this.#answerOf(request, body)
      .then((answer) => this.#send(answer, response))
      .then(() => this.#carried(request))
      .catch((error: unknown) => {
        logFault(this.#shared.logger, error, this.#faultPlace)
        response.destroy()
      })
      .finally(() => this.#underWay.delete(work))
    this.#underWay.add(work)
    await work
    // `readBody` stops reading a body that is much too long: end the connection rather than read on.
    if (!request.complete) request.destroy()
  }

  /** Resolves once every request that was read is answered. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#underWay)
  }

  async #answerOf(request: IncomingMessage, body: Buffer | RequestRefusal): Promise<HttpReply> {
    const origin = this.#originOf(request)
    if (!origin) return refuse('network')
    if (typeof body === 'string') return refuse(body)
    const content = await decompressed(body, request.headers['content-encoding'], this.#shared.limits.max_frame_bytes)
    if (typeof content === 'string') return refuse(content)
    return this.#take(request, content, origin).then(answerTo, (error: unknown) => {
      this.#shared.journal.fault(error, this.#faultPlace)
      return NOT_STORED
    })
  }

  get #faultPlace() {
    return { what: 'fault in handling a request', protocol: this.#protocol.name }
  }

  async #take(incoming: IncomingMessage, body: Buffer, origin: Origin): Promise<Outcome> {
    const { method = '', url: uri = '', headers, socket } = incoming
    const { flood, pressure } = this.#shared
    const network = networkOf(origin.address)
    const bytes = uri.length + body.length
    const tokens = tokensOf(1, bytes)
    const admits: Conversation['admits'] = ({ id, entry }) =>
      flood.admit('device', inNetwork(id, network, entry !== undefined), tokens)
    const session = sessionOf('http', origin, { admits, port: socket.localPort ?? 0 })
    // The connection of a proxy is not that of a device.
    if (origin.port !== 0) this.#sessions.set(incoming, session)
    if (!(await waited(flood.take('network', network, tokens), socket))) return FLOOD
    const arrivedAt = performance.now()
    pressure.add(bytes, FRAMES_PER_REQUEST)
    const request = { method, uri, headers: headers as HttpRequest['headers'], body }
    const outcome = await this.#takeRequest(request, session, socket).finally(() =>
      pressure.add(-bytes, -FRAMES_PER_REQUEST),
    )
    const isFailure = outcome.status === 'refused' || outcome.status === 'misunderstood'
    const failedMs = isFailure ? flood.take('failures', network, 1) : 0
    return (await waited(Math.max(failedMs, answeredIn([outcome], arrivedAt)), socket)) ? outcome : FLOOD
  }

  /**
   * Takes a request with a protocol that reads fixes in it, if the protocol of the port does not understand it. A protocol
   * that reads no fixes is not used: many accept any request with an id, and their 200 would replace the refusal.
   */
  async #takeRequest(request: HttpRequest, session: Conversation, socket: Socket): Promise<Outcome> {
    const { detector, ingest, journal } = this.#shared
    const expected = this.#protocol
    const { port = 0 } = session
    const outcome = await ingest.take(request, session, expected)
    if (outcome.status !== 'misunderstood') return outcome
    const guesses = detector ? await this.#guessesOf(request, session, socket) : []
    if (!guesses) return FLOOD
    const guess = replacementIn(
      guesses.filter(({ holds }) => holds === 'fixes'),
      expected,
    )
    if (!guess) {
      const json = isJson(request) ? request.body : undefined
      journal.notUnderstood(session, { port, protocol: expected.name, bytes: beginningOf(request), json, guesses })
      return outcome
    }
    session.believed(guess.evidence)
    const other = await ingest.take(request, session, guess.protocol)
    if (isStored(other) && session.device !== undefined) journal.wrongPort(session, guess.protocol, { port, expected })
    return other
  }

  /** Resolves to the possible protocols of a request, likeliest first; undefined: there is no time for detection. */
  async #guessesOf(request: HttpRequest, session: Conversation, socket: Socket): Promise<readonly Guess[] | undefined> {
    const { detector } = this.#shared
    if (!detector || request.uri.length + request.body.length > MOST_GUESSED_BYTES) return []
    return detector.budget.inTurn(networkOf(addressOf(session.remote)), {
      isGone: () => socket.destroyed,
      look: () =>
        detector.ranked(detector.look({ bytes: request, transport: 'http', now: session.now }).found, session),
      mostWaiting: MOST_WAITING,
    })
  }

  /**
   * Notes the data volume of a connection for an answered request. That of a connection with several devices is not
   * attributed.
   */
  #carried(request: IncomingMessage): void {
    const { socket } = request
    const session = this.#sessions.get(request)
    if (!session) return
    const last = this.#connections.get(socket)
    const { bytesRead: read, bytesWritten: written } = socket
    const device = last && last.device !== session.device ? null : session.device
    this.#connections.set(socket, { read, written, device })
    if (device === null) return
    if (!last) connectionBegan(session)
    bytesReceived(session, read - (last?.read ?? 0))
    bytesSent(session, written - (last?.written ?? 0))
    this.#shared.journal.carried(session)
  }

  async #send({ status, headers, body }: HttpReply, response: ServerResponse): Promise<void> {
    if (response.destroyed) return
    if (this.#isClosing) response.shouldKeepAlive = false
    response.writeHead(status, { ...headers, 'content-length': body.length })
    response.end(body)
    // Also resolves if the answer can no longer be sent.
    await once(response, 'close').catch(() => {})
  }
}

/** Returns the stored part of a request that was not understood: its first line, and the beginning of its body. */
function beginningOf({ method, uri, body }: HttpRequest): Buffer {
  return Buffer.concat([Buffer.from(`${method} ${uri}\n`), body.subarray(0, 200)])
}

/** Data volume of a connection up to its latest answer, and its device; null: several devices. */
interface RequestConnection {
  readonly read: number
  readonly written: number
  readonly device: string | null | undefined
}

/** Waits for a sender's delay. Resolves to false at once if the delay is too long. */
async function waited(ms: number, socket: Socket): Promise<boolean> {
  if (ms > 0 && ms < MAX_DEBT_MS) await pauseOf(socket, ms)
  if (ms >= MAX_DEBT_MS) metrics.refused.inc({ reason: 'flood' })
  return ms < MAX_DEBT_MS
}

/** Bytes of a request that may be of another protocol than that of its port. */
const MOST_GUESSED_BYTES = 8192
/** Requests of a network that wait until their protocol is found out: each is in memory. */
const MOST_WAITING = 50

const FLOOD = { status: 'not_stored', reason: 'flood' } satisfies Outcome

/**
 * Resolves to a request's body, or to why it is refused; undefined if the client left before its end. A refused body is read
 * to its end, since a client that writes may not read; one that is far too long is not.
 */
function readBody(
  request: IncomingMessage,
  { limits, pressure }: Pick<Shared, 'limits' | 'pressure'>,
): Promise<Buffer | RequestRefusal | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | RequestRefusal | undefined>()
  const sender = { partialBytes: 0, abort: refuseBody }
  let received: ReceivedBytes | undefined = new ReceivedBytes()
  let refusal: RequestRefusal | undefined
  let length = 0

  function refuseBody(reason: RequestRefusal): void {
    refusal ??= reason
    received = undefined
    pressure.setPartial(sender, 0)
  }

  if (pressure.isHigh) refuseBody('overload')
  request.on('data', (bytes: Buffer) => {
    length += bytes.length
    if (length > limits.max_frame_bytes) refuseBody('frame_too_long')
    received?.append(bytes)
    if (received) pressure.setPartial(sender, received.size)
    if (length <= limits.max_frame_bytes * 16) return
    request.pause()
    resolve('frame_too_long')
  })
  request.on('end', () => resolve(refusal ?? received?.bytes))
  request.on('close', () => {
    pressure.setPartial(sender, 0)
    resolve(undefined)
  })
  return promise
}

function refuse(reason: RequestRefusal): HttpReply {
  metrics.refused.inc({ reason })
  return REQUEST_REFUSALS[reason]
}

/** A response. The body of a failure is one sentence for the person who sets up the device. */
export type HttpReply = ReturnType<typeof reply>

export function answerTo(outcome: Outcome): HttpReply {
  if (outcome.status === 'stored') return replyOf(outcome)
  if (outcome.status === 'misunderstood') return sentence(400, MISUNDERSTOOD[outcome.reason])
  if (outcome.status === 'not_stored') return NOT_STORED
  return outcome.refusal ? reply(403, outcome.refusal) : REFUSED
}

/** Returns the bytes of a refusal for which node:http has no response object; the connection ends after it. */
export function rawAnswer(reason: RequestRefusal): Buffer {
  const { status, headers, body } = REQUEST_REFUSALS[reason]
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`), body])
}

/** Returns a response in the form of the protocol. A protocol that is also used over TCP has its replies as the body. */
export function replyOf({ reply: replies, response }: { reply?: Message['reply']; response?: HttpAnswer }): HttpReply {
  if (!response) return reply(200, Buffer.concat(repliesOf(replies)))
  const { status = 200, headers, body = '' } = response
  const answer = reply(status, Buffer.from(body))
  return { ...answer, headers: { ...answer.headers, ...headers } }
}

function reply(status: number, body: Buffer = Buffer.alloc(0)) {
  const isOfJson = body[0] === 0x5b || body[0] === 0x7b
  const headers: Record<string, string> = isOfJson ? { 'content-type': 'application/json' } : {}
  return { status, headers, body }
}

function sentence(status: number, text: string, headers: Record<string, string> = {}): HttpReply {
  return { status, headers: { ...TEXT, ...headers }, body: Buffer.from(`${text}\n`) }
}

const TEXT = { 'content-type': 'text/plain; charset=utf-8' }
const LATER = { 'retry-after': '10' }
const NOT_STORED = sentence(503, 'The position could not be stored.', LATER)

/** Why a request is refused before its content is looked at. */
export type RequestRefusal = keyof typeof REQUEST_REFUSALS

const REQUEST_REFUSALS = {
  frame_too_long: sentence(413, 'The request is longer than this server takes (limits.max_frame_bytes).'),
  memory: sentence(503, 'Too many requests are under way.', LATER),
  overload: sentence(503, 'Too many requests are under way.', LATER),
  not_identified: sentence(408, 'The request did not arrive in time (limits.identify_timeout).'),
  content_encoding: sentence(415, `Content-Encoding may be one of ${ENCODINGS}.`, { 'accept-encoding': ENCODINGS }),
  damaged_body: sentence(400, 'The body of the request is not what its Content-Encoding says.'),
  headers_too_long: sentence(431, 'The headers of the request are too long.'),
  network: sentence(403, 'Requests from this address are not taken (networks of the listener).'),
  malformed_request: sentence(400, 'This is not an HTTP request.'),
} as const

const MISUNDERSTOOD = {
  checksum: 'The checksum of the request does not match.',
  truncated: 'The request ends too early.',
  malformed: 'The request has no position that can be understood: see the parameters of this protocol.',
  unsupported: 'This kind of request is not understood.',
}

/** One text for all refusals, so that it does not tell which ids are configured. */
const REFUSED = sentence(
  403,
  'This device is not configured here, or it did not present its secret: check its id and its secret.',
)
