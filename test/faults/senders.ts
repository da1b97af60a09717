import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { dial } from '../rig/product.ts'
import { avlDatagram, gt06Frame, gt06Gps } from '../support/encode.ts'
import type { Site } from './site.ts'

/** Sends one position over HTTP, as OsmAnd does. */
export async function osmand(
  { product: { ports } }: Site,
  id: string,
  more: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  const fields = { id, lat: 52.5 + Math.random() / 1000, lon: 13.4, timestamp: nowS(), ...more }
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(fields)) query.set(key, String(value))
  await (await fetch(`http://127.0.0.1:${ports['http/osmand']}/?${query.toString()}`)).text()
}

export async function h02(port: number, id: string): Promise<void> {
  const [date, time] = new Date().toISOString().split('T')
  const day = date.slice(2).split('-').toReversed().join('')
  await say(
    port,
    `*HQ,${id},V1,${time.slice(0, 8).replaceAll(':', '')},A,5230.0000,N,01324.0000,E,000.0,000,${day},FFFFFFFF#`,
  )
}

/** A position, and one of this hemisphere. */
export async function wialon(port: number, id: string, hemisphere: string): Promise<void> {
  const [date, time] = new Date().toISOString().split('T')
  const when = `${date.slice(2).split('-').toReversed().join('')};${time.slice(0, 8).replaceAll(':', '')}`
  const record = (of: string) => `${when};5230.0000;${of};01324.0000;E;0;0;30;9`
  await say(port, `#L#${id};NA\r\n#B#${record('N')}|${record(hemisphere)}\r\n`)
}

/** A login and a position, whose checksum is damaged or not. */
export async function gt06(port: number, id: string, isDamaged: boolean): Promise<void> {
  const date = new Date().toISOString().slice(2, 19).replaceAll(/\D/g, '')
  const position = gt06Frame(0x12, gt06Gps({ date, latitude: 52.5, longitude: 13.4, speed: 0 }))
  // The checksum is before the two bytes that end the frame.
  if (isDamaged) position[position.length - 4] ^= 0xff
  await say(port, Buffer.concat([gt06Login(id), position]))
}

/** A position without the login before it. */
export async function gt06Unnamed(port: number): Promise<void> {
  const date = new Date().toISOString().slice(2, 19).replaceAll(/\D/g, '')
  await say(port, gt06Frame(0x12, gt06Gps({ date, latitude: 52.5, longitude: 13.4, speed: 0 })))
}

/** Sends a position over UDP from an address of this machine, each time from the same port. */
export async function teltonika(
  { product: { ports } }: Site,
  id: string,
  { address, latitude }: { readonly address: string; readonly latitude: number },
): Promise<void> {
  const record = { time: Date.now(), latitude, longitude: 13.4, satellites: 9 }
  const socket = udpFrom.get(address) ?? createSocket('udp4')
  if (!udpFrom.has(address)) {
    udpFrom.set(address, socket.unref())
    socket.bind({ address })
    await once(socket, 'listening')
  }
  socket.send(avlDatagram(id, 0x08, [record]), ports['udp/teltonika'], '127.0.0.1')
}

/** Sends a datagram from a port of its own. */
export async function datagram({ product: { ports } }: Site, bytes: Buffer): Promise<void> {
  const socket = createSocket('udp4')
  socket.send(bytes, ports['udp/teltonika'], '127.0.0.1', () => socket.close())
  await once(socket, 'close')
}

export function gt06Login(id: string): Buffer {
  return gt06Frame(0x01, Buffer.from(`0${id}`, 'hex'))
}

const udpFrom = new Map<string, Socket>()

/** Bytes without TLS. */
export async function plain(port: number): Promise<void> {
  await say(port, Buffer.from('000f333536333037303432343431303133', 'hex'))
}

/** Sends it over a connection of its own, which stays open for a moment for the answer. */
async function say(port: number, bytes: Buffer | string): Promise<void> {
  const { socket } = await dial(port)
  socket.write(bytes)
  setTimeout(() => socket.destroy(), 900)
}

/** Unix seconds. */
export function nowS(): number {
  return Math.floor(Date.now() / 1000)
}
