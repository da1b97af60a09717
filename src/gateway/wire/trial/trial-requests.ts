import type { EventEmitter } from 'node:events'
import { type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpRequest, Message, Protocol } from '../../../../protocols/kit/index.ts'
import { type Origin, sessionOf } from '../../admit/acceptor.ts'
import { isSameButFor } from '../../trial/comparison.ts'
import { timeBytesOf } from '../../trial/time-bytes.ts'
import { decompressed } from '../content-encoding.ts'
import { answerTo, type HttpExchanges, type HttpReply, replyOf } from '../http-exchange.ts'
import type { Shared } from '../listener.ts'
import { BodyCopy, BodyRoom, RequestBody } from './bodies.ts'
import { deviceNamedIn } from './first-device.ts'
import { OldConnection } from './old-connection.ts'
import { NAMED_MS, reset } from './old-server.ts'
import { RequestFeed, targetOf } from './request-feed.ts'
import type { Trial } from './trial.ts'

interface RequestsContext extends Pick<Shared, 'detector' | 'limits'> {
  readonly trial: Trial
  readonly protocol: Protocol
  readonly port: number
  /** Answers the requests of devices that waybridge answers itself. */
  readonly exchanges: Pick<HttpExchanges, 'answer'>
}

/** Passes the requests of one listener to an old server, and its answers back. */
export class TrialRequests {
  readonly #context: RequestsContext
  readonly #room: BodyRoom
  readonly #feed: RequestFeed
  readonly #bodies = new WeakMap<IncomingMessage, RequestBody>()
  readonly #servers = new WeakMap<Socket, OldConnection>()

  constructor(context: RequestsContext) {
    this.#context = context
    this.#room = new BodyRoom(context.limits.max_frame_bytes)
    this.#feed = new RequestFeed(context.trial)
  }

  /** Call it when a request arrives, before it has its turn. */
  arrived(request: IncomingMessage): void {
    this.#bodies.set(request, new RequestBody(request, this.#room))
  }

  /** Resolves once the answer is written. The old server gets also the complete requests of a client that is gone. */
  async serve(request: IncomingMessage, response: ServerResponse, origin: Origin): Promise<void> {
    const body = this.#bodies.get(request) ?? new RequestBody(request, this.#room)
    try {
      await this.#serve(request, response, { origin, body })
    } catch (error) {
      this.#context.trial.fault(error)
      reset(request.socket)
    } finally {
      body.copy.drop()
    }
  }

  close(): void {
    this.#feed.close()
  }

