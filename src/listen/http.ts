import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpRequest } from '../../protocols/kit/index.ts'
import { createSession, type Outcome } from '../ingest/index.ts'
import { metrics } from '../observe/metrics.ts'
import { answerTo, type HttpAnswer, rawAnswer, refusals } from './http-answer.ts'
import { type Endpoint, type Listener, MAX_HELD_BYTES, type Shared } from './listener.ts'
import { listening } from './server.ts'

type Reason = keyof typeof refusals

/**
 * Trackers over HTTP: a request is a frame, in a session of its own, and the status says what became of it. On bare
 * node:http: there is one handler, whatever the path, so that a framework would only add its cost.
 */
export async function listenHttp({ host, port, protocol }: Endpoint, shared: Shared): Promise<Listener> {
  const { admission, heard, ingest, limits, logger, pressure } = shared
  const { frame: frameOf } = protocol.http as { frame: (request: HttpRequest) => Buffer }
  const answering = new Set<Promise<void>>()
  const open = metrics.connections.labels('http')
  let held = 0
  let closing = false

  function accept(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    if (closing || !admission.enter(address)) {
      socket.destroy()
      return
    }
    open.inc()
    socket.on('close', () => {
      open.dec()
      admission.leave(address)
    })
  }

  /**
   * Reads a request to its end, also one that is refused: a client that writes may not read. One that is far too long is
   * cut off.
   */
  function receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    let length = 0
    let kept = 0
    let refusal: Reason | undefined = pressure.high ? 'overload' : undefined
    const keep = (bytes: number) => {
      held += bytes - kept
      kept = bytes
    }
    request.on('data', (bytes: Buffer) => {
      length += bytes.length
      if (length > limits.max_frame_bytes) refusal ??= 'frame_too_long'
      else if (held > MAX_HELD_BYTES) refusal ??= 'memory'
      if (refusal) chunks.length = 0
      else chunks.push(bytes)
      keep(refusal ? 0 : length)
      if (length <= limits.max_frame_bytes * 16) return
      request.pause()
      void refuse(response, 'frame_too_long').finally(() => request.destroy())
    })
    request.on('end', () => {
      const work = refusal ? refuse(response, refusal) : answer(request, Buffer.concat(chunks), response)
      answering.add(work)
      void work.finally(() => answering.delete(work))
    })
    request.on('close', () => keep(0))
  }

  async function answer(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const outcome = await take(request, body).catch((error: unknown): Outcome => {
      logger.error({ err: error, protocol: protocol.name }, 'fault in handling a request')
      return { status: 'not_stored' }
    })
    await send(response, answerTo(outcome))
  }

  async function take({ method = '', url = '', headers, socket }: IncomingMessage, body: Buffer): Promise<Outcome> {
    const session = createSession('http', `${socket.remoteAddress}:${socket.remotePort}`)
    const frame = frameOf({ method, uri: url, headers: headers as HttpRequest['headers'], body })
    pressure.add(frame.length)
    try {
      return await ingest(frame, session, protocol)
    } finally {
      pressure.remove(frame.length)
      heard.gone(session)
    }
  }

  function refuse(response: ServerResponse, reason: Reason): Promise<void> {
    metrics.refused.inc({ reason })
    return send(response, refusals[reason])
  }

  /** Resolves once the answer is written, or the client is gone. */
  async function send(response: ServerResponse, { status, headers, body }: HttpAnswer): Promise<void> {
    if (response.closed) return
    if (closing) response.shouldKeepAlive = false
    response.writeHead(status, { ...headers, 'content-length': body.length })
    response.end(body)
    await once(response, 'close')
  }

  const server = createServer(
    {
      headersTimeout: limits.identify_timeout,
      requestTimeout: limits.identify_timeout,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: limits.idle_timeout,
      keepAlive: true,
      noDelay: true,
    },
    receive,
  )
  server.on('connection', accept)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => turnAway(socket as Socket, error.code))
  const actualPort = await listening(server, { host, port }, logger)
  return {
    port: actualPort,
    async close() {
      closing = true
      const done = new Promise<void>((resolve) => server.close(() => resolve()))
      await Promise.all(answering)
      server.closeAllConnections()
      await done
    },
  }
}

/** Ends a connection whose bytes are no request, or not all of one. */
function turnAway(socket: Socket, code = ''): void {
  const reason = CLIENT_ERRORS[code] ?? (code.startsWith('HPE_') ? 'malformed_request' : undefined)
  if (reason) {
    metrics.refused.inc({ reason })
    if (socket.writable) socket.write(rawAnswer(refusals[reason]))
  }
  socket.destroy()
}

const CLIENT_ERRORS: Readonly<Record<string, Reason>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'not_identified',
  HPE_HEADER_OVERFLOW: 'headers_too_long',
}
