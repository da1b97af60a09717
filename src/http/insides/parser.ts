import type { Socket } from 'node:net'
import { metrics } from '../../observe/metrics.ts'

/**
 * Ends a connection in the middle of a chunk. A chunk of 64 KB holds up to 2,400 requests, and node:http creates a request
 * and a response for each before it looks at the socket again. No public API stops its parser: `socket.destroy()` takes
 * effect after the chunk, `maxRequestsPerSocket` answers each further request with 503, and a `Duplex` around every socket
 * would cost every request. So this replaces the parser's internal callback; a Node without that callback loses only the
 * bound on memory.
 */
export function endFlood(socket: Socket & { parser?: { onIncoming: () => number } }): void {
  if (socket.parser) socket.parser.onIncoming = () => SKIP_BODY
  metrics.refused.inc({ reason: 'pipelining' })
  socket.destroy()
}

/**
 * Stops reading a connection after the present chunk, as node:http does itself while a client does not read: a public `pause()`
 * lasts until some request of the connection is read.
 */
export function stopReading(socket: HeldSocket): void {
  socket[PAUSED] = true
  socket.pause()
}

/** Reads on. */
export function readOn(socket: HeldSocket): void {
  socket[PAUSED] = false
  socket.parser?.resume()
  socket.resume()
}

const PAUSED = '_paused'
type HeldSocket = Socket & { [PAUSED]?: boolean; parser?: { resume: () => void } | null }

/** Tells the parser that a request has no body. */
const SKIP_BODY = 2
