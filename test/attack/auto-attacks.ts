import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { loadProtocols } from '../../protocols/index.ts'
import { avlDatagram } from '../support/encode.ts'
import { casesOf } from '../support/protocol-cases.ts'
import {
  type Attack,
  type Cost,
  dial,
  HOST,
  hold,
  once,
  PLACE,
  sendDatagrams,
  sideBySide,
  type Victim,
  write,
} from './attacker-connections.ts'

/** Attacks on the port for all protocols, which has to find out what every connection speaks, and on a port with TLS. */
export const AUTO_ATTACKS = {
  'silent connections (auto)': silence,
  'a byte a second on each connection (auto)': drip,
  '4 KB of noise a connection (auto)': noise,
  'cut frames of all families (auto)': cutFrames,
  'thousands of ids (auto, UDP)': manyIds,
  'TLS handshakes': handshakes,
} satisfies Record<string, Attack>

/** At most 2,000 connections, which the gateway ends after `identify_timeout`. */
async function silence({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await hold({ signal, most: 2000 }, () => dial(ports['tcp/auto'], cost))
}

async function drip({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const open: Socket[] = []
  const pouring = setInterval(() => {
    for (const socket of open) write(socket, Buffer.of(0x24 + Math.floor(Math.random() * 64)), cost)
  }, 1000)
  await hold({ signal, most: 2000 }, () => open[open.push(dial(ports['tcp/auto'], cost)) - 1])
  clearInterval(pouring)
}

async function noise({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await sideBySide(20, signal, async () => {
    const socket = dial(ports['tcp/auto'], cost)
    const bytes = Buffer.from(Array.from({ length: 4096 }, () => Math.floor(Math.random() * 256)))
    // In pieces: each makes the gateway look again.
    for (let at = 0; at < bytes.length && !socket.destroyed; at += 256) {
      write(socket, bytes.subarray(at, at + 256), cost)
      await sleep(2)
    }
    await once(socket, 'close', 1000)
    socket.destroy()
  })
}

/** The beginnings of real frames, of which each may be of several families. */
async function cutFrames({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const frames: Buffer[] = []
  for (const { name, tcp } of await loadProtocols()) {
    const [first] = tcp ? (await casesOf(name)).frames : []
    const frame = first?.frames[0].frame
    if (typeof frame === 'string' || Buffer.isBuffer(frame)) frames.push(Buffer.from(frame as string))
  }
  let next = 0
  await sideBySide(100, signal, async () => {
    const frame = frames[next++ % frames.length]
    const socket = dial(ports['tcp/auto'], cost)
    write(socket, frame.subarray(0, 1 + Math.floor(Math.random() * frame.length)), cost)
    await once(socket, 'data', 500)
    socket.destroy()
  })
}

/** A datagram of another id each, 10,000 a second. */
async function manyIds({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  let id = 820_000_000_000_000
  const next = () => avlDatagram(String(id++), 0x08, [{ time: Date.now() - 1000, ...PLACE }])
  await sendDatagrams(ports['udp/auto'], next, { cost, signal, atOnce: 100 })
}

/** Full handshakes: each costs the gateway a signature. */
async function handshakes({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const port = ports['tcp/teltonika#2']
  // A gateway that runs already may have none.
  if (port === undefined) return
  await sideBySide(50, signal, async () => {
    cost.units++
    const socket = connectTls({ host: HOST, port, rejectUnauthorized: false })
    socket.on('error', () => {})
    await once(socket, 'secureConnect', 2000)
    cost.bytes += socket.bytesWritten
    cost.received += socket.bytesRead
    socket.destroy()
  })
}
