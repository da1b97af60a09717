import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ports } from '../../src/process/role-process.ts'
import { createFleet, type FleetVan, ROUTES_FROM } from '../../src/sandbox/fleet.ts'
import { lineFor } from '../../src/sandbox/line/index.ts'
import { portOf } from '../../src/sandbox/options.ts'
import { seeded } from '../../src/sandbox/random.ts'
import { settle } from '../../src/sandbox/simulation.ts'
import { type Speech, speeches } from '../../src/sandbox/speak/index.ts'
import { createTracker, type Tracker } from '../../src/sandbox/tracker.ts'
import { createVan, type Van } from '../../src/sandbox/van.ts'
import { fixOnce, mqttSessionLine } from './mqtt-session.ts'

/** A fix of a van, and when: ms UTC. No two of a van have the same time. */
export interface MadeFix {
  /** Unix seconds. */
  readonly timestamp: number
  readonly latitude: number
  readonly longitude: number
  readonly madeAt: number
  ackedAt?: number
  /** Until when it may be held, if the clock of the product was behind. */
  heldUntil?: number
}

/** What a van made, in order. Each has a lane of its own. */
export interface Trip {
  readonly id: string
  readonly speech: string
  /** `<courier>/<route>` */
  readonly lane: string
  /** How far the van's clock is ahead. */
  readonly aheadMs: number
  readonly fixes: readonly MadeFix[]
}

/** Vans that make a fix a second, keep it until it is acknowledged, and send it again until then. */
export interface ChaosVans {
  readonly trips: readonly Trip[]
  /** Makes no more fixes; resolves once all are acknowledged, or `patienceMs` are over. */
  settle(patienceMs: number): Promise<void>
  /** The vans whose last packet was not acknowledged, with the reason. */
  troubles(): string[]
  close(): void
}

/** The vans 1 to n, which get the answered speeches in turn; the clocks of a few are hours off. */
export function createChaosFleet(count: number): FleetVan[] {
  return createFleet(count, [fixOnce, ...speeches.filter(acknowledgesFixes)])
}

/** Whether the protocol answers fixes: otherwise they count as acknowledged once they are written, and may be lost. */
export function acknowledgesFixes(speech: Speech): boolean {
  return speech.transport !== 'tcp' || speech.isUnanswered !== true
}

/** Starts at once. `ports`: those that the vans connect to. */
export function startVans(fleet: readonly FleetVan[], ports: Ports, seed: number): ChaosVans {
  const end = new AbortController()
  setMaxListeners(0, end.signal)
  const drivers = fleet.map((van, index) => createDriver(van, { index, ports, seed, signal: end.signal }))
  let driving = true
  const driven = drive(drivers, () => driving)
  return {
    trips: drivers.map(({ trip }) => trip),
    async settle(patienceMs) {
      driving = false
      await driven
      await settle(drivers, { patienceMs })
    },
    troubles: () => drivers.flatMap(({ trip, tracker: { trouble } }) => (trouble ? `${trip.speech}: ${trouble}` : [])),
    close() {
      end.abort()
      for (const { tracker } of drivers) tracker.close()
    },
  }
}

interface Driver {
  readonly van: Van
  readonly tracker: Tracker
  readonly trip: Trip & { readonly fixes: MadeFix[] }
}

interface DriverOptions {
  readonly index: number
  readonly ports: Ports
  readonly seed: number
  readonly signal: AbortSignal
}

function createDriver({ id, speech }: FleetVan, { index, ports, seed, signal }: DriverOptions): Driver {
  const trip: Driver['trip'] = {
    id,
    speech: speech.name,
    lane: `${index + 1}/${ROUTES_FROM + index + 1}`,
    aheadMs: CLOCKS.get(index % CLOCK_EVERY) ?? 0,
    fixes: [],
  }
  const end = { host: '127.0.0.1', port: portOf(speech, ports), id, answerMs: ANSWER_MS }
  const line = speech === fixOnce ? mqttSessionLine(fixOnce, end) : lineFor(speech, end)
  const own = Math.imul(seed, 0x9e3779b1) + index
  let acked = 0
  const acknowledged = (count: number) => {
    const now = Date.now()
    for (const fix of trip.fixes.slice(acked, acked + count)) fix.ackedAt = now
    acked += count
  }
  return { van: createVan(own), tracker: createTracker({ line, random: seeded(~own), signal, acknowledged }), trip }
}

/** Spreads the fixes of all vans evenly over each second. */
async function drive(drivers: readonly Driver[], driving: () => boolean): Promise<void> {
  const start = Date.now()
  const gap = 1000 / drivers.length
  for (let count = 0; driving(); await pause(20))
    for (; count * gap < Date.now() - start; count++)
      record(drivers[count % drivers.length], (Math.floor(start / 1000) + Math.floor(count / drivers.length)) * 1000)
}

function record({ van, tracker, trip }: Driver, time: number): void {
  const fix = van(time + trip.aheadMs)
  const { latitude, longitude } = fix
  trip.fixes.push({ timestamp: fix.time / 1000, latitude, longitude, madeAt: Date.now() })
  tracker.record(fix)
}

/** Of each 17 vans, the clock of one is ahead and that of one behind: they speak different protocols. */
const CLOCK_EVERY = 17
const CLOCKS = new Map([
  [4, 2 * 3_600_000],
  [9, -3 * 3_600_000],
])
const ANSWER_MS = 3000
