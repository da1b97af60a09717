import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { accountFor, positionsIn } from '../../src/simulate/demo/account.ts'
import { createFleet, devicesYaml, ROUTES_FROM } from '../../src/simulate/fleet.ts'
import { type SimulationOutcome, type Progress, runSimulation } from '../../src/simulate/simulation.ts'
import { speeches } from '../../src/simulate/speak/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { pidsWith, signal } from '../support/processes.ts'
import { processesOn } from '../support/running.ts'

/** TCP, HTTP and MQTT: every van keeps what was not acknowledged, and sends it again. */
const NAMES = ['teltonika', 'osmand', 'fix']
const FLEET = createFleet(
  30,
  NAMES.map((name) => speeches.find((speech) => speech.name === name)!),
)
const soon = { timeout: 30_000, interval: 20 }
const OAUTH = 'canary-oauth'

let dir: string
let places: Record<string, number>
let child: ChildProcess
let said = ''
/** Of all tests so far: how many fixes, and when the last one was made, ms UTC. */
let sentInAll = 0
let lastMadeAt = 0

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'waybridge-shutdown-'))
  const ports = await Promise.all(Array.from({ length: 5 }, freePort))
  places = Object.fromEntries(
    ['tcp/teltonika', 'http/osmand', 'mqtt', 'tracking', 'admin'].map((name, i) => [name, ports[i]]),
  )
  await writeFile(join(dir, 'gateway.yaml'), gatewayYaml())
  await writeFile(join(dir, 'devices.yaml'), devicesYaml(FLEET, '7'))
  await start()
}, 60_000)
afterAll(async () => {
  await end()
  await rm(dir, { recursive: true, force: true })
})

it('ends with exit code 0 within 10 s of a SIGTERM while 30 vans send, and loses nothing', async () => {
  const { drive, made } = await driving()
  await made(3 * FLEET.length)
  const since = performance.now()
  expect(await end()).toBe(0)
  expect(performance.now() - since).toBeLessThan(10_000)
  expect(processesOn(dir)).toEqual([])
  await start()
  await made(8 * FLEET.length)
  drive.stop()
  await allArrived(await drive.outcome)
}, 90_000)

it('costs the vans a reconnect when the gateway alone gets a SIGTERM', async () => {
  const { drive, made } = await driving()
  await made(3 * FLEET.length)
  const [gateway] = pidsWith(dir, 'gateway')
  process.kill(gateway, 'SIGTERM')
  await expect.poll(() => pidsWith(dir, 'gateway').filter((pid) => pid !== gateway).length, soon).toBe(1)
  await made(6 * FLEET.length)
  drive.stop()
  await allArrived(await drive.outcome)
  expect(child.exitCode).toBe(null)
}, 90_000)

it('ends within 10 s of a SIGTERM to every process while 30 vans send, and loses nothing', async () => {
  const { drive, made } = await driving()
  await made(3 * FLEET.length)
  await endEveryProcess()
  await start()
  await made(6 * FLEET.length)
  const ended = endEveryProcess()
  child.kill('SIGKILL')
  await ended
  await start()
  await made(9 * FLEET.length)
  drive.stop()
  await allArrived(await drive.outcome)
}, 120_000)

/** Vans that drive until they are stopped; `made` resolves once they have made so many fixes. */
async function driving() {
  // No fix has a second of the test before.
  await expect.poll(() => Date.now(), soon).toBeGreaterThan(lastMadeAt + 2000)
  const stop = new AbortController()
  let progress: Progress | undefined
  const outcome = runSimulation({
    host: '127.0.0.1',
    ports: places,
    vans: FLEET,
    intervalMs: 1000,
    durationMs: Infinity,
    patienceMs: 40_000,
    answerMs: 3000,
    seed: 7,
    keepTrips: true,
    stop: stop.signal,
    progressMs: 20,
    onProgress: (now) => (progress = now),
  })
  return {
    drive: { outcome, stop: () => stop.abort() },
    made: (count: number) => expect.poll(() => progress?.sent ?? 0, soon).toBeGreaterThanOrEqual(count),
  }
}

/** Every fix was acknowledged, is read back from the tracking service, and was stored once; and the account adds up. */
async function allArrived({ trips, sent, acked }: SimulationOutcome): Promise<void> {
  expect([acked, trips.size]).toEqual([sent, FLEET.length])
  await expect.poll(async () => (await custody()).waiting, soon).toBe(0)
  const client = createTrackingClient({ baseUrl: url('tracking'), timeoutMs: 5000, connections: 8 })
  const journeys = FLEET.map(({ id }, index) => {
    return { company: '7', route: String(ROUTES_FROM + index + 1), oauthToken: OAUTH, trip: trips.get(id)! }
  })
  const account = await accountFor(client, journeys)
  expect(account).toEqual({ sent, acked: sent, delivered: sent, lost: 0 })
  let stored = 0
  for (const { trip, ...route } of journeys) {
    const range = { from: trip.sent[0].time / 1000, to: trip.sent.at(-1)!.time / 1000 }
    stored += (await positionsIn(client, route, range)).length
    lastMadeAt = Math.max(lastMadeAt, trip.sent.at(-1)!.time)
  }
  expect(stored).toBe(sent)
  await client.close()
  sentInAll += sent
  expect(await custody()).toMatchObject({
    delivered: sentInAll,
    waiting: 0,
    parked: 0,
    held: 0,
    discarded: 0,
    difference: 0,
  })
}

async function custody(): Promise<Record<string, number>> {
  const token = (await readFile(join(dir, 'data', 'admin-token'), 'utf8')).trim()
  const answer = await fetch(`${url('admin')}/admin/status`, { headers: { authorization: `Bearer ${token}` } })
  return ((await answer.json()) as { custody: Record<string, number> }).custody
}

function url(place: string): string {
  return `http://127.0.0.1:${places[place]}`
}

async function start(): Promise<void> {
  said = ''
  child = spawn(process.execPath, [CLI, 'start', '--config', dir], { stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  await vi.waitUntil(() => existsSync(join(dir, 'data', 'ports.json')) || child.exitCode !== null, soon)
  expect(child.exitCode, said).toBe(null)
}

async function end(): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return child.exitCode
}

/** In an order of no meaning, as a service manager does. */
async function endEveryProcess(): Promise<void> {
  const since = performance.now()
  const pids = processesOn(dir).map(({ pid }) => pid)
  expect(pids.length).toBeGreaterThan(6)
  for (const pid of pids.toSorted((one, other) => (one % 7) - (other % 7))) signal(pid, 'SIGTERM')
  await expect.poll(() => processesOn(dir), soon).toEqual([])
  expect(performance.now() - since).toBeLessThan(10_000)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

function gatewayYaml(): string {
  return `
data_dir: ${join(dir, 'data')}
redis: { max_memory: 256mb }
listeners:
  - { transport: tcp, protocol: teltonika, port: ${places['tcp/teltonika']}, host: 127.0.0.1 }
  - { transport: http, protocol: osmand, port: ${places['http/osmand']}, host: 127.0.0.1 }
mqtt: { broker: { host: 127.0.0.1, port: ${places.mqtt} } }
tracking: { listen: { host: 127.0.0.1, port: ${places.tracking} } }
admin: { port: ${places.admin} }
batch: { max_wait: 100ms }
companies: [{ company_id: 7, apikey: canary-apikey, oauth_token: ${OAUTH} }]
log: { format: json, level: info }
`
}

const CLI = fileURLToPath(new URL('../../src/cli/index.ts', import.meta.url))
