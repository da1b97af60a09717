import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { avlLogin, avlPacket } from '../support/encode.ts'

/**
 * Honest vans in a process of their own: each logs in over TCP, sends a fix a second, and waits for its acknowledgement. One
 * that is cut off comes again after a second. Started with the ports, which they share, and the ids as JSON; any message asks for what happened
 * since the last report. A fix that waits for longer than a second then counts as not acknowledged, as does a login.
 */
const { ports, vans } = JSON.parse(process.argv[2]) as { ports: number[]; vans: string[] }
const EVERY_MS = 1000
const TIMEOUT_MS = 10_000
const LATE_MS = 1000
let acked = 0
let failed = 0
/** Since when each van waits for an answer. */
const waiting = new Map<string, number>()
let latencies: number[] = []

process.on('message', () => {
  const late = [...waiting.values()].filter((since) => performance.now() - since > LATE_MS).length
  process.send?.({ type: 'report', acked, failed: failed + late, latencies })
  acked = 0
  failed = 0
  latencies = []
})
process.on('disconnect', () => process.exit())
for (const [index, imei] of vans.entries())
  void drive(imei, { port: ports[index % ports.length], phaseMs: (index / vans.length) * EVERY_MS })
process.send?.({ type: 'ready' })

async function drive(imei: string, { port, phaseMs }: { port: number; phaseMs: number }): Promise<never> {
  await sleep(phaseMs)
  for (;;) {
    await session(imei, port).catch(() => failed++)
    await sleep(EVERY_MS)
  }
}

/** Until the connection ends. */
async function session(imei: string, port: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  try {
    await answer(imei, socket, avlLogin(imei))
    for (let second = 0; ; second++) {
      const began = performance.now()
      const place = { latitude: 52.5 + second * 1e-5, longitude: 13.4, satellites: 9 }
      await answer(imei, socket, avlPacket(0x08, [{ time: Date.now(), ...place }]))
      acked++
      latencies.push(performance.now() - began)
      await sleep(Math.max(0, EVERY_MS - (performance.now() - began)))
    }
  } finally {
    socket.destroy()
  }
}

/** Sends bytes, and waits for some. */
async function answer(imei: string, socket: Socket, bytes: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = () => reject(new Error('not answered'))
  const timer = setTimeout(fail, TIMEOUT_MS)
  socket.once('data', () => resolve()).once('close', fail)
  socket.write(bytes)
  waiting.set(imei, performance.now())
  await promise.finally(() => {
    clearTimeout(timer)
    waiting.delete(imei)
    socket.off('close', fail)
  })
}
