import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Rig, startRig } from '../../bench/e2e/rig.ts'
import { avlLogin, avlPacket } from '../encode.ts'
import { type CalledFunction, type Coverage, startCoverage } from './coverage.ts'
import { startScriptCoverage } from './scripts.ts'

/**
 * The functions, and Lua files, that a Teltonika frame with one fix calls on its way from the socket of a gateway to the push of
 * a worker: those that are called more often in each interval with a frame than in any idle interval, which are longer. `frame`:
 * on an open connection; `connection`: with opening the connection, the login and the close.
 */
export async function functionsOfOneFrame(): Promise<{ frame: CalledFunction[]; connection: CalledFunction[] }> {
  const rig = await startRig({ vans: 1, concurrency: 64, inspect: true })
  const coverages = await Promise.all([...rig.inspectors.map(startCoverage), startScriptCoverage(rig.redisUrl)])
  try {
    const socket = await logIn(rig.port)
    for (let frame = 0; frame < WARM_UP; frame++) await deliver(rig, socket)
    const idle: Called[] = []
    const frame: Called[] = []
    const connection: Called[] = []
    for (let interval = 0; interval < INTERVALS; interval++) {
      const began = performance.now()
      frame.push(await during(coverages, () => deliver(rig, socket)))
      connection.push(await during(coverages, () => deliverOnNewConnection(rig)))
      // On a busy machine a delivery takes longer than an interval: work that timers do must not look like that of a frame.
      const busyMs = performance.now() - began
      idle.push(await during(coverages, () => sleep(busyMs)))
    }
    socket.destroy()
    return { frame: calledMore(frame, idle), connection: calledMore(connection, idle) }
  } finally {
    for (const coverage of coverages) coverage.close()
    await rig.stop()
  }
}

function calledMore(busy: readonly Called[], idle: readonly Called[]): CalledFunction[] {
  const mostWhenIdle = (key: string) => Math.max(...idle.map((called) => called.get(key)?.calls ?? 0))
  return [...busy[0]]
    .filter(([key]) => busy.every((called) => (called.get(key)?.calls ?? 0) > mostWhenIdle(key)))
    .map(([, called]) => called)
}

type Called = Map<string, CalledFunction>

async function during(coverages: readonly Coverage[], run: () => Promise<void>): Promise<Called> {
  for (const coverage of coverages) await coverage.take()
  await Promise.all([run(), sleep(INTERVAL_MS)])
  const called = await Promise.all(coverages.map((coverage) => coverage.take()))
  return new Map(called.flatMap((each) => [...each]))
}

async function logIn(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  socket.write(avlLogin('350000000000000'))
  await once(socket, 'data')
  return socket
}

async function deliverOnNewConnection(rig: Rig): Promise<void> {
  const socket = await logIn(rig.port)
  await deliver(rig, socket)
  socket.destroy()
}

/** Sends a frame with one fix and waits until the API has its position. */
async function deliver(rig: Rig, socket: Socket): Promise<void> {
  const { positions } = rig.progress()
  const time = Date.now()
  socket.write(avlPacket(0x08, [{ time, latitude: 52.5, longitude: 13.4, satellites: 9, io: { 1: [[239, 1]] } }]))
  await once(socket, 'data')
  const deadline = Date.now() + 20_000
  while (rig.progress().positions === positions) {
    if (Date.now() > deadline) throw new Error('the fix does not reach the API')
    await sleep(20)
  }
}

const WARM_UP = 3
const INTERVALS = 4
/** Longer than a lane waits for its batch (1 s). */
const INTERVAL_MS = 3000
