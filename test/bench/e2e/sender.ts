import { connect, type Socket } from 'node:net'
import { login, packetOf, stamp } from './codec8.ts'

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
  /** Whether fixes are of now. Vans that send more than one a second would be ahead of the clock: theirs are of long ago. */
  readonly isLive: boolean
}

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
  socket.write(login(index))
  await new Promise((resolve) => socket.once('data', resolve))
  const van = { index, socket, packet: packetOf(plan.fixesPerPacket, index), timestamp: 1_760_000_000, started: 0 }
  socket.on('data', () => acknowledged(van))
  socket.on('close', () => {
    if (!stopped.signal.aborted) throw new Error('the gateway closed a connection')
  })
  return van
}

function send(van: Van): void {
  if (plan.isLive) van.timestamp = Math.max(van.timestamp, Math.floor(now() / 1000) - plan.fixesPerPacket)
  stamp(van.packet, van.timestamp + 1)
  van.timestamp += plan.fixesPerPacket
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
