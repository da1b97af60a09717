import { Agent, type IncomingMessage, request as send } from 'node:http'
import type { Socket } from 'node:net'
import { hostPort } from '../../../domain/addresses.ts'
import { LEFT_MS, type OldServer } from './old-server.ts'
import type { Trial } from './trial.ts'

/**
 * Sends requests that waybridge answers to the old server too, and drops its answers. Keeps the order of each client. If the
 * old server falls behind, some are left out.
 */
export class RequestFeed {
  readonly #trial: Pick<Trial, 'feeding' | 'server'>
  readonly #agent: Agent
  /** The last request of each client. */
  readonly #last = new WeakMap<Socket, Promise<void>>()

  constructor(trial: Pick<Trial, 'feeding' | 'server'>) {
    this.#trial = trial
    this.#agent = new FeedAgent(trial.server)
  }

  feed(request: IncomingMessage, body: Buffer): void {
    const { feeding } = this.#trial
    if (feeding.isFull) return
    const bytes = REQUEST_BYTES + request.rawHeaders.join('').length + body.length
    feeding.take(bytes)
    const last = this.#last.get(request.socket) ?? Promise.resolve()
    const next = last.then(() => this.#send(request, body)).finally(() => feeding.give(bytes))
    this.#last.set(request.socket, next)
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Resolves once it is answered, or will not be. */
  #send(request: IncomingMessage, body: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const fed = send({ ...targetOf(request, this.#trial.server), agent: this.#agent })
      const timer = setTimeout(() => fed.destroy(), LEFT_MS)
      fed.on('response', (answer) => answer.on('error', () => {}).resume()).on('error', () => {})
      fed.on('close', () => {
        clearTimeout(timer)
        resolve()
      })
      fed.end(body)
    })
  }
}

class FeedAgent extends Agent {
  readonly #server: OldServer

  constructor(server: OldServer) {
    super({ keepAlive: true, maxSockets: MOST_SOCKETS, timeout: LEFT_MS })
    this.#server = server
  }

  override createConnection(): Socket {
    return this.#server.connect({ allowHalfOpen: false, isFed: true })
  }
}

/** Returns the request to the old server, equal to the client's. Node speaks HTTP/1.1, which requires the host. */
export function targetOf(
  { headers, httpVersion, method, rawHeaders, url }: IncomingMessage,
  server: Pick<OldServer, 'host' | 'port'>,
) {
  const { host, port } = server
  const lacksHost = httpVersion === '1.0' && headers.host === undefined
  const given = lacksHost ? ['Host', hostPort(server), ...rawHeaders] : rawHeaders
  return { host, port, method, path: url, headers: given as readonly string[], setHost: false }
}

const MOST_SOCKETS = 32
/** Memory of a request beside its text. */
const REQUEST_BYTES = 2000
