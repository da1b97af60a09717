import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Conversation } from '../../../src/gateway/conversation.ts'
import { HeardBook } from '../../../src/gateway/heard.ts'
import { PUT_SOURCE, putLine } from '../../../src/roster/assignment.ts'
import { writeRoster } from '../../../src/roster/table.ts'
import { keys, type Store } from '../../../src/store/index.ts'
import { store } from '../../support/admin.ts'
import { messageOf } from '../../support/processes.ts'
import { imeiOf as idOf } from '../e2e/codec8.ts'

export const DEVICES = 100_000
export const LANES = 20_000
export const HEARD = (DEVICES * 3) / 4
const PARKED = 1000

/**
 * Fills Redis: the first three quarters of the devices are heard; 20,000 of these have a line for today, and a lane in which
 * something waits; the last 1,000 lanes are parked.
 */
export async function fill(redis: Store): Promise<void> {
  const devices = Array.from({ length: DEVICES }, (_, n) => {
    const ids = { company_id: '7', courier_id: `${n + 1}`, route_id: `${n + 1}` }
    return [idOf(n), { id: idOf(n), name: `Van ${n}`, ...ids, source: PUT_SOURCE }] as const
  })
  const [from, until] = [0, 1].map((days) => Math.floor(Date.now() / 86_400_000 + days) * 86_400)
  const assignments = Array.from({ length: LANES }, (_, n) => {
    const line = { device: idOf(n), courier_id: `${n + 1}`, route_id: `${n + 1}`, from, until }
    return putLine(line, { company_id: '7', line: n + 1 })
  })
  await writeRoster(redis, { devices, assignments }, 0)
  const book = new HeardBook(redis)
  for (let n = 0; n < HEARD; n++) hear(book, n, Date.now() - n * 10)
  await book.close()
  for (let n = 0; n < LANES; n += 500) await storeEach(redis, n, 500)
  const at = Date.now()
  const why = JSON.stringify({ status: 403, message: 'forbidden', tries: 3, at, since: at })
  await redis.hset(
    keys.parked,
    Object.fromEntries(Array.from({ length: PARKED }, (_, n) => [laneOf(LANES - n - 1), why])),
  )
}

/** Sends 1,000 fixes a second of 2,000 devices through the gateway from now on. */
export async function drive(port: number): Promise<ChildProcess> {
  const plan = { port, vans: 2000, fixesPerPacket: 1, packetsPerSecond: 1000, maxBehind: 0, keepSamples: false }
  const sender = fork(SENDER, [JSON.stringify(plan)])
  await messageOf(sender, 'ready')
  return sender
}

/** The vans of the bench, a process of their own. */
export const SENDER = fileURLToPath(new URL('../e2e/sender.ts', import.meta.url))

function laneOf(n: number): string {
  return `7/${n + 1}/${n + 1}`
}

function hear(book: HeardBook, n: number, at: number): void {
  const session = Object.assign(new Conversation('udp', '10.1.2.3:40001'), { device: idOf(n), now: at })
  book.of(idOf(n)).spoke(session, 'teltonika')
  const fix = { time: at, latitude: 45 + (n % 1000) / 100, longitude: 5 + n / 10_000, speed: n % 30, valid: true }
  book.of(idOf(n)).stored({ fix: { at, fix } })
}

async function storeEach(redis: Store, first: number, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, n) => store(redis, laneOf(first + n), { device: idOf(first + n) })),
  )
}
