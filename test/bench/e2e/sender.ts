import { connect, type Socket } from 'node:net'
import { crc16Arc } from '../../../protocols/kit/index.ts'

/**
 * Vans that speak Teltonika Codec 8, in a process of their own: each has a socket and a device, sends a packet, waits for
 * its acknowledgement, and sends the next when the plan says so. Started by the bench with the plan as JSON.
 */
interface Plan {
  readonly port: number
  readonly vans: number
  readonly fixesPerPacket: number
  /** Packets a second, of all vans; null: each sends as soon as the last was acknowledged and the bench lets it. */
  readonly packetsPerSecond: number | null
  /** Most fixes acknowledged and not delivered yet. */
  readonly maxBehind: number
  readonly keepSamples: boolean
}

const RECORD_BYTES = 57
const HEADER_BYTES = 10
const plan = JSON.parse(process.argv[2]) as Plan
const acks: number[] = []
const sentAt: [courier: number, timestamp: number, sentAt: number][] = []
let acked = 0
let delivered = 0
const stopped = new AbortController()
const idle: Van[] = []

interface Van {
  readonly index: number
  readonly socket: Socket
  readonly packet: Buffer
  timestamp: number
  started: number
}

process.on('message', (message: { delivered?: number; stop?: true; reset?: true; samples?: true }) => {
  if (message.delivered !== undefined) delivered = message.delivered
  if (message.reset) acks.length = 0
  if (message.stop) stopped.abort()
  if (message.samples) process.send?.({ type: 'samples', acks, sentAt })
  wake()
})
process.on('disconnect', () => process.exit())

const vans: Van[] = []
while (vans.length < plan.vans)
  vans.push(
    ...(await Promise.all(
      Array.from({ length: Math.min(250, plan.vans - vans.length) }, (_, i) => open(vans.length + i)),
    )),
  )
process.send?.({ type: 'ready' })
setInterval(() => process.send?.({ type: 'progress', acked }), 100)
if (plan.packetsPerSecond === null) for (const van of vans) send(van)
else pace(plan.packetsPerSecond)

async function open(index: number): Promise<Van> {
  const socket = connect(plan.port, '127.0.0.1')
  socket.setNoDelay(true)
  await new Promise((resolve) => socket.once('connect', resolve))
  const imei = String(350_000_000_000_000 + index)
  socket.write(Buffer.concat([Buffer.of(0, 15), Buffer.from(imei)]))
  await new Promise((resolve) => socket.once('data', resolve))
  const van = { index, socket, packet: packet(plan.fixesPerPacket, index), timestamp: 1_760_000_000, started: 0 }
  socket.on('data', () => acknowledged(van))
  socket.on('close', () => {
    if (!stopped.signal.aborted) throw new Error('the gateway closed a connection')
  })
  return van
}

function send(van: Van): void {
  stamp(van)
  van.started = now()
  van.socket.write(van.packet, () => {
    if (plan.keepSamples) sentAt.push([van.index + 1, van.timestamp, now()])
  })
}

function acknowledged(van: Van): void {
  acks.push(now() - van.started)
  van.started = 0
  acked += plan.fixesPerPacket
  if (plan.packetsPerSecond !== null) return
  idle.push(van)
  wake()
}

/** As fast as the road goes: on, while what was delivered keeps up with what was acknowledged. */
function wake(): void {
  if (plan.packetsPerSecond !== null) return
  while (!stopped.signal.aborted && idle.length > 0 && acked - delivered < plan.maxBehind) send(idle.pop() as Van)
}

/** So many packets a second, spread evenly over vans and time; a van that still waits for an answer is passed over. */
function pace(packetsPerSecond: number): void {
  const began = now()
  let due = 0
  let next = 0
  setInterval(() => {
    for (; !stopped.signal.aborted && due < ((now() - began) / 1000) * packetsPerSecond; due++) {
      const van = vans[next++ % vans.length]
      if (van.started === 0) send(van)
    }
  }, 2)
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

/** New times, so that no two fixes are the same, and the checksum with them. */
function stamp(van: Van): void {
  const { packet: bytes } = van
  for (let i = 0; i < plan.fixesPerPacket; i++) {
    const at = HEADER_BYTES + i * RECORD_BYTES
    const ms = ++van.timestamp * 1000
    bytes.writeUInt32BE(Math.floor(ms / 0x1_0000_0000), at)
    bytes.writeUInt32BE(ms % 0x1_0000_0000, at + 4)
  }
  bytes.writeUInt32BE(crc16Arc(bytes.subarray(8, -4)), bytes.length - 4)
}

/** A Codec 8 packet: 000000 00, length, codec, count, records of 57 bytes with ten I/O elements, count, CRC. */
function packet(records: number, index: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + records * RECORD_BYTES + 5)
  bytes.writeUInt32BE(bytes.length - 12, 4)
  bytes[8] = 8
  bytes[9] = records
  for (let i = 0; i < records; i++) record(bytes, HEADER_BYTES + i * RECORD_BYTES, index)
  bytes[bytes.length - 5] = records
  return bytes
}

function record(bytes: Buffer, at: number, index: number): void {
  bytes.writeInt32BE(134_000_000 + index * 100, at + 9)
  bytes.writeInt32BE(525_000_000 + index * 100, at + 13)
  bytes.writeUInt16BE(34, at + 17)
  bytes.writeUInt16BE(index % 360, at + 19)
  bytes[at + 21] = 11
  bytes.writeUInt16BE(42, at + 22)
  bytes[at + 25] = 10
  const io = [
    5, 239, 1, 240, 1, 21, 4, 200, 0, 69, 1, 4, 181, 0, 9, 182, 0, 7, 66, 0x30, 0x39, 24, 0, 42, 1, 241, 0, 0, 98, 0, 0,
  ]
  Buffer.from(io).copy(bytes, at + 26)
}
