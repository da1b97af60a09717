import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One push as the API saw it. */
interface Seen {
  readonly lane: string
  readonly apikey: string | null
  readonly timestamps: readonly number[]
  /** Requests of this lane under way when it came, itself included. */
  readonly together: number
}

export type Respond = (seen: Seen, response: ServerResponse) => void

/** A tracking API of the test's own, over a real socket: records every push in order and answers as it is told. */
export async function startApi(respond: Respond = ok) {
  const seen: Seen[] = []
  const underWay = new Map<string, number>()
  let answer = respond
  const server = createServer((request, response) => {
    // What the page asks of a route: nothing was pushed to it.
    if (request.method === 'GET') response.end('[]')
    else void take(request, response)
  })

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { courier, route, apikey } = parts(request.url ?? '')
    const lane = `${courier}/${route}`
    underWay.set(lane, (underWay.get(lane) ?? 0) + 1)
    response.once('close', () => underWay.set(lane, (underWay.get(lane) ?? 0) - 1))
    const chunks = await request.toArray().catch(() => undefined)
    // The client has ended before its request was whole.
    if (!chunks) return
    const { positions } = JSON.parse(Buffer.concat(chunks).toString()) as { positions: { timestamp: number }[] }
    const push = {
      lane,
      apikey,
      timestamps: positions.map(({ timestamp }) => timestamp),
      together: underWay.get(lane) ?? 0,
    }
    seen.push(push)
    answer(push, response)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    timestampsOf: (lane: string) => seen.filter((push) => push.lane === lane).flatMap(({ timestamps }) => timestamps),
    respond(next: Respond) {
      answer = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export const ok: Respond = (_, response) => void response.writeHead(200, { 'content-length': 0 }).end()

export function status(code: number, body = '', headers: Record<string, string> = {}): Respond {
  return (_, response) => void response.writeHead(code, headers).end(body)
}

function parts(url: string) {
  const { pathname, searchParams } = new URL(url, 'http://api')
  const [, courier, route] = /^\/api\/v1\/couriers\/(\d+)\/routes\/(\d+)\/push-positions-v3$/.exec(pathname) ?? []
  return { courier, route, apikey: searchParams.get('apikey') }
}
