import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { metrics } from '../../observe/metrics.ts'
import type { Pressure } from '../pressure.ts'
import { FRAMES_A_REQUEST } from './exchange.ts'

type Exchange = [request: IncomingMessage, response: ServerResponse]

/** The requests of a connection, one at a time. */
interface Turns {
  receive(...exchange: Exchange): void
  /** Whether a request that is complete is not answered yet on a connection. */
  isAnswering(socket: Socket): boolean
}

/**
 * Serves the requests of a connection in their order, each after the answer to the one before. A client may send a few
 * ahead; who sends many is cut off.
 */
export function createTurns(serve: (...exchange: Exchange) => Promise<void>, pressure: Pressure): Turns {
  const queues = new WeakMap<Socket, Exchange[]>()

  async function serveAll(socket: Socket, queue: Exchange[]): Promise<void> {
    for (let next = queue[0]; next; next = queue[0]) {
      if (!socket.destroyed) await serve(...next)
      queue.shift()
      if (queue.length > 0) pressure.remove(0, FRAMES_A_REQUEST)
    }
    queues.delete(socket)
  }

  return {
    receive(request, response) {
      const { socket } = request
      const queue = queues.get(socket) ?? []
      if (queue.length === MAX_AHEAD) return cutOff(socket)
      queue.push([request, response])
      if (queue.length > 1) return pressure.add(0, FRAMES_A_REQUEST)
      queues.set(socket, queue)
      void serveAll(socket, queue)
    },
    isAnswering: (socket) => queues.get(socket)?.[0][0].complete ?? false,
  }
}

/**
 * Ends a connection in the midst of a chunk. node:http would go on and keep thousands of requests of it until the end of
 * the event loop's round: what its parser still finds is nobody's.
 */
function cutOff(socket: Socket & { parser?: { onIncoming: () => number } }): void {
  if (socket.parser) socket.parser.onIncoming = () => WITHOUT_BODY
  metrics.refused.inc({ reason: 'pipelining' })
  socket.destroy()
}

/** Requests of one connection that are not answered. Trackers send one, and wait. */
const MAX_AHEAD = 16
/** What the parser is told about a request whose body does not matter. */
const WITHOUT_BODY = 2
