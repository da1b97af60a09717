import type { Server } from 'node:http'

/**
 * Makes a server end its idle connections with `end`. Node's `server.close()` and fastify call `closeIdleConnections()`, and
 * no option turns that off. Node's implementation considers a connection idle once `response.end()` was called, and so ends
 * answers that are still being sent.
 */
export function replaceIdleEnd(server: Pick<Server, 'closeIdleConnections'>, end: () => void): void {
  server.closeIdleConnections = end
}
