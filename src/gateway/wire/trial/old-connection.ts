import { Agent, type ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { LEFT_MS, type OldServer } from './old-server.ts'

/**
 * The connection to the old server that stands for one of a client: the client's ends with it. It ends with the client's, once the
 * requests that had come are answered.
 */
export class OldConnection extends Agent {
  /** Whether nothing may be passed on any more: the client has left, and the old server's time to answer is over. */
  isOver = false
  readonly #server: OldServer
  readonly #client: Socket
  readonly #passing = new Set<ClientRequest>()

  constructor(server: OldServer, client: Socket) {
    super({ keepAlive: true, maxSockets: 1 })
    this.#server = server
    this.#client = client
    if (client.destroyed) this.#lost()
    else client.once('close', () => this.#lost())
  }

  /** Call it for each request. */
  passes(request: ClientRequest): void {
    this.#passing.add(request)
    request.on('close', () => {
      this.#passing.delete(request)
      if (this.#client.destroyed && this.#passing.size === 0) this.destroy()
    })
  }

  override createConnection(): Socket {
    const socket = this.#server.connect({ allowHalfOpen: false })
    // A client that waits for an answer sees the error of its request.
    socket.on('close', () => {
      if (Object.values(this.freeSockets).flat().includes(socket)) this.#client.end()
    })
    return socket
  }

  #lost(): void {
    if (this.#passing.size === 0) return this.destroy()
    const end = () => {
      this.isOver = true
      this.destroy()
    }
    setTimeout(end, LEFT_MS).unref()
  }
}