  async #serve(request: IncomingMessage, response: ServerResponse, { origin, body }: RequestInTurn): Promise<void> {
    const { exchanges, trial } = this.#context
    const entry = trial.hasSwitched ? await this.#switched(request, response, body) : undefined
    const isLost = request.socket.destroyed
    if (isLost && !body.copy.isWhole) return
    if (!entry) return this.#pass(request, response, { origin, body })
    const { whole } = body.copy
    if (!whole) return
    if (entry.feed) this.#feed.feed(request, whole)
    if (!isLost) await exchanges.answer(request, whole, response)
  }

  /** The entry of the device in a request, if we answer it. */
  async #switched(request: IncomingMessage, response: ServerResponse, body: RequestBody) {
    const { limits, trial } = this.#context
    if (!body.copy.isComplete && isContinueExpected(request)) response.writeContinue()
    await body.beginning(NAMED_MS)
    const { whole } = body.copy
    const content = whole && (await decompressed(whole, request.headers['content-encoding'], limits.max_frame_bytes))
    if (content === undefined || typeof content === 'string') return undefined
    const device = deviceNamedIn(requestOf(request, content), 'http', this.#context)
    return device === undefined ? undefined : trial.switched(device)
  }

  /** Resolves once the answer is written; if the client is gone, once the old server has answered. */
  async #pass(request: IncomingMessage, response: ServerResponse, { origin, body }: RequestInTurn): Promise<void> {
    const { server } = this.#context.trial
    const { socket } = request
    const connection = this.#serverOf(socket)
    if (connection.isOver) return
    const answer = new BodyCopy(this.#room)
    const passed = send({ ...targetOf(request, server), agent: connection })
    connection.passes(passed)
    passed.on('error', () => reset(socket))
    passed.on('continue', () => {
      if (!response.headersSent && isContinueExpected(request)) response.writeContinue()
    })
    passed.on('response', (from) => {
      from.on('data', (bytes: Buffer) => answer.add(bytes)).on('error', () => reset(socket))
      from.on('end', () => {
        answer.end()
        this.#copy(request, origin, { body: body.copy.whole, answer: answer.whole, status: from.statusCode ?? 0 })
      })
      giveAnswer(from, response)
    })
    response
      .on('error', () => {})
      .on('close', () => {
        if (!body.copy.isComplete) passed.destroy()
      })
    body.passTo(passed)
    await Promise.all([closed(passed), socket.destroyed || closed(response)])
    answer.drop()
  }

  #serverOf(socket: Socket): OldConnection {
    const known = this.#servers.get(socket)
    if (known) return known
    const connection = new OldConnection(this.#context.trial.server, socket)
    this.#servers.set(socket, connection)
    return connection
  }

  #copy(request: IncomingMessage, origin: Origin, passed: PassedRequest): void {
    const { trial } = this.#context
    this.#take(request, origin, passed).catch((error: unknown) => trial.fault(error))
  }

  async #take(request: IncomingMessage, origin: Origin, { answer, body, status }: PassedRequest): Promise<void> {
    const { limits, port, protocol, trial } = this.#context
    const session = sessionOf('http', origin, { port, trial })
    const content = body && (await decompressed(body, request.headers['content-encoding'], limits.max_frame_bytes))
    if (content === undefined || typeof content === 'string') return trial.missed(session, protocol)
    const frame = requestOf(request, content)
    const outcome = await trial.take(frame, session, protocol)
    trial.took(session, protocol, outcome)
    const { read, readAt = 0 } = outcome
    if (outcome.status === 'refused' || !answer) return
    const ours = bytesOf(read === undefined || read instanceof Error ? answerTo(outcome) : replyOf(read))
    const old = bytesOf({ status, body: answer })
    const timeBytes = () =>
      timeBytesOf({ frame, session, protocol, at: readAt }, ours, (message: Message) => bytesOf(replyOf(message)))
    const isEqual = ours.equals(old) || (ours.length === old.length && isSameButFor(ours, old, timeBytes()))
    trial.compared(session, protocol, isEqual ? { isEqual } : { isEqual, frame: beginningBytes(frame), ours, old })
  }
}

interface RequestInTurn {
  readonly origin: Origin
  readonly body: RequestBody
}

/** A request that was answered by the old server; a body is undefined if there was no room to copy it. */
interface PassedRequest {
  readonly body: Buffer | undefined
  readonly answer: Buffer | undefined
  readonly status: number
}

/** Passes an answer to the client unchanged, at the client's pace; reads it to its end even if the client has left. */
function giveAnswer(from: IncomingMessage, response: ServerResponse): void {
  const { httpVersion, socket } = response.req
  if (socket.destroyed) return
  const { headers, rawHeaders, statusCode = 0, statusMessage = '' } = from
  // HTTP/1.0 has no chunks: the end of the connection ends the body.
  const isOfOld = httpVersion === '1.0'
  const pairs = rawHeaders.map((name, at) => [name, rawHeaders[at + 1]]).filter((_, at) => at % 2 === 0)
  const given = pairs.filter(([name]) => !isOfOld || name.toLowerCase() !== 'transfer-encoding')
  // Node adds none of these.
  response.sendDate = false
  if (!headers['content-length'] && !headers['transfer-encoding']) response.removeHeader('transfer-encoding')
  response.removeHeader('connection')
  try {
    response.writeHead(statusCode, statusMessage, given.flat())
  } catch {
    return reset(socket)
  }
  from.on('data', (bytes: Buffer) => {
    if (socket.destroyed || response.write(bytes)) return
    from.pause()
    response.once('drain', () => from.resume())
  })
  from.on('end', () => response.end())
  response.on('close', () => from.resume())
}

/** Resolves once it is closed, also by an error. */
function closed(emitter: EventEmitter): Promise<unknown> {
  return new Promise((resolve) => emitter.once('close', resolve))
}

function isContinueExpected({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion !== '1.0' && /^100-continue$/i.test(headers.expect ?? '')
}

function requestOf({ method = '', url: uri = '', headers }: IncomingMessage, body: Buffer): HttpRequest {
  return { method, uri, headers: headers as HttpRequest['headers'], body }
}

/** Returns the compared parts of an answer: its status and its body. */
function bytesOf({ status, body }: Pick<HttpReply, 'status' | 'body'>): Buffer {
  return Buffer.concat([Buffer.from(`${status} `), body])
}

function beginningBytes({ method, uri, body }: HttpRequest): Buffer {
  return Buffer.concat([Buffer.from(`${method} ${uri}\n`), body])
}
