import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Fix } from '../../protocols/kit/index.ts'
import type { Ports } from '../process/role-process.ts'
import type { FleetVan } from './fleet.ts'
import { lineFor } from './line/index.ts'
import { portOf } from './options.ts'
import { seeded } from './random.ts'
import { createTracker, type Tracker } from './tracker.ts'
import { createVan, type Van } from './van.ts'

export interface SimulationOptions {
  readonly host: string
  readonly ports: Ports
  readonly vans: readonly FleetVan[]
  /** Between two fixes of a van; at least 1,000, because the times of fixes are whole seconds. */
  readonly intervalMs: number
  /** How long the vans make fixes. */
  readonly durationMs: number
  /** How long to wait afterwards for acknowledgements. */
  readonly patienceMs: number
  /** How long an answer may take before a packet is sent again. */
  readonly answerMs?: number
  /** Equal seeds give the same vans on the same tours. */
  readonly seed: number
  /** Earlier fixes, which vans have kept and send first. */
  readonly backlog?: SimulatedPast
  /** Keep every fix, for `trips`; otherwise they are forgotten once they are acknowledged. */
  readonly keepTrips?: boolean
  /** Ends the driving: no more fixes are made, acknowledgements are waited for. */
  readonly stop?: AbortSignal
  /** Ends everything at once. */
  readonly hurry?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  readonly progressMs?: number
}

/** Fixes of each van, one each `intervalMs` from `from` (ms UTC) until the start. */
interface SimulatedPast {
  readonly from: number
  readonly intervalMs: number
}

/** The state of a simulation. */
export interface Progress {
  readonly phase: 'driving' | 'waiting'
  readonly vans: number
  /** Fixes that vans have made; each is sent until it is acknowledged. */
  readonly sent: number
  readonly acked: number
  /** Vans whose last packet was not acknowledged, and the most frequent reason. */
  readonly troubled: number
  readonly trouble?: string
}

/** Every fix of a van in order; the first `acked` of them are acknowledged. */
export interface Trip {
  readonly sent: readonly Fix[]
  readonly acked: number
}

/** The result of a simulation. `trips` by device; empty without `keepTrips`. */
export interface SimulationOutcome extends Progress {
  readonly trips: ReadonlyMap<string, Trip>
}

/** Lets vans drive and send for the duration, then waits until every fix is acknowledged or the patience is over. */
export async function runSimulation(options: SimulationOptions): Promise<SimulationOutcome> {
  const end = new AbortController()
  setMaxListeners(0, end.signal)
  const drivers = options.vans.map((van, index) => createDriver(van, index, { ...options, signal: end.signal }))
  let phase: Progress['phase'] = 'driving'
  const ticker = setInterval(() => options.onProgress?.(progressOf(drivers, phase)), options.progressMs ?? 1000)
  await drive(drivers, options)
  phase = 'waiting'
  await settle(drivers, options)
  clearInterval(ticker)
  end.abort()
  for (const { tracker } of drivers) tracker.close()
  const trips = options.keepTrips ? new Map(drivers.map(({ id, trip }) => [id, trip])) : new Map<string, Trip>()
  return { ...progressOf(drivers, phase), trips }
}

interface Driver {
  readonly id: string
  readonly van: Van
  readonly tracker: Tracker
  readonly trip: { readonly sent: Fix[]; acked: number }
  made: number
}

function createDriver(
  { id, speech }: FleetVan,
  index: number,
  { host, ports, seed, answerMs = ANSWER_MS, signal }: SimulationOptions & { signal: AbortSignal },
): Driver {
  const line = lineFor(speech, { host, port: portOf(speech, ports), id, answerMs })
  const own = Math.imul(seed, 0x9e3779b1) + index
  const trip = { sent: [], acked: 0 }
  const acknowledged = (fixes: number) => (trip.acked += fixes)
  const tracker = createTracker({ line, random: seeded(~own), signal, acknowledged })
  return { id, van: createVan(own), tracker, trip, made: 0 }
}

/** One timer serves all vans, so that the fixes of a fleet are spread evenly over the interval. */
async function drive(drivers: readonly Driver[], options: SimulationOptions): Promise<void> {
  const { intervalMs, durationMs, keepTrips = false, backlog } = options
  const isOver = () => options.stop?.aborted || options.hurry?.aborted
  const gap = intervalMs / drivers.length
  const begun = performance.now()
  const start = Date.now()
  if (backlog)
    for (const driver of drivers)
      for (let at = backlog.from; at < start - intervalMs; at += backlog.intervalMs) record(driver, at, keepTrips)
  for (let count = 0; !isOver(); ) {
    const elapsed = performance.now() - begun
    for (; count * gap < Math.min(elapsed, durationMs); count++)
      record(drivers[count % drivers.length], start + count * gap, keepTrips)
    if (elapsed >= durationMs) return
    await pause(TICK_MS)
  }
}

function record(driver: Driver, at: number, keep: boolean): void {
  const fix = driver.van(Math.floor(at / 1000) * 1000)
  if (keep) driver.trip.sent.push(fix)
  driver.made++
  driver.tracker.record(fix)
}

/** Resolves once every fix of the trackers is acknowledged, `patienceMs` are over, or `hurry` is aborted. */
export async function settle(
  vans: readonly Pick<Driver, 'tracker'>[],
  { patienceMs, hurry }: Pick<SimulationOptions, 'patienceMs' | 'hurry'>,
): Promise<void> {
  const enough = new AbortController()
  const signal = hurry ? AbortSignal.any([hurry, enough.signal]) : enough.signal
  const patience = pause(patienceMs, undefined, { signal }).catch(() => {})
  await Promise.race([Promise.all(vans.map(({ tracker }) => tracker.settled())), patience])
  enough.abort()
}

function progressOf(drivers: readonly Driver[], phase: Progress['phase']): Progress {
  const told = new Map<string, number>()
  const progress = { phase, vans: drivers.length, sent: 0, acked: 0, troubled: 0 }
  for (const { made, trip, tracker } of drivers) {
    progress.sent += made
    progress.acked += trip.acked
    if (tracker.trouble === undefined) continue
    progress.troubled++
    told.set(tracker.trouble, (told.get(tracker.trouble) ?? 0) + 1)
  }
  const [most] = [...told].toSorted(([, a], [, b]) => b - a)
  return { ...progress, trouble: most?.[0] }
}

const TICK_MS = 20
const ANSWER_MS = 10_000
