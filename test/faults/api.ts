import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePorts } from '../support/free-ports.ts'
import { listening } from '../support/listening.ts'

/** A request to the tracking API. A relayed one has no positions. */
export interface ApiRequest {
  readonly courier?: string
  readonly apikey: string | null
  readonly timestamps: readonly number[]
}

export type Behaviour = (request: ApiRequest, response: ServerResponse) => void

export const well: Behaviour = ({ courier }, response) => send(response, 200, courier === undefined ? '[]' : '')

export function answering(status: number, text = '{"message":"no"}'): Behaviour {
  return (_request, response) => send(response, status, text)
}

export type FaultyApi = Awaited<ReturnType<typeof startFaultyApi>>

/** A tracking API that behaves as it is told, over real sockets, on a port that it keeps. */
export async function startFaultyApi() {
  const open = new Set<ServerResponse>()
  let behaviour = well
  const server = createServer((request, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    void read(request).then(
      (asked) => behaviour(asked, response),
      () => response.destroy(),
    )
  })
  const [port] = await freePorts(1)
  await listening(server, port)
  return {
    url: `http://127.0.0.1:${port}`,
    behave(next: Behaviour) {
      behaviour = next
    },
    /** Cuts whoever waits for an answer. */
    cut: () => open.forEach((response) => response.destroy()),
    /** Refuses connections until `open`. */
    async refuse() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
    open: () => listening(server, port),
    async close() {
      server.closeAllConnections()
      if (server.listening) await new Promise((closed) => server.close(closed))
    },
  }
}

async function read(request: IncomingMessage): Promise<ApiRequest> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://api')
  const body = Buffer.concat(await request.toArray()).toString()
  const courier = /^\/api\/v1\/couriers\/(\d+)\/routes\/\d+\/push-positions-v3$/.exec(pathname)?.[1]
  const { positions = [] } = (body === '' ? {} : JSON.parse(body)) as { positions?: { timestamp: number }[] }
  return { courier, apikey: searchParams.get('apikey'), timestamps: positions.map(({ timestamp }) => timestamp) }
}

function send(response: ServerResponse, status: number, text = ''): void {
  if (!response.destroyed) response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}
