import { createServer, type RequestListener, type Server, ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * A server of node:http that answers what Node refuses by itself, before there is a request, with a JSON `message` like
 * everything else.
 */
export function createNodeServer(handler: RequestListener): Server {
  const server = createServer({ ...TIMEOUTS, requireHostHeader: false }, (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') refuse(response, 400, NO_HOST)
    else handler(request, response)
  })
  closeOnlyIdle(server)
  return server
    .on('checkExpectation', (_request, response: ServerResponse) => refuse(response, 417, NO_SUCH_EXPECTATION))
    .on('clientError', answerClientError)
}

/** Node's own way to close idle connections, at the end of a server too, cuts an answer that is written and still on its way. */
function closeOnlyIdle(server: Server): void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.closeIdleConnections = () => {
    for (const socket of sockets) if (!answerOn(socket)) socket.destroy()
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': JSON_TYPE, connection: 'close' }).end(JSON.stringify({ message }))
}

interface ClientError extends NodeJS.ErrnoException {
  /** What the parser says, without anything of the request. */
  readonly reason?: string
}

/** There is no request yet, or no longer, and nothing after it on the connection can be understood: it ends. */
function answerClientError({ code = '', reason }: ClientError, socket: Duplex): void {
  if (!socket.writable || isAnswering(socket)) return void socket.destroy()
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

/** As Node's own handler does: in the middle of an answer another one would be taken for a part of it. */
function isAnswering(socket: Duplex): boolean {
  return answerOn(socket)?.headersSent ?? false
}

/** What is being answered on a connection, until all of it is sent. */
function answerOn({ _httpMessage: answer }: Duplex & { readonly _httpMessage?: ServerResponse | null }) {
  return answer
}

// As long as it may take to send the largest body. A proxy in front closes an idle connection first, after 60 s.
const TIMEOUTS = { requestTimeout: 60_000, connectionsCheckingInterval: 5_000, keepAliveTimeout: 72_000 }
const JSON_TYPE = 'application/json; charset=utf-8'
const NO_HOST = 'the header Host is needed'
const NO_SUCH_EXPECTATION = 'of the header Expect only 100-continue is understood: leave it out'
const CLIENT_ERRORS = new Map<string, readonly [status: number, message: string]>([
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'the request took too long to arrive: send it again, faster or in parts']],
  ['HPE_HEADER_OVERFLOW', [431, 'the URL and the headers are too long: together they may have 16 KiB']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'the extensions of the chunks are too long: leave them out']],
])
