import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Takes from a server of node:http the listener that reads requests, and returns it: the caller first reads the PROXY header
 * and does the TLS handshake. Node documents that a connection may be handed to a server by emitting `connection`, but it
 * enforces `headersTimeout` and `requestTimeout` only in a server that listens, and that server emits the event for its own
 * connections.
 */
export function takeConnections(server: Server): (socket: Socket) => void {
  const [serve] = server.listeners('connection')
  server.removeAllListeners('connection')
  return (socket) => serve.call(server, socket)
}

/**
 * Makes a server answer a client that has ended its half of the connection. Node ends the other half at once, and no option
 * turns that off; this undocumented property does.
 */
export function allowHalfOpen(server: Server & { httpAllowHalfOpen?: boolean }): void {
  server.httpAllowHalfOpen = true
}
