import { connect, type Socket } from 'node:net'

/** Where an attacker sends, and what he knows. */
export interface Victim {
  readonly ports: Readonly<Record<string, number>>
  readonly known: readonly string[]
  readonly guarded: string
  /** A configured device without a route. */
  readonly routeless: string
  /** Ids that the honest vans use. */
  readonly vans: readonly string[]
}

/** What an attack has cost so far. */
export interface Cost {
  bytes: number
  /** Datagrams, requests or connections. */
  units: number
  received: number
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

export function count(cost: Cost, bytes: Buffer): void {
  cost.bytes += bytes.length
  cost.units++
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
