import { createWriteStream } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/**
 * The tracking API of a chaos run, in a process of its own: `api.ts JOURNAL PORT LATE_MS`. It writes every whole request to the
 * journal, in the order of arrival, and answers by the behaviour that it is told over IPC. What it took can be read back.
 */

/** A line of the journal: a request; whether its positions count as taken. */
export interface Request {
  readonly n: number
  /** ms UTC. */
  readonly at: number
  /** `<courier>/<route>` */
  readonly lane: string
  readonly behaviour: Behaviour
  readonly took: boolean
  /** timestamp, latitude, longitude */
  readonly positions: readonly (readonly [number, number, number])[]
}

/** A line of the journal: the answer that the positions of request `n` are taken was sent whole. */
export interface Told {
  readonly told: number
}

type Answer = (response: ServerResponse, body: string) => void

const RETRY = { 'retry-after': '1' }
const [file, port, lateMs] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])]

/** How the API can behave. `half` and `late` take positions, but their answers do not arrive whole or in time. */
const BEHAVIOURS = {
  // Long enough that some requests are under way whenever a process ends.
  ok: [true, (response, body) => void setTimeout(() => send(response, 200, { body }), Math.random() * 150)],
  slow: [true, (response, body) => void setTimeout(() => send(response, 200, { body }), 300 + Math.random() * 1500)],
  half: [true, half],
  late: [true, (response, body) => void setTimeout(() => send(response, 200, { body }), lateMs)],
  silent: [false, () => {}],
  reset: [false, (response) => void response.socket?.resetAndDestroy()],
  refuse: [false, (response) => void response.socket?.resetAndDestroy()],
  500: [false, (response) => send(response, 500)],
  503: [false, (response) => send(response, 503, { headers: RETRY })],
  429: [false, (response) => send(response, 429, { headers: RETRY })],
  504: [false, (response) => send(response, 504)],
} satisfies Record<string, readonly [took: boolean, answer: Answer]>

export type Behaviour = keyof typeof BEHAVIOURS

const journal = createWriteStream(file)
const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy())
})
let behaviour: Behaviour = 'ok'
let count = 0
/** What was taken, by route. */
const taken = new Map<string, CourierPosition[]>()

process.on('message', (next: Behaviour) => {
  if (behaviour === 'refuse' && next !== 'refuse') server.listen(port, '127.0.0.1')
  behaviour = next
  if (behaviour !== 'refuse') return
  server.close()
  server.closeAllConnections()
})
process.on('disconnect', () => journal.end(() => process.exit()))
server.listen(port, '127.0.0.1')
server.once('listening', () => process.send?.('ready'))

/** Rejects if the request ends before it is whole: it does not count. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') return readBack(request, response)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const [, courier, route] =
    /^\/api\/v1\/couriers\/(\d+)\/routes\/(\d+)\/push-positions-v3\?/.exec(request.url ?? '') ?? []
  const { positions } = JSON.parse(Buffer.concat(chunks).toString()) as { positions: Position[] }
  const n = ++count
  const [took, answer] = BEHAVIOURS[behaviour]
  write({
    n,
    at: Date.now(),
    lane: `${courier}/${route}`,
    behaviour,
    took,
    positions: positions.map(({ timestamp, point }) => [timestamp, point.lat, point.lon]),
  })
  if (took) response.once('finish', () => write({ told: n }))
  const own = taken.get(route) ?? []
  if (took) taken.set(route, own)
  if (took) own.push(...positions.map(({ timestamp, point }) => ({ timestamp, ...point })))
  answer(response, '')
}

/** The positions of a route in an interval, both ends included. */
function readBack({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://api')
  const [, route] = /^\/api\/v2\/companies\/1\/routes\/(\d+)\/courier-positions$/.exec(pathname) ?? []
  if (route === undefined) return send(response, 404)
  const [from, to] = ['from', 'to'].map((name) => Number(searchParams.get(name)))
  const found = taken.get(route)?.filter(({ timestamp }) => timestamp >= from && timestamp <= to)
  const [, answer] = BEHAVIOURS[behaviour]
  answer(response, JSON.stringify(found ?? []))
}

interface CourierPosition {
  readonly timestamp: number
  readonly lat: number
  readonly lon: number
}

interface Position {
  readonly timestamp: number
  readonly point: { readonly lat: number; readonly lon: number }
}

function write(line: Request | Told): void {
  journal.write(`${JSON.stringify(line)}\n`)
}

function send(
  response: ServerResponse,
  status: number,
  { headers = {}, body = '' }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
): void {
  if (response.destroyed) return
  const type = body === '' ? {} : { 'content-type': 'application/json' }
  response.writeHead(status, { ...headers, ...type, 'content-length': body.length }).end(body)
}

function half(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': 100 })
  response.write('{"message":', () => response.socket?.destroy())
}
