import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { accountFor, positionsIn } from '../../src/sandbox/demo/account.ts'
import { createFleet, devicesYaml, ROUTES_FROM } from '../../src/sandbox/fleet.ts'
import { type Progress, runSimulation, type SimulationOutcome } from '../../src/sandbox/simulation.ts'
import { speeches } from '../../src/sandbox/speak/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { freePorts } from '../support/free-ports.ts'
import { CLI, endChild } from '../support/processes.ts'

/** TCP, HTTP and MQTT: every van keeps what was not acknowledged, and sends it again. */
const NAMES = ['teltonika', 'osmand', 'fix']
const FLEET = createFleet(
  30,
  NAMES.map((name) => speeches.find((speech) => speech.name === name)!),
)
export const VANS = FLEET.length
const soon = { timeout: 60_000, interval: 20 }
const OAUTH = 'canary-oauth'

/** A `waybridge start` on ports of its own, while whose processes end and begin 30 vans send. */
export class DrivenProduct {
  readonly dir: string
  /** What listens where, as in ports.json. */
  readonly ports: Readonly<Record<string, number>>
  #child: ChildProcess | undefined
  #said = ''
  /** Of all drives so far: how many fixes, and when the last one was made, ms UTC. */
  #sentInAll = 0
  #lastMadeAt = 0

  private constructor(dir: string, ports: Readonly<Record<string, number>>) {
    this.dir = dir
    this.ports = ports
  }

  /** Makes its folder, with a gateway.yaml that ends with `yaml`, and starts it. */
  static async begin(yaml = ''): Promise<DrivenProduct> {
    const dir = await mkdtemp(join(tmpdir(), 'waybridge-driven-'))
    const numbers = await freePorts(PLACES.length)
    const made = new DrivenProduct(dir, Object.fromEntries(PLACES.map((name, at) => [name, numbers[at]])))
    await writeFile(join(dir, 'gateway.yaml'), gatewayYaml(dir, made.ports) + yaml)
    await writeFile(join(dir, 'devices.yaml'), devicesYaml(FLEET, '7'))
    await made.start()
    return made
  }

  get child(): ChildProcess {
    return this.#child!
  }

  /** Everything that it has printed since it was started last. */
  get said(): string {
    return this.#said
  }

  async start(): Promise<void> {
    this.#said = ''
    const child = spawn(process.execPath, [CLI, 'start', '--config', this.dir], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#said += text))
    const isReady = () => existsSync(join(this.dir, 'data', 'ports.json'))
    await vi.waitUntil(() => isReady() || child.exitCode !== null, soon)
    expect(child.exitCode, this.#said).toBe(null)
  }

  end(): Promise<number | null> {
    return endChild(this.child)
  }

  async remove(): Promise<void> {
    await this.end()
    await rm(this.dir, { recursive: true, force: true })
  }

  /** Vans that drive until they are stopped; `made` resolves once they have made so many fixes. */
  async drive() {
    // No fix has a second of the drive before.
    await expect.poll(() => Date.now(), soon).toBeGreaterThan(this.#lastMadeAt + 2000)
    const stop = new AbortController()
    let progress: Progress | undefined
    const outcome = runSimulation({
      host: '127.0.0.1',
      ports: this.ports,
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
      /** Ends the drive: every fix was acknowledged, is read back from the tracking service and was stored once. */
      arrive: async () => {
        stop.abort()
        await this.#allArrived(await outcome)
      },
      made: (count: number) => expect.poll(() => progress?.sent ?? 0, soon).toBeGreaterThanOrEqual(count),
    }
  }

  async admin<T>(path: string): Promise<T> {
    const token = (await readFile(join(this.dir, 'data', 'admin-token'), 'utf8')).trim()
    const answer = await fetch(`${this.#url('admin')}${path}`, { headers: { authorization: `Bearer ${token}` } })
    return (await answer.json()) as T
  }

  /** The account adds up as well. */
  async #allArrived({ trips, sent, acked }: SimulationOutcome): Promise<void> {
    expect([acked, trips.size]).toEqual([sent, FLEET.length])
    await expect.poll(async () => (await this.#custody()).waiting, soon).toBe(0)
    const client = createTrackingClient({ baseUrl: this.#url('tracking'), timeoutMs: 5000, connections: 8 })
    const journeys = FLEET.map(({ id }, index) => {
      return { company: '7', route: String(ROUTES_FROM + index + 1), oauthToken: OAUTH, trip: trips.get(id)! }
    })
    const account = await accountFor(client, journeys)
    expect(account).toEqual({ sent, acked: sent, delivered: sent, lost: 0 })
    let stored = 0
    for (const { trip, ...route } of journeys) {
      const range = { from: trip.sent[0].time / 1000, to: trip.sent.at(-1)!.time / 1000 }
      stored += (await positionsIn(client, route, range)).length
      this.#lastMadeAt = Math.max(this.#lastMadeAt, trip.sent.at(-1)!.time)
    }
    expect(stored).toBe(sent)
    await client.close()
    this.#sentInAll += sent
    expect(await this.#custody()).toMatchObject({
      delivered: this.#sentInAll,
      waiting: 0,
      parked: 0,
      held: 0,
      discarded: 0,
      difference: 0,
    })
  }

  async #custody(): Promise<Record<string, number>> {
    return (await this.admin<{ custody: Record<string, number> }>('/admin/status')).custody
  }

  #url(place: string): string {
    return `http://127.0.0.1:${this.ports[place]}`
  }
}

function gatewayYaml(dir: string, ports: Readonly<Record<string, number>>): string {
  return `
data_dir: ${join(dir, 'data')}
redis: { max_memory: 256mb }
listeners:
  - { transport: tcp, protocol: teltonika, port: ${ports['tcp/teltonika']}, host: 127.0.0.1 }
  - { transport: http, protocol: osmand, port: ${ports['http/osmand']}, host: 127.0.0.1 }
mqtt: { broker: { host: 127.0.0.1, port: ${ports.mqtt} } }
tracking: { listen: { host: 127.0.0.1, port: ${ports.tracking} } }
admin: { port: ${ports.admin} }
batch: { max_wait: 100ms }
companies: [{ company_id: 7, apikey: canary-apikey, oauth_token: ${OAUTH} }]
log: { format: json, level: info }
`
}

const PLACES = ['tcp/teltonika', 'http/osmand', 'mqtt', 'tracking', 'admin']
