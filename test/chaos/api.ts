import { createWriteStream } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/**
 * The tracking API of a chaos run, in a process of its own: `api.ts JOURNAL PORT LATE_MS`. It writes down every request whole, in
 * the order of arrival, and answers as it is told over IPC: the name of a mood.
 */

/** A line of the journal: a request; whether its positions count as taken. */
export interface Request {
  readonly n: number
  /** ms UTC. */
  readonly at: number
  /** `<courier>/<route>` */
  readonly lane: string
  readonly mood: Mood
  readonly took: boolean
  /** timestamp, latitude, longitude */
  readonly positions: readonly (readonly [number, number, number])[]
}

/** A line of the journal: the answer to request `n` was sent whole, that its positions are taken. */
export interface Told {
  readonly told: number
}

type Answer = (response: ServerResponse) => void

const [file, port, lateMs] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])]

/** What the API can be like. Of those that take positions, `half` and `late` say so in a way that nobody can hear. */
const MOODS = {
  // Long enough that some requests are under way whenever something dies.
  ok: [true, (response) => void setTimeout(() => send(response, 200), Math.random() * 150)],
  slow: [true, (response) => void setTimeout(() => send(response, 200), 300 + Math.random() * 1500)],
  half: [true, half],
  late: [true, (response) => void setTimeout(() => send(response, 200), lateMs)],
  silent: [false, () => {}],
  reset: [false, (response) => void response.socket?.resetAndDestroy()],
  refuse: [false, (response) => void response.socket?.resetAndDestroy()],
  500: [false, (response) => send(response, 500)],
  503: [false, (response) => send(response, 503, { 'retry-after': '1' })],
  429: [false, (response) => send(response, 429, { 'retry-after': '1' })],
  504: [false, (response) => send(response, 504)],
} satisfies Record<string, readonly [took: boolean, answer: Answer]>

export type Mood = keyof typeof MOODS

const journal = createWriteStream(file)
const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy())
})
let mood: Mood = 'ok'
let count = 0

process.on('message', (next: Mood) => {
  if (mood === 'refuse' && next !== 'refuse') server.listen(port, '127.0.0.1')
  mood = next
  if (mood !== 'refuse') return
  server.close()
  server.closeAllConnections()
})
process.on('disconnect', () => journal.end(() => process.exit()))
server.listen(port, '127.0.0.1')
server.once('listening', () => process.send?.('ready'))

/** Rejects where the request ends before it is whole: then it is none. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const [, courier, route] =
    /^\/api\/v1\/couriers\/(\d+)\/routes\/(\d+)\/push-positions-v3\?/.exec(request.url ?? '') ?? []
  const { positions } = JSON.parse(Buffer.concat(chunks).toString()) as { positions: Position[] }
  const n = ++count
  const [took, answer] = MOODS[mood]
  write({
    n,
    at: Date.now(),
    lane: `${courier}/${route}`,
    mood,
    took,
    positions: positions.map(({ timestamp, point }) => [timestamp, point.lat, point.lon]),
  })
  if (took) response.once('finish', () => write({ told: n }))
  answer(response)
}

interface Position {
  readonly timestamp: number
  readonly point: { readonly lat: number; readonly lon: number }
}

function write(line: Request | Told): void {
  journal.write(`${JSON.stringify(line)}\n`)
}

function send(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  if (!response.destroyed) response.writeHead(status, { ...headers, 'content-length': 0 }).end()
}

function half(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': 100 })
  response.write('{"message":', () => response.socket?.destroy())
}
