import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Types of MQTT packets. */
export const PACKET = { publish: 3, puback: 4, pubrec: 5, pubrel: 6, pubcomp: 7 } as const

/** A way to a broker that loses a packet, and with it the connection. */
export interface Cutting {
  readonly port: number
  /** Where the broker is. */
  target: number
  /** The first byte of every PUBLISH that came by: its type, DUP and QoS. */
  readonly published: number[]
  /** Whether DUP is set on a PUBLISH that came by before, as the standard wants it: mqtt.js leaves it out. */
  setsDup: boolean
  /** Cuts the way at the nth packet of a type that comes from now on, once; resolves when it is cut. */
  cutAt(type: number, nth?: number): Promise<void>
}

export async function cutting(target: number): Promise<Cutting> {
  let cut: { readonly type: number; left: number; readonly done: () => void } | undefined

  /** Passes packets on, one by one, as long as none is to be lost. */
  function pass(from: Socket, to: Socket): void {
    let rest: Buffer = Buffer.alloc(0)
    from.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes])
      for (let length = packetLength(rest); length > 0 && !from.destroyed; length = packetLength(rest)) {
        const packet = rest.subarray(0, length)
        rest = rest.subarray(length)
        if (packet[0] >> 4 === PACKET.publish) notePublish(packet)
        if (isLost(packet)) from.destroy()
        else to.write(packet)
      }
    })
    from.on('error', () => {})
    from.on('close', () => to.destroy())
  }

  function notePublish(packet: Buffer): void {
    const content = packet.toString('latin1')
    if (way.setsDup && contents.has(content)) packet[0] |= DUP
    contents.add(content)
    way.published.push(packet[0])
  }

  function isLost(packet: Buffer): boolean {
    if (!cut || packet[0] >> 4 !== cut.type || --cut.left > 0) return false
    cut.done()
    cut = undefined
    return true
  }

  const contents = new Set<string>()
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(way.target, '127.0.0.1')
    for (const socket of [near, far]) sockets.add(socket)
    pass(near, far)
    pass(far, near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    sockets.forEach((socket) => socket.destroy())
  })
  const way: Cutting = {
    port: (server.address() as AddressInfo).port,
    target,
    published: [],
    setsDup: true,
    cutAt: (type, nth = 1) => new Promise((done) => (cut = { type, left: nth, done })),
  }
  return way
}

const DUP = 8

/** Of the first packet, its fixed header included; 0 if it is not all here. */
function packetLength(bytes: Buffer): number {
  let length = 0
  for (let at = 1; at < bytes.length && at <= 4; at++) {
    length += (bytes[at] & 0x7f) * 128 ** (at - 1)
    if (bytes[at] < 0x80) return bytes.length >= at + 1 + length ? at + 1 + length : 0
  }
  return 0
}
