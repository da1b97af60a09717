import http, { type RequestListener } from 'node:http'
import net, { type Socket } from 'node:net'
import { onTestFinished, vi } from 'vitest'
import { createTrackingClient, type TrackingClient, type TrackingClientOptions } from '../../../src/tracking/client.ts'
import { listening } from '../listening.ts'

/** A push that every server of these tests accepts. */
export const PUSH = { courier: '42', route: '9223372036854775807', apikey: 'CANARY', body: '{"positions":[]}' }

/** The bytes of an answer. */
export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'

/** Runs a function after the test; the last one that was added runs first. */
export function atEnd(end: () => unknown): void {
  onTestFinished(async () => void (await end()))
}

/** A client that is closed after the test. */
export function client(baseUrl: string, options: Partial<TrackingClientOptions> = {}): TrackingClient {
  const created = createTrackingClient({ baseUrl, timeoutMs: 20_000, connections: 2, ...options })
  atEnd(() => created.close())
  return created
}

/**
 * Stops the time limits of requests until the test ends; returns a function that lets so many ms pass. The clock of undici, which
 * begins with the first connection of a process, must have begun before: it would not go on after the test.
 */
export function stopLimits(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  atEnd(() => vi.useRealTimers())
  return (ms) => void vi.advanceTimersByTime(ms)
}

/** Starts a server that ends after the test, with its connections. Resolves to its URL. */
export async function listen(server: net.Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  const port = await listening(server)
  atEnd(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${port}`
}

export function httpServer(listener: RequestListener): Promise<string> {
  return listen(http.createServer(listener))
}

/** A server that calls a function with the connection each time a whole `PUSH` has arrived. */
export function rawServer(answer: (socket: Socket, count: number) => void): Promise<string> {
  let count = 0
  return listen(
    net.createServer((socket) => {
      let request = ''
      socket.on('data', (chunk) => {
        request += chunk.toString('latin1')
        if (!request.endsWith(PUSH.body)) return
        request = ''
        answer(socket, ++count)
      })
    }),
  )
}
