import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { within } from '../async.ts'
import { metrics } from '../observe/metrics.ts'
import { createDoor } from './doors.ts'
import { type Refusal, rawAnswer, refusals } from './http/answer.ts'
import { type Line, serve } from './http/exchange.ts'
import { createTurns } from './http/turns.ts'
import { type Endpoint, type Listener, PATIENCE_MS, type Shared } from './listener.ts'
import { ended, listening } from './server.ts'

/**
 * Trackers over HTTP: a request is a frame, in a session of its own, and the status says what became of it. On bare
 * node:http: there is one handler, whatever the path, so that a framework would only add its cost.
 */
export async function listenHttp({ host, port, protocol }: Endpoint, shared: Shared): Promise<Listener> {
  const { admission, limits, logger, pressure } = shared
  const door = createDoor('http', admission)
  const line: Line = { ...shared, protocol, answering: new Set(), closing: false }
  const turns = createTurns((request, response) => serve(line, request, response), pressure)
  const server = createServer(
    {
      headersTimeout: limits.identify_timeout,
      requestTimeout: limits.identify_timeout,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: limits.idle_timeout,
      keepAlive: true,
      noDelay: true,
    },
    turns.receive,
  )
  server.on('connection', (socket) => void door.enter(socket))
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) =>
    turnAway(socket as Socket, { code, answer: !turns.isAnswering(socket as Socket) }),
  )
  const actualPort = await listening(server, { host, port }, logger)
  return {
    port: actualPort,
    async close(patienceMs = PATIENCE_MS) {
      line.closing = true
      door.close()
      const over = ended(server)
      await within(patienceMs, Promise.all(line.answering))
      server.closeAllConnections()
      await over
    },
  }
}

/** Ends a connection whose bytes are no request, or not all of one; answered, unless another answer is due before. */
function turnAway(socket: Socket, { code = '', answer }: { readonly code?: string; readonly answer: boolean }): void {
  const reason = CLIENT_ERRORS[code] ?? (code.startsWith('HPE_') ? 'malformed_request' : undefined)
  if (reason) {
    metrics.refused.inc({ reason })
    if (answer && socket.writable) socket.write(rawAnswer(refusals[reason]))
  }
  socket.destroy()
}

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'not_identified',
  HPE_HEADER_OVERFLOW: 'headers_too_long',
}
