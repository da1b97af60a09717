import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { CourierPosition } from '../../../src/tracking/schemas.ts'
import { freePorts } from '../free-ports.ts'
import { listening } from '../listening.ts'

/** A request to read positions back. */
interface ReadRequest {
  /** `7/1003` */
  readonly route: string
  readonly from: number
  readonly to: number
  readonly token: string
  /** What it has in the interval. */
  readonly positions: readonly CourierPosition[]
}

type Answer = (asked: ReadRequest, response: ServerResponse) => unknown

export type ReadBackApi = Awaited<ReturnType<typeof startReadBackApi>>

/** A tracking API over a real socket that can be read back. It answers every push with 200. */
export async function startReadBackApi() {
  const stored = new Map<string, CourierPosition[]>()
  const reads: ReadRequest[] = []
  let answer: Answer = honest
  const add = (route: string, positions: readonly CourierPosition[]) => {
    const list = stored.get(route) ?? []
    stored.set(route, list)
    for (const position of positions) list.push(position)
  }
  const api = {
    url: '',
    /** What has been asked, the last at the end. */
    reads,
    add,
    /** Forgets what the function says, though a push of it was answered with 200. */
    lose(route: string, isLost: (position: CourierPosition) => boolean) {
      const kept = (stored.get(route) ?? []).filter((position) => !isLost(position))
      stored.set(route, kept)
    },
    /** Answers reads so from now on. */
    respond(next: Answer) {
      answer = next
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer((request, response) => void take(request, response))

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api')
    const push = /^\/api\/v1\/couriers\/\d+\/routes\/(\d+)\/push-positions-v3$/.exec(pathname)
    if (push) {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { positions: Pushed[] }
      add(
        `7/${push[1]}`,
        body.positions.map(({ timestamp, point }) => ({ timestamp, ...point })),
      )
      return void response.end()
    }
    const [, company, route] = /^\/api\/v2\/companies\/(\d+)\/routes\/(\d+)\/courier-positions$/.exec(pathname) ?? []
    const [from, to] = ['from', 'to'].map((name) => Number(searchParams.get(name)))
    if (to - from > 7200) return void response.writeHead(400).end()
    const key = `${company}/${route}`
    const positions = (stored.get(key) ?? []).filter(({ timestamp }) => timestamp >= from && timestamp <= to)
    const asked = { route: key, from, to, token: request.headers.authorization ?? '', positions }
    reads.push(asked)
    await answer(asked, response)
  }

  const [port] = await freePorts(1)
  await listening(server, port)
  return Object.assign(api, { url: `http://127.0.0.1:${port}` })
}

interface Pushed {
  readonly timestamp: number
  readonly point: { readonly lat: number; readonly lon: number }
}

export const honest: Answer = ({ positions }, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(positions))

export const answering =
  (status: number, body = ''): Answer =>
  (_, response) =>
    void response.writeHead(status).end(body)
