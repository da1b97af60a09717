import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Issued } from './certificates.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** What a request had. */
export interface AskedRoster {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** What it was answered; undefined while it is not. */
  status?: number
}

/** A system that serves rosters, on a real socket of localhost; it ends with the test. */
export class RosterServer {
  readonly requests: AskedRoster[] = []
  /** By default the text, with its ETag. */
  answer: Answer = (request, response) => this.#serve(request, response)
  text = ''
  readonly #server: Server
  readonly #scheme: string

  private constructor(certificate: Issued | undefined) {
    const heard: Answer = (request, response) => {
      const asked: AskedRoster = { path: request.url ?? '', headers: request.headers }
      this.requests.push(asked)
      response.on('finish', () => (asked.status = response.statusCode))
      return this.answer(request, response)
    }
    this.#scheme = certificate ? 'https' : 'http'
    this.#server = certificate ? createServer(certificate, heard) : createPlainServer(heard)
  }

  static async start(certificate?: Issued): Promise<RosterServer> {
    const server = new RosterServer(certificate)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    onTestFinished(() => {
      server.#server.close()
      server.#server.closeAllConnections()
    })
    return server
  }

  get origin(): string {
    return `${this.#scheme}://localhost:${(this.#server.address() as AddressInfo).port}`
  }

  url(path = '/roster.csv'): string {
    return this.origin + path
  }

  /** The statuses of the last answers. */
  statuses(count: number): (number | undefined)[] {
    return this.requests.slice(-count).map(({ status }) => status)
  }

  #serve({ headers }: IncomingMessage, response: ServerResponse): void {
    const etag = `"${createHash('sha256').update(this.text).digest('base64url').slice(0, 12)}"`
    if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end()
    else response.writeHead(200, { etag, 'content-type': 'text/csv' }).end(this.text)
  }
}
