import { Agent, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpRequest, Message, Protocol } from '../../../../protocols/kit/index.ts'
import { type Origin, sessionOf } from '../../admit/acceptor.ts'
import { isSameButFor } from '../../trial/comparison.ts'
import { decompressed } from '../content-encoding.ts'
import { answerTo, type HttpExchanges, type HttpReply, replyOf } from '../http-exchange.ts'
import type { Shared } from '../listener.ts'
import { deviceNamedIn } from './first-device.ts'
import { reset } from './old-server.ts'
import type { Trial } from './trial.ts'

interface RequestsContext extends Pick<Shared, 'detector' | 'limits'> {
  readonly trial: Trial
  readonly protocol: Protocol
  readonly port: number
  /** Answers the requests of devices that we answer ourselves. */
  readonly exchanges: Pick<HttpExchanges, 'answer'>
}

/** Passes the requests of one listener to an old server, and its answers back. */
export class TrialRequests {
  readonly #context: RequestsContext
  readonly #servers = new WeakMap<Socket, OldConnection>()

  constructor(context: RequestsContext) {
    this.#context = context
  }

  /** Resolves once the answer is written, or the client is gone. */
  async serve(request: IncomingMessage, response: ServerResponse, origin: Origin): Promise<void> {
    const { exchanges, trial } = this.#context
    const body = new BodyCopy(this.#context.limits.max_frame_bytes)
    if (!trial.hasSwitched) return this.#pass(request, response, { origin, body })
    const beginning = await beginningOf(request, body)
    const whole = body.whole
    const entry = whole && this.#switched(request, whole)
    if (!whole || !entry) return this.#pass(request, response, { origin, body, beginning })
    if (entry.feed) this.#feed(request, whole)
    await exchanges.answer(request, whole, response)
  }

  #switched(request: IncomingMessage, body: Buffer) {
    const device = deviceNamedIn(requestOf(request, body), 'http', this.#context)
    return device === undefined ? undefined : this.#context.trial.switched(device)
  }

  /** `beginning`: what was read of the body already. */
  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    { origin, body, beginning }: { origin: Origin; body: BodyCopy; beginning?: Buffer },
  ): Promise<void> {
    const answer = new BodyCopy(this.#context.limits.max_frame_bytes)
    const { promise, resolve } = Promise.withResolvers<void>()
    const connection = this.#serverOf(request.socket)
    const passed = send({ ...this.#targetOf(request), agent: connection })
    response.sendDate = false
    response.on('close', () => {
      if (!response.writableFinished) passed.destroy()
      resolve()
    })
    passed.on('error', () => reset(request.socket))
    passed.on('response', (from) => {
      response.writeHead(from.statusCode ?? 502, from.statusMessage ?? '', from.rawHeaders)
      from.on('data', (bytes: Buffer) => answer.add(bytes)).on('error', () => reset(request.socket))
      from.on('end', () => {
        answer.end()
        this.#copy(request, origin, { body, answer, status: from.statusCode ?? 0 })
      })
      from.pipe(response)
    })
    if (beginning === undefined) request.on('data', (bytes: Buffer) => body.add(bytes)).on('end', () => body.end())
    else if (beginning.length > 0) passed.write(beginning)
    if (request.readableEnded) passed.end()
    else request.pipe(passed)
    await promise
  }

  /** Sends a request to the old server whose answer nobody waits for. */
  #feed(request: IncomingMessage, body: Buffer): void {
    const fed = send({ ...this.#targetOf(request), agent: this.#serverOf(request.socket) })
    fed.on('response', (from) => from.resume()).on('error', () => {})
    fed.end(body)
  }

  #targetOf({ method, rawHeaders, url }: IncomingMessage) {
    const { host, port } = this.#context.trial.server
    return { host, port, method, path: url, headers: rawHeaders as readonly string[], setHost: false }
  }

  #serverOf(socket: Socket): OldConnection {
    const known = this.#servers.get(socket)
    if (known) return known
    const connection = new OldConnection(this.#context.trial, socket)
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
    const { whole } = body
    const content = whole && (await decompressed(whole, request.headers['content-encoding'], limits.max_frame_bytes))
    if (content === undefined || typeof content === 'string') return trial.missed(session, protocol)
    const frame = requestOf(request, content)
    const outcome = await trial.take(frame, session, protocol)
    trial.took(session, protocol, outcome)
    const { read, readAt = 0 } = outcome
    if (outcome.status === 'refused' || !answer.whole) return
    const ours = bytesOf(read === undefined || read instanceof Error ? answerTo(outcome) : replyOf(read))
    const old = bytesOf({ status, body: answer.whole })
    const timeBytes = () =>
      trial.timeBytes({ frame, session, protocol, at: readAt }, ours, (message: Message) => bytesOf(replyOf(message)))
    const isEqual = ours.equals(old) || (ours.length === old.length && isSameButFor(ours, old, timeBytes()))
    trial.compared(session, protocol, isEqual ? { isEqual } : { isEqual, frame: beginningBytes(frame), ours, old })
  }
}

/** A request that was answered by the old server. */
interface PassedRequest {
  readonly body: BodyCopy
  readonly answer: BodyCopy
  readonly status: number
}

/** The connection to the old server that stands for one of a client: it ends with that, and that ends with it. */
class OldConnection extends Agent {
  readonly #trial: Trial
  readonly #client: Socket

  constructor(trial: Trial, client: Socket) {
    super({ keepAlive: true, maxSockets: 1 })
    this.#trial = trial
    this.#client = client
    client.on('close', () => this.destroy())
  }

  override createConnection(): Socket {
    const socket = this.#trial.server.connect({ allowHalfOpen: false })
    const client = this.#client
    // A client that waits for an answer sees the error of its request.
    socket.on('close', () => {
      if (Object.values(this.freeSockets).flat().includes(socket)) client.end()
    })
    return socket
  }
}

/** A body that is kept while it passes, up to a length. */
class BodyCopy {
  readonly #most: number
  readonly #parts: Buffer[] = []
  #length = 0
  #isComplete = false

  constructor(most: number) {
    this.#most = most
  }

  add(bytes: Buffer): void {
    this.#length += bytes.length
    if (!this.isTooLong) this.#parts.push(bytes)
    else this.#parts.length = 0
  }

  end(): void {
    this.#isComplete = true
  }

  get isTooLong(): boolean {
    return this.#length > this.#most
  }

  /** undefined: it is too long, or not complete. */
  get whole(): Buffer | undefined {
    return this.#isComplete && !this.isTooLong ? Buffer.concat(this.#parts) : undefined
  }
}

/** Reads a body to its end, or until it is too long to be looked at. Resolves with what was read. */
function beginningOf(request: IncomingMessage, body: BodyCopy): Promise<Buffer> {
  const read: Buffer[] = []
  return new Promise((resolve) => {
    const done = () => {
      request.off('data', add).off('end', end).off('close', done)
      resolve(Buffer.concat(read))
    }
    const end = () => {
      body.end()
      done()
    }
    const add = (bytes: Buffer) => {
      read.push(bytes)
      body.add(bytes)
      if (!body.isTooLong) return
      request.pause()
      done()
    }
    request.on('data', add).on('end', end).on('close', done)
  })
}

function requestOf({ method = '', url: uri = '', headers }: IncomingMessage, body: Buffer): HttpRequest {
  return { method, uri, headers: headers as HttpRequest['headers'], body }
}

/** What is compared of an answer: its status and its body. */
function bytesOf({ status, body }: Pick<HttpReply, 'status' | 'body'>): Buffer {
  return Buffer.concat([Buffer.from(`${status} `), body])
}

function beginningBytes({ method, uri, body }: HttpRequest): Buffer {
  return Buffer.concat([Buffer.from(`${method} ${uri}\n`), body])
}
