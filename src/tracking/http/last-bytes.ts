import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'

/**
 * Sees to it that an answer arrives: where the connection ends with it, the rest of the request is read and dropped first,
 * up to 16 MiB and 2 s (a connection that is closed with bytes unread is reset, and the answer lost). And that it is taken: a
 * reader who takes nothing for `readerMs` is cut.
 */
export function sendToTheEnd(app: FastifyInstance, readerMs: number): void {
  app.addHook('onSend', async (request, reply) => {
    reply.raw.setTimeout(readerMs)
    if (!request.raw.complete && isLast(reply)) await restOf(request.raw)
  })
}

function isLast(reply: FastifyReply): boolean {
  return !reply.raw.shouldKeepAlive || reply.getHeader('connection') === 'close'
}

function restOf(request: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const late = setTimeout(resolve, MAX_REST_MS)
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_REST_BYTES) resolve()
  })
  for (const end of ['end', 'error', 'close']) request.once(end, resolve)
  request.resume()
  return promise.finally(() => clearTimeout(late))
}

const MAX_REST_BYTES = 16 * 1024 * 1024
const MAX_REST_MS = 2_000
