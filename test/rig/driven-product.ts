import type { ChildProcess } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { accountFor, positionsIn } from '../../src/sandbox/demo/account.ts'
import { createFleet, devicesYaml, ROUTES_FROM } from '../../src/sandbox/fleet.ts'
import { type Progress, runSimulation, type SimulationOutcome } from '../../src/sandbox/simulation.ts'
import { speeches } from '../../src/sandbox/speak/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { freePorts } from '../support/free-ports.ts'
import { endChild } from '../support/processes.ts'
import { askAdmin, COMPANY, makeFolder, runStart } from './product.ts'

/** TCP, HTTP and MQTT: every van keeps what was not acknowledged, and sends it again. */
const NAMES = ['teltonika', 'osmand', 'fix']
const FLEET = createFleet(
  30,
  NAMES.map((name) => speeches.find((speech) => speech.name === name)!),
)
export const VANS = FLEET.length
const soon = { timeout: 60_000, interval: 20 }

/** A `waybridge start` on ports that it keeps. 30 vans send while its processes end and are started again. */
export class DrivenProduct {
  readonly dir: string
  /** What listens where, as in ports.json. */
  readonly ports: Readonly<Record<string, number>>
  #running: Awaited<ReturnType<typeof runStart>> | undefined
  /** Of all drives so far: how many fixes, and when the last one was made, ms UTC. */
  #sentInAll = 0
  #lastMadeAt = 0

  private constructor(dir: string, ports: Readonly<Record<string, number>>) {
    this.dir = dir
    this.ports = ports
  }

  /** Makes its folder, with a gateway.yaml that ends with `yaml`, and starts it. */
  static async begin(yaml = ''): Promise<DrivenProduct> {
    const numbers = await freePorts(PLACES.length)
    const ports = Object.fromEntries(PLACES.map((name, at) => [name, numbers[at]]))
    const made = new DrivenProduct(await makeFolder({ 'devices.yaml': devicesYaml(FLEET, '7') }, yaml, ports), ports)
    await made.start()
    return made
  }

  get child(): ChildProcess {
    return this.#running!.child
  }

  /** Everything that it has printed since it was started last. */
  get said(): string {
    return this.#running!.said()
  }

  async start(): Promise<void> {
    this.#running = await runStart(this.dir)
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
    const answer = await askAdmin({ dataDir: join(this.dir, 'data'), adminPort: this.ports.admin }, path)
    return (await answer.json()) as T
  }

  /** The account adds up as well. */
  async #allArrived({ trips, sent, acked }: SimulationOutcome): Promise<void> {
    expect([acked, trips.size]).toEqual([sent, FLEET.length])
    await expect.poll(async () => (await this.#custody()).waiting, soon).toBe(0)
    const client = createTrackingClient({
      baseUrl: `http://127.0.0.1:${this.ports.tracking}`,
      timeoutMs: 5000,
      connections: 8,
    })
    const journeys = FLEET.map(({ id }, index) => {
      return {
        company: '7',
        route: String(ROUTES_FROM + index + 1),
        oauthToken: COMPANY.oauth_token,
        trip: trips.get(id)!,
      }
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
}

const PLACES = ['tcp/teltonika', 'http/osmand', 'mqtt', 'tracking', 'admin']
