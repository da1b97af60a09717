import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { avlLogin } from '../support/encode.ts'
import { connect } from '../support/mqtt-bytes.ts'
import { type Attack, type Cost, dial, HOST, once, type Victim, write } from './attacker-connections.ts'

/** Attacks that ask which ids are configured, and which vans are connected. */
export const ORACLE_ATTACKS = {
  'is a guarded id configured? (answers and their times)': guardedIds,
  'is a guarded van connected? (unproved connections)': connectedVan,
} satisfies Record<string, Attack>

/** What is heard of an id, and how long it took, ms. */
interface Heard {
  readonly answer: string
  readonly ms: number
}

type Question = (id: string, victim: Victim, cost: Cost) => Promise<string>

/** Each with a wrong secret, so that no id is held as an unknown device: how many may be is another matter. */
const QUESTIONS: Readonly<Record<string, Question>> = {
  'a login over TCP (auto)': (id, victim, cost) => heardOn(victim, 'tcp/auto', Buffer.from(`#L#${id};guess\r\n`), cost),
  'a login over MQTT': (id, victim, cost) => heardOn(victim, 'mqtt', connect({ user: id, password: 'guess' }), cost),
  'a fix over HTTP': (id, victim, cost) => asked(victim, { path: `/?id=${id}&lat=48&lon=11&token=guess` }, cost),
  'a fix over HTTP of another protocol': (id, victim, cost) => {
    const tst = Math.floor(Date.now() / 1000)
    const body = JSON.stringify({ _type: 'location', tst, lat: 48, lon: 11, topic: `owntracks/${id}/x` })
    return asked(victim, { path: '/pub', body }, cost)
  },
}

/** By guard, an id that is not configured; it is an IMEI where the guarded one is. `protocol` is met by a fix over HTTP. */
const UNKNOWN = {
  secret: '370000000000100',
  networks: '370000000000101',
  client_certificate: '370000000000102',
} as const

async function guardedIds(victim: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const pairs = Object.entries(UNKNOWN).map(([guard, unknown]) => {
    return { guard, guarded: victim.guarded[guard as keyof typeof UNKNOWN], unknown }
  })
  const all = Object.entries(QUESTIONS).flatMap(([name, ask]) => pairs.map((pair) => ({ name, ask, ...pair })))
  await Promise.all(
    all.map(async ({ name, ask, guard, guarded, unknown }) => {
      const heard: Record<'guarded' | 'unknown', Heard[]> = { guarded: [], unknown: [] }
      const listen = async (which: keyof typeof heard) => {
        const begun = performance.now()
        const answer = await ask(which === 'guarded' ? guarded : unknown, victim, cost)
        heard[which].push({ answer, ms: performance.now() - begun })
      }
      while (!signal.aborted) {
        const order = Math.random() < 0.5 ? (['guarded', 'unknown'] as const) : (['unknown', 'guarded'] as const)
        for (const which of order) await listen(which)
        await sleep(20)
      }
      cost.told.push(
        ...differences(heard).map((each) => `whether an id with ${guard} is configured, by ${each} ${name}`),
      )
    }),
  )
}

/** By what the answers differ. */
function differences({ guarded, unknown }: Record<'guarded' | 'unknown', readonly Heard[]>): string[] {
  const found: string[] = []
  const answers = (some: readonly Heard[]) => [...new Set(some.map(({ answer }) => answer))].toSorted().join(' | ')
  if (answers(guarded) !== answers(unknown)) found.push('the answer to')
  const wins = guarded.map(({ ms }) => unknown.filter((other) => ms > other.ms).length)
  const share = wins.reduce((sum, count) => sum + count, 0) / (guarded.length * unknown.length)
  // With 15 of each chance goes beyond that once in ten thousand times.
  if (guarded.length >= 15 && Math.abs(share - 0.5) > 0.4) found.push('the time of the answer to')
  return found
}

async function heardOn({ ports }: Victim, port: string, bytes: Buffer, cost: Cost): Promise<string> {
  const socket = dial(ports[port], cost, OWN_ADDRESS)
  let answer = ''
  socket.on('data', (heard) => (answer += heard.toString('hex')))
  write(socket, bytes, cost)
  await once(socket, 'end', 5000)
  const isClosed = socket.readableEnded || socket.destroyed
  cost.received += socket.bytesRead
  socket.destroy()
  return `${answer} ${isClosed ? 'closed' : 'open'}`
}

async function asked({ ports }: Victim, { path, body }: { path: string; body?: string }, cost: Cost): Promise<string> {
  cost.units++
  const answer = await request(`http://${HOST}:${ports['http/osmand']}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Basic ${Buffer.from('x:guess').toString('base64')}` },
    body,
  })
  const text = await answer.body.text()
  cost.received += text.length
  return `${answer.statusCode} ${text}`
}

/** Of a van that is connected over MQTT, with a secret, and of a guarded device that is not: how many connections stay open. */
async function connectedVan({ guarded, ports, vans }: Victim, cost: Cost, signal: AbortSignal): Promise<void> {
  const stayed = async (id: string) => {
    const sockets = Array.from({ length: 4 }, () => dial(ports['tcp/teltonika'], cost, OWN_ADDRESS))
    for (const socket of sockets) {
      write(socket, avlLogin(id), cost)
      await once(socket, 'data', 1000)
    }
    await sleep(500)
    const count = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length
    for (const socket of sockets) socket.destroy()
    return count
  }
  const counts = { connected: new Set<number>(), not: new Set<number>() }
  while (!signal.aborted) {
    counts.connected.add(await stayed(vans[CONNECTED]))
    counts.not.add(await stayed(guarded.secret))
    await sleep(200)
  }
  const { connected, not } = counts
  if (connected.symmetricDifference(not).size === 0) return
  const [open, otherwise] = [connected, not].map((some) => [...some].join(' or '))
  cost.told.push(`whether a van with a secret is connected: ${open} of 4 connections stay open, else ${otherwise}`)
}

/** The first honest van over MQTT: it has a secret. */
const CONNECTED = 3
/** In a network of its own. */
const OWN_ADDRESS = '127.0.78.1'
