import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { avlLogin, avlPacket } from '../support/encode.ts'

/**
 * Honest vans in a process of their own: each logs in over TCP, sends a fix a second, and waits for its acknowledgement. One
 * that is cut off comes again after a second. Started with the port and the ids as JSON; `{ type: 'report' }` asks for what
 * happened since the last report.
 */
const { port, vans } = JSON.parse(process.argv[2]) as { port: number; vans: string[] }
const EVERY_MS = 1000
/** A fix that is not acknowledged within this time counts as not acknowledged. */
const TIMEOUT_MS = 10_000
let sent = 0
let acked = 0
let latencies: number[] = []

process.on('message', () => {
  process.send?.({ type: 'report', sent, acked, latencies })
  sent = 0
  acked = 0
  latencies = []
})
process.on('disconnect', () => process.exit())
for (const [index, imei] of vans.entries()) void drive(imei, (index / vans.length) * EVERY_MS)
process.send?.({ type: 'ready' })

async function drive(imei: string, phaseMs: number): Promise<never> {
  await sleep(phaseMs)
  for (;;) {
    await session(imei).catch(() => {})
    await sleep(EVERY_MS)
  }
}

/** Until the connection ends. */
async function session(imei: string): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  try {
    await answer(socket, avlLogin(imei))
    for (let second = 0; ; second++) {
      const began = performance.now()
      sent++
      const place = { latitude: 52.5 + second * 1e-5, longitude: 13.4, satellites: 9 }
      await answer(socket, avlPacket(0x08, [{ time: Date.now(), ...place }]))
      acked++
      latencies.push(performance.now() - began)
      await sleep(Math.max(0, EVERY_MS - (performance.now() - began)))
    }
  } finally {
    socket.destroy()
  }
}

/** Sends bytes, and waits for some. */
async function answer(socket: Socket, bytes: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = () => reject(new Error('not answered'))
  const timer = setTimeout(fail, TIMEOUT_MS)
  socket.once('data', () => resolve()).once('close', fail)
  socket.write(bytes)
  await promise.finally(() => {
    clearTimeout(timer)
    socket.off('close', fail)
  })
}
