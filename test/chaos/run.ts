import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { FleetVan } from '../../src/sandbox/fleet.ts'
import type { ClockSteps } from '../rig/clock.ts'
import type { Topology } from '../rig/replicated-redis.ts'
import { PUSH_TIMEOUT_MS, prepareSite, type Site } from '../rig/site.ts'
import { type Journal, startUpstreamApi } from '../rig/upstream.ts'
import { type ChaosVans, createChaosFleet, startVans } from '../rig/vans.ts'
import { openWires, type WireState } from '../rig/wire.ts'
import { untilSo } from '../support/processes.ts'
import { atRest } from './aftermath.ts'
import { startCopyReceivers } from './copies.ts'
import { startEditor } from './editor.ts'
import type { Edit } from './edits.ts'
import { type FaultTargets, injectFault, undoAll } from './faults.ts'
import { groupFaults } from './group-faults.ts'
import type { Fault } from './plan.ts'
import { shownRoster } from './roster.ts'
import { type System, startSystem } from './system.ts'
import { judge, rosterProblems, type Verdict, vansOf } from './verdict.ts'

export interface ChaosOptions {
  readonly topology: Topology
  readonly shards?: number
  readonly vans: number
  /** One: around the private Redis of `start`. */
  readonly gateways: number
  readonly seed: number
  readonly lengthMs: number
  readonly faults: readonly Fault[]
  /** Aborted: no more faults and fixes; what was made is still delivered. */
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

export interface Outcome extends Verdict {
  /** The faults that were injected, and those whose target was not there. */
  readonly done: readonly Fault[]
  readonly missed: readonly Fault[]
  readonly starts: number
  readonly broken: number
  /** How often the roster was changed. */
  readonly edited: number
  readonly past: number
  /** How many fixes were read back from the API. */
  readonly checked: number
  /** The folder with configuration, data, log and journal, where not all is well. */
  readonly kept?: string
}

/** One run: starts the product, its vans and its API, injects the faults, and judges what was delivered. */
export async function runChaos(options: ChaosOptions): Promise<Outcome> {
  const fleet = createChaosFleet(options.vans)
  const copies = await startCopyReceivers()
  const site = await prepareSite(fleet, {
    ...options,
    sections: `verify: { share: 1, after: 5s }\n${copies.yaml}`,
    clockJumps: options.faults.some(({ kind }) => /^clock-|^skew-/.test(kind)),
  })
  const journal = join(site.dir, 'journal.jsonl')
  const api = await startUpstreamApi({ journal, port: site.apiPort, lateMs: PUSH_TIMEOUT_MS + 500 })
  const system = await startSystem(site)
  const wireState: WireState = { mode: 'good', broken: 0 }
  const dying = setTimeout(() => copies.kill(), options.lengthMs / 2)
  const { done, missed, aftermath, ...driven } = await drive({ site, system, api, wireState }, fleet, options)
  clearTimeout(dying)
  const copied = await copies.atRest(system)
  const { codes, left } = await system.end()
  copies.close()
  const journalled = await api.end()
  const verdict = judge({ ...journalled, ...driven, custody: aftermath.custody, clocks: clocksOf(site) })
  const taken = takenOf(journalled, vansOf(driven.trips, driven.edits))
  const problems = [...verdict.problems, ...aftermath.problems, ...copied, ...copies.problems(driven.trips, taken)]
  if (codes.some((code) => code !== 0) || left > 0)
    problems.push(`it ended with ${codes.join()} and left ${left} processes behind`)
  await site.leave(problems.length > 0)
  const kept = problems.length > 0 ? site.dir : undefined
  const edited = driven.edits.length
  const past = driven.edits.filter(({ kind }) => kind === 'past').length
  const { checked } = aftermath
  return {
    ...verdict,
    problems,
    done,
    missed,
    starts: system.starts(),
    broken: wireState.broken,
    edited,
    past,
    checked,
    kept,
  }
}

function clocksOf({ clock, replicated }: Site): ClockSteps {
  return { steps: clock?.steps ?? [], redisSteps: replicated?.clocks.flatMap(({ steps }) => steps) }
}

async function drive(targets: FaultTargets, fleet: readonly FleetVan[], options: ChaosOptions) {
  const { site, system, wireState } = targets
  const wires = await openWires(site.machines, wireState)
  const vans = startVans(fleet, { ...site.machines.at(-1)?.ports, ...wires.ports }, options.seed)
  const editor = startEditor({ site, system, trips: vans.trips, seed: options.seed })
  const recovered = (since: number) => whenAcknowledged(vans, since)
  const group = site.replicated && groupFaults(site.replicated, recovered)
  const injected = await injectAll({ ...targets, group, say: options.say }, options)
  options.say('faults are over')
  await undoAll({ ...targets, group })
  await Promise.all([vans.settle(SETTLED_BY_MS), editor.settle(SETTLED_BY_MS)])
  options.say(`all is acknowledged: ${vans.troubles().length === 0}`)
  const aftermath = await atRest(editor.edits, system)
  const shown = await rosterAtRest(editor.edits, system)
  vans.close()
  await wires.close()
  return { ...injected, trips: vans.trips, edits: editor.edits, shown, aftermath }
}

async function injectAll(targets: FaultTargets, { faults, lengthMs, signal, say }: ChaosOptions) {
  const began = performance.now()
  const until = (at: number) =>
    pause(Math.max(0, at - (performance.now() - began)), undefined, { signal }).catch(() => {})
  const done: Fault[] = []
  const missed: Fault[] = []
  async function inject(fault: Fault): Promise<void> {
    await until(fault.at)
    if (signal.aborted) return
    const hit = await injectFault(fault, targets, signal)
    ;(hit ? done : missed).push(fault)
    if (!hit) say(`missed: ${fault.kind} at ${fault.at / 1000} s`)
  }
  await Promise.all([until(lengthMs), ...faults.map(inject)])
  return { done, missed }
}

/** The times of the fixes of a van that the tracking API took, on whatever lane. */
function takenOf({ requests }: Journal, vans: ReadonlyMap<string, string>) {
  const byVan = Map.groupBy(
    requests.filter(({ took }) => took),
    ({ lane }) => vans.get(lane),
  )
  return (device: string) =>
    new Set((byVan.get(device) ?? []).flatMap(({ positions }) => positions.map(([time]) => time)))
}

/** Waits until all fixes that were made before the call are acknowledged, within `RECOVERED_BY_MS`. Returns when the first was since then. */
async function whenAcknowledged({ trips }: ChaosVans, since: number): Promise<number> {
  const calledAt = Date.now()
  const last = trips.flatMap(({ fixes }) => fixes.findLast(({ madeAt }) => madeAt < calledAt) ?? [])
  const areAcked = () => last.every(({ ackedAt }) => ackedAt !== undefined)
  await untilSo(areAcked, { withinMs: RECOVERED_BY_MS, everyMs: 100 })
  const acks = trips.flatMap(({ fixes }) => fixes.flatMap(({ ackedAt }) => ackedAt ?? []))
  return acks.reduce((first, at) => (at >= since && at < first ? at : first), Infinity)
}

/** What the admin port shows once it has all that was changed: a file may have been a moment ago. */
async function rosterAtRest(edits: readonly Edit[], system: System): Promise<ReadonlySet<string> | undefined> {
  let shown: ReadonlySet<string> | undefined
  const isShown = async () => {
    shown = await shownRoster(edits, system).catch(() => undefined)
    return rosterProblems(edits, shown).length === 0
  }
  await untilSo(isShown, { withinMs: SHOWN_BY_MS, everyMs: 200 })
  return shown
}

const RECOVERED_BY_MS = 30_000
const SETTLED_BY_MS = 90_000
const SHOWN_BY_MS = 30_000
