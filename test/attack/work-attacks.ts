import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { xor } from '../../protocols/kit/index.ts'
import {
  type Attack,
  type Cost,
  dial,
  HOST,
  once,
  sendDatagrams,
  sideBySide,
  type Victim,
  write,
} from './attacker-connections.ts'
import { mqttConnect } from './mqtt-packets.ts'

/** Attacks with what nobody understands, or not yet: it must cost the gateway little. */
export const WORK_ATTACKS = {
  'nested brackets, 24 connections (HTTP)': (victim, cost, signal) => brackets(victim, cost, signal, 24),
  'nested brackets, 200 connections (HTTP)': (victim, cost, signal) => brackets(victim, cost, signal, 200),
  'nested brackets (auto)': bracketsOverTcp,
  'junk, 6,000 datagrams a second (auto, UDP)': junk,
  'junk from 500 ports (auto, UDP)': junkOfManyPeers,
  'datagrams of 64 KB (auto, UDP)': longDatagrams,
  '64 KB of line ends (TCP)': lineEnds,
  'parts of messages without an end (JT/T 808, UDP)': parts,
  'SUBSCRIBE with 16,000 topics (MQTT)': (victim, cost, signal) => subscriptions(victim, cost, signal, 16_000),
  'SUBSCRIBE with 120 topics (MQTT)': (victim, cost, signal) => subscriptions(victim, cost, signal, 120),
} satisfies Record<string, Attack>

const LONG = 65_000

async function brackets({ ports }: Victim, cost: Cost, signal: AbortSignal, connections: number): Promise<void> {
  const body = Buffer.from('['.repeat(LONG / 2) + ']'.repeat(LONG / 2))
  await sideBySide(connections, signal, async () => {
    const began = performance.now()
    await post(ports['http/osmand'], body, cost)
    // Together about 1.9 MB a second.
    await sleep(Math.max(0, (connections * LONG) / 1900 - (performance.now() - began)))
  })
}

function post(port: number, body: Buffer, cost: Cost): Promise<void> {
  cost.units++
  cost.bytes += body.length
  return new Promise((resolve) => {
    const asked = request({ host: HOST, port, method: 'POST', agent: false, timeout: 5000 }, (answer) => {
      answer.on('data', (bytes: Buffer) => (cost.received += bytes.length)).on('end', resolve)
    })
    asked.on('error', () => resolve()).on('timeout', () => asked.destroy())
    asked.on('close', resolve).end(body)
  })
}

