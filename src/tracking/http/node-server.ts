import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A server of node:http that also answers requests which Node itself refuses with a JSON `message`. */
export function createNodeServer(handler: RequestListener): Server {
  const answers: Answers = new Map()
  const server = createServer({ ...TIMEOUTS, requireHostHeader: false }, (request, response) => {
    track(answers, request.socket, response)
    if (request.headers.host === undefined && request.httpVersion === '1.1') refuse(response, 400, NO_HOST)
    else handler(request, response)
  })
  server.on('connection', (socket: Socket) => {
    answers.set(socket, new Set())
    socket.once('close', () => answers.delete(socket))
  })
  // Node's own implementation, which it also calls when a server closes, ends answers that are still being sent.
  server.closeIdleConnections = () => {
    for (const [socket, open] of answers) if (open.size === 0) socket.destroy()
  }
  return server
    .on('checkExpectation', ({ socket }: IncomingMessage, response: ServerResponse) => {
      track(answers, socket, response)
      refuse(response, 417, NO_SUCH_EXPECTATION)
    })
    .on('clientError', (error: ClientError, socket: Duplex) => answerClientError(error, socket, answers.get(socket)))
}

/** The answers of each connection that are not sent completely. */
type Answers = Map<Duplex, Set<ServerResponse>>

function track(answers: Answers, socket: Duplex, response: ServerResponse): void {
  const open = answers.get(socket)
  open?.add(response)
  for (const end of ['finish', 'close']) response.once(end, () => open?.delete(response))
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': JSON_TYPE, connection: 'close' }).end(JSON.stringify({ message }))
}

interface ClientError extends NodeJS.ErrnoException {
  /** The parser's message; it quotes nothing of the request. */
  readonly reason?: string
}

/** Nothing after the error can be parsed, so the connection ends. Amid an answer, the refusal would be taken for a part of it. */
function answerClientError({ code = '', reason }: ClientError, socket: Duplex, answers?: Set<ServerResponse>): void {
  const isAnswering = answers?.values().some(({ headersSent }) => headersSent)
  if (!socket.writable || isAnswering) return void socket.destroy()
  const [status, message] = CLIENT_ERRORS.get(code) ?? [400, `this is not HTTP/1.1: ${reason ?? code}`]
  const body = JSON.stringify({ message })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

// The request time-out is what sending the largest body may take. A proxy in front closes an idle connection first, after 60 s.
const TIMEOUTS = { requestTimeout: 60_000, connectionsCheckingInterval: 5_000, keepAliveTimeout: 72_000 }
const JSON_TYPE = 'application/json; charset=utf-8'
const NO_HOST = 'the header Host is needed'
const NO_SUCH_EXPECTATION = 'of the header Expect only 100-continue is understood: leave it out'
const CLIENT_ERRORS = new Map<string, readonly [status: number, message: string]>([
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'the request took too long to arrive: send it again, faster or in parts']],
  ['HPE_HEADER_OVERFLOW', [431, 'the URL and the headers are too long: together they may have 16 KiB']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'the extensions of the chunks are too long: leave them out']],
])
