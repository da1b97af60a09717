import { createSocket } from 'node:dgram'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Where an attacker sends, and what he knows. */
export interface Victim {
  readonly ports: Readonly<Record<string, number>>
  readonly known: readonly string[]
  /** Configured devices that send nothing, by what they must prove. */
  readonly guarded: Readonly<Record<Guard, string>>
  /** A configured device without a route. */
  readonly routeless: string
  /** Ids that the honest vans use, and those of them that have a secret. */
  readonly vans: readonly string[]
  readonly secretVans: readonly string[]
  /** A token of another company, and an id that the company of the vans has deleted. */
  readonly rival: { readonly token: string; readonly company: string; readonly deleted: string }
}

/** What a device's entry asks its sender for. */
export type Guard = 'secret' | 'networks' | 'protocol' | 'client_certificate'

/** What an attack has cost so far, and what it brought. */
export interface Cost {
  bytes: number
  /** Datagrams, requests or connections. */
  units: number
  received: number
  /** What the attacker has learnt that nobody should, in sentences. */
  readonly told: string[]
}

export type Attack = (victim: Victim, cost: Cost, signal: AbortSignal) => Promise<void>

export const HOST = '127.0.0.1'
export const PLACE = { latitude: 48.1, longitude: 11.5, satellites: 9 }

export function dial(port: number, cost: Cost, localAddress?: string): Socket {
  const socket = connect({ port, host: HOST, localAddress })
  socket.on('error', () => {})
  cost.units++
  return socket
}

export function write(socket: Socket, bytes: Buffer, cost: Cost): void {
  if (socket.destroyed) return
  socket.write(bytes)
  cost.bytes += bytes.length
}

/** Sends so many datagrams every so often. */
export async function sendDatagrams(
  port: number,
  next: () => Buffer,
  { cost, signal, atOnce = 1, everyMs = 10 }: { cost: Cost; signal: AbortSignal; atOnce?: number; everyMs?: number },
): Promise<void> {
  const socket = createSocket('udp4')
  socket.on('message', (reply) => (cost.received += reply.length))
  while (!signal.aborted) {
    for (let n = 0; n < atOnce; n++) {
      const datagram = next()
      socket.send(datagram, port, HOST)
      cost.bytes += datagram.length
      cost.units++
    }
    await sleep(everyMs)
  }
  socket.close()
}

/** Keeps up to so many connections, 50 more at a time. */
export async function hold(
  { signal, most }: { signal: AbortSignal; most: number },
  open: (index: number) => Socket,
): Promise<void> {
  const sockets: Socket[] = []
  while (!signal.aborted) {
    for (let n = 0; n < 50 && sockets.length < most; n++) sockets.push(open(sockets.length))
    await sleep(20)
  }
  for (const socket of sockets) socket.destroy()
}

/** Does something again and again, so many times at once. */
export async function sideBySide(
  many: number,
  signal: AbortSignal,
  work: (index: number) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: many }, async (_, index) => {
      while (!signal.aborted) await work(index)
    }),
  )
}

/** Resolves at an event of a socket, at its end, or after a while. */
export function once(socket: Socket, event: string, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      socket.off(event, done).off('close', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    socket.on(event, done).on('close', done)
  })
}