async function bracketsOverTcp({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await longBeginnings(ports['tcp/auto'], Buffer.alloc(LONG, '{"a":['), { cost, signal })
}

async function lineEnds({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await longBeginnings(ports['tcp/teltonika'], Buffer.alloc(LONG, '\r'), { cost, signal })
}

/** 24 connections at once that each begin with the bytes; about 1.9 MB a second. */
async function longBeginnings(
  port: number,
  bytes: Buffer,
  { cost, signal }: { cost: Cost; signal: AbortSignal },
): Promise<void> {
  await sideBySide(24, signal, async () => {
    const socket = dial(port, cost)
    write(socket, bytes, cost)
    await Promise.all([once(socket, 'close', 1000), sleep((24 * bytes.length) / 1900)])
    socket.destroy()
  })
}

const JUNK = Buffer.from('000fcafe0133000f333536333037303432343431303133', 'hex')

async function junk({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  await sendDatagrams(ports['udp/auto'], () => JUNK, { cost, signal, atOnce: 60 })
}

async function junkOfManyPeers({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const send = await peers(500, ports['udp/auto'], cost, signal)
  for (let n = 0; !signal.aborted; n += 60) {
    for (let each = n; each < n + 60; each++) send(each, JUNK)
    await sleep(10)
  }
}

async function longDatagrams({ ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const datagram = Buffer.from('['.repeat(LONG / 2) + ']'.repeat(LONG / 2))
  await sendDatagrams(ports['udp/auto'], () => datagram, { cost, signal, atOnce: 2 })
}

/** Forty new peers a second in the names of devices that are configured, each with 254 of the 255 parts of a message. */
async function parts({ known, ports }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const open: Datagrams[] = []
  for (let n = 0; !signal.aborted; n++) {
    const id = known[n % known.length]
    const socket = createSocket('udp4')
    const send = (bytes: Buffer) => {
      cost.bytes += bytes.length
      cost.units++
      socket.send(bytes, ports['udp/auto'], HOST)
    }
    // Its answer would be longer: none is sent over UDP.
    send(frameOf(`00024000 01${id.padStart(20, '0')} 0001`, Buffer.alloc(0)))
    setTimeout(() => {
      if (signal.aborted) return
      send(Buffer.concat(Array.from({ length: 254 }, (_, index) => partOf(id, index))))
    }, 300)
    // No two peers at once may have the same port.
    if (open.push(socket) > 1000) open.shift()?.close()
    await sleep(25)
  }
  for (const socket of open) socket.close()
}

function partOf(id: string, index: number): Buffer {
  const numbers = [0x1000 + index, 255, index + 1].map((value) => value.toString(16).padStart(4, '0'))
  return frameOf(`07046004 01${id.padStart(20, '0')} ${numbers.join('')}`, Buffer.alloc(4, 0x11))
}

/** 7E type 2 | length, split, version 2 | 01 | id, 10 bytes | serial 2 | count 2, index 2 | content | XOR 7E */
function frameOf(head: string, content: Buffer): Buffer {
  const message = Buffer.concat([Buffer.from(head.replaceAll(' ', ''), 'hex'), content])
  return Buffer.concat([Buffer.of(0x7e), escaped(Buffer.concat([message, Buffer.of(xor(message))])), Buffer.of(0x7e)])
}

function escaped(bytes: Buffer): Buffer {
  return Buffer.from([...bytes].flatMap((byte) => (byte === 0x7e || byte === 0x7d ? [0x7d, byte - 0x7c] : [byte])))
}

/** Sends from many ports, the nth of them. */
async function peers(
  many: number,
  port: number,
  cost: Cost,
  signal: AbortSignal,
): Promise<(peer: number, bytes: Buffer) => void> {
  const sockets: Datagrams[] = Array.from({ length: many }, () => createSocket('udp4'))
  for (const socket of sockets) socket.on('message', (reply) => (cost.received += reply.length))
  signal.addEventListener('abort', () => {
    for (const socket of sockets) socket.close()
  })
  await sleep(0)
  return (peer, bytes) => {
    if (signal.aborted) return
    sockets[peer % many].send(bytes, port, HOST)
    cost.bytes += bytes.length
    cost.units++
  }
}

/** On twenty connections of devices that are configured, as fast as they are read: one packet, or many that are short. */
async function subscriptions({ known, ports }: Victim, cost: Cost, signal: AbortSignal, topics: number): Promise<void> {
  const packet = subscribe(topics)
  const bytes = Buffer.concat(Array.from({ length: Math.ceil(LONG / packet.length) }, () => packet))
  await sideBySide(20, signal, async (index) => {
    const id = known[index % known.length]
    const socket = dial(ports.mqtt, cost)
    write(socket, mqttConnect(id, '', `subscriber ${index}`), cost)
    await once(socket, 'data', 1000)
    socket.on('data', (answer) => (cost.received += answer.length))
    while (!signal.aborted && !socket.destroyed) {
      if (socket.writableLength < bytes.length) write(socket, bytes, cost)
      await sleep(5)
    }
    socket.destroy()
    await sleep(20)
  })
}

function subscribe(topics: number): Buffer {
  const body = Buffer.concat([Buffer.of(0, 1), Buffer.alloc(topics * 4, Buffer.of(0, 1, 0x61, 0))])
  const { length } = body
  return Buffer.concat([Buffer.of(0x82, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14), body])
}
