import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { Server, Socket } from 'node:net'
import type { CourierPosition } from '../../src/tracking/schemas.ts'
import { freePorts } from '../support/free-ports.ts'
import { listening } from '../support/listening.ts'

/** A request to the API. One that is no push has neither a courier nor timestamps. */
interface Seen {
  readonly courier?: string
  readonly lane: string
  readonly apikey: string | null
  readonly timestamps: readonly number[]
  /** What it has of the route and interval that a request reads back. */
  readonly has: readonly CourierPosition[]
  /** Requests of this lane under way when it came, itself included. */
  readonly together: number
}

export type Respond = (seen: Seen, response: ServerResponse) => void

export type TestApi = Awaited<ReturnType<typeof startApi>>

/**
 * A tracking API over a real socket: records every push in order and answers as it is told. With `answersReads` it keeps the
 * positions that it took, and also answers GET as told; otherwise with an empty list. `tls`: its certificate, if it speaks HTTPS.
 */
export async function startApi(
  respond: Respond = ok,
  { answersReads = false, tls }: { answersReads?: boolean; tls?: Certificate } = {},
) {
  const seen: Seen[] = []
  const taken = new Map<string, CourierPosition[]>()
  const underWay = new Map<string, number>()
  const open = new Set<ServerResponse>()
  let answer = respond
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    if (request.method === 'GET' && !answersReads) response.end('[]')
    else void take(request, response)
  }
  const secure = tls && createSecure(tls, listener)
  const server = secure ?? createServer(listener)

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { courier, route, apikey } = parts(request.url ?? '')
    const lane = `${courier}/${route}`
    underWay.set(lane, (underWay.get(lane) ?? 0) + 1)
    response.once('close', () => underWay.set(lane, (underWay.get(lane) ?? 0) - 1))
    const chunks = await request.toArray().catch(() => undefined)
    // The client has ended before its request was whole.
    if (!chunks) return
    const body = Buffer.concat(chunks).toString()
    const { positions = [] } = (body === '' ? {} : JSON.parse(body)) as { positions?: Pushed[] }
    const timestamps = positions.map(({ timestamp }) => timestamp)
    const has = answersReads ? readBack(taken, request.url ?? '') : []
    const asked = { courier, lane, apikey, timestamps, has, together: underWay.get(lane) ?? 0 }
    seen.push(asked)
    if (answersReads && route !== undefined)
      response.once('finish', () => {
        if (response.statusCode !== 200) return
        const own = positions.map(({ timestamp, point }) => ({ timestamp, ...point }))
        taken.set(route, [...(taken.get(route) ?? []), ...own].slice(-MOST_TAKEN))
      })
    answer(asked, response)
  }

  const [port] = await freePorts(1)
  await listening(server, port)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    seen,
    timestampsOf: (lane: string) => seen.filter((push) => push.lane === lane).flatMap(({ timestamps }) => timestamps),
    respond(next: Respond) {
      answer = next
    },
    /** Cuts the connection of every client that waits for an answer. */
    cut: () => open.forEach((response) => response.destroy()),
    /** Listens again on the same port after `close`. */
    open: () => listening(server, port),
    /** Shows another certificate from now on. */
    certify(certificate: Certificate) {
      secure?.setSecureContext(certificate)
      server.closeAllConnections()
    },
    close,
    /** Has another server listen in its place. Returns how it comes back. */
    async replace(other: Server): Promise<() => Promise<unknown>> {
      const sockets = new Set<Socket>()
      other.on('connection', (socket: Socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))
      await close()
      await listening(other, port)
      return async () => {
        other.close()
        for (const socket of sockets) socket.destroy()
        await once(other, 'close')
        return listening(server, port)
      }
    },
  }

  /** Refuses connections from now on. */
  async function close(): Promise<void> {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

interface Certificate {
  readonly cert: string
  readonly key: string
}

interface Pushed {
  readonly timestamp: number
  readonly point: { readonly lat: number; readonly lon: number }
}

/** Of each route. */
const MOST_TAKEN = 10_000

function readBack(taken: ReadonlyMap<string, readonly CourierPosition[]>, url: string): CourierPosition[] {
  const { pathname, searchParams } = new URL(url, 'http://api')
  const [, route = ''] = /^\/api\/v2\/companies\/\d+\/routes\/(\d+)\/courier-positions$/.exec(pathname) ?? []
  const [from, to] = ['from', 'to'].map((name) => Number(searchParams.get(name)))
  return (taken.get(route) ?? []).filter(({ timestamp }) => timestamp >= from && timestamp <= to)
}

export const ok: Respond = ({ courier, has }, response) => {
  const text = courier === undefined ? JSON.stringify(has) : ''
  if (!response.destroyed) response.writeHead(200, { 'content-length': text.length }).end(text)
}

export function status(code: number, body = '', headers: Record<string, string> = {}): Respond {
  return (_, response) => void response.writeHead(code, headers).end(body)
}

function parts(url: string) {
  const { pathname, searchParams } = new URL(url, 'http://api')
  const [, courier, route] = /^\/api\/v1\/couriers\/(\d+)\/routes\/(\d+)\/push-positions-v3$/.exec(pathname) ?? []
  return { courier, route, apikey: searchParams.get('apikey') }
}
