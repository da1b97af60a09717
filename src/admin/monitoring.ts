import * as z from 'zod'
import { shared, within, yieldToEventLoop } from '../async.ts'
import { operationGauges } from '../observe/operation-gauges.ts'
import type { Assignment } from '../roster/assignment.ts'
import { countFrames, countMarkBytes, readTrialAccount, type Store, type SeenProcess } from '../store/index.ts'
import { memoryInfos, memoryShare, memoryUses } from '../store/memory.ts'
import { type AdminToken, metricsAccess } from './access.ts'
import type { CopyCollector } from './copies.ts'
import type { FixAccount } from './custody.ts'
import { type ApiState, worstOf } from './api-states.ts'
import type { FactGatherer } from './facts.ts'
import type { Findings } from './findings.ts'
import type { Operation } from './operation.ts'
import type { RosterInEffect } from './roster/writes.ts'
import type { DeviceState } from './schemas/devices.ts'

export interface MonitoringSources {
  readonly readiness: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>
  /** The text for Prometheus. */
  readonly metrics: () => Promise<string>
  /** Returns the bearer token that `/metrics` needs now; null: none. A token of the admin port is accepted too. */
  readonly metricsToken: () => string | null
  readonly tokens: () => readonly AdminToken[]
}

/**
 * `GET /healthz`, `/readyz` (503 while not ready) and `/metrics`. They need no token, unless `admin.metrics_token` is set for
 * `/metrics`. Metrics are collected at most once a second, however often they are asked for.
 */
export function monitoringOperations({ readiness, metrics, metricsToken, tokens }: MonitoringSources): Operation[] {
  const state = shared(0, readiness)
  const text = shared(MAX_AGE_MS, async () => Buffer.from(await metrics()))
  const open = { method: 'GET', open: true } as const
  return [
    {
      ...open,
      path: '/healthz',
      id: 'getHealth',
      summary: 'Get whether the process runs',
      answer: z.object({ ok: z.boolean() }),
      handle: async () => ({ ok: true }),
    },
    {
      ...open,
      path: '/readyz',
      id: 'getReadiness',
      summary: 'Get whether waybridge is ready; 503 with the same fields while it is not',
      answer: z.object({ ok: z.boolean(), problems: z.array(z.string()) }),
      async handle(_request, reply) {
        const { ok, problems } = await state()
        return reply.code(ok ? 200 : 503).send({ ok, problems })
      },
    },
    {
      ...open,
      path: '/metrics',
      id: 'getMetrics',
      open: metricsAccess(metricsToken, tokens),
      summary: 'Get the metrics of all processes for Prometheus, at most a second old',
      refusals: [401],
      answer: z.string(),
      answerType: 'text/plain',
      handle: async (_request, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await text()),
    },
  ]
}

const MAX_AGE_MS = 1000

interface GaugeSources extends Pick<MonitoringSources, 'readiness'> {
  readonly redis: Store
  readonly account: () => Promise<FixAccount>
  readonly copies: Pick<CopyCollector, 'accounts'>
  readonly apiStates: () => Promise<readonly ApiState[]>
  readonly devices: () => Promise<Record<DeviceState, number>>
  readonly findings: Pick<Findings, 'current' | 'facts'>
  readonly gatherer: Pick<FactGatherer, 'gateways' | 'processes' | 'pushes' | 'pushesTo'>
  readonly live: Pick<RosterInEffect, 'directory' | 'version'>
}

type Gauges = ReturnType<typeof operationGauges>

/**
 * Sets the gauges of the whole system whenever the metrics of this process are read. While Redis does not answer, gauges that
 * depend on it have no value; if Redis takes longer than two seconds, they keep the last one.
 */
export function startGauges(sources: GaugeSources): { readonly close: () => void } {
  const gauges = operationGauges(refresh)
  // A gauge without labels would begin at 0.
  gauges.forget()
  const showProcesses = processGauges(gauges, sources.gatherer)
  const showRoster = rosterGauges(gauges, sources.live)
  let taking: Promise<void> | undefined

  async function refresh(): Promise<void> {
    const { findings, readiness, redis } = sources
    gauges.findings.reset()
    for (const { code, severity } of findings.current) gauges.findings.inc({ code, severity })
    const isUp = redis.status === 'ready' && findings.facts?.redis?.downSince === undefined
    gauges.redisUp.set(isUp ? 1 : 0)
    if (!isUp) {
      gauges.ready.set(0)
      return gauges.forget()
    }
    const taken = async () => {
      await Promise.all([showStored(gauges, sources), showRoster(), showReadiness(gauges, readiness)])
      showProcesses()
    }
    taking ??= taken()
      .catch(gauges.forget)
      .finally(() => (taking = undefined))
    await within(MAX_WAIT_MS, taking)
  }

  return { close: gauges.unregister }
}

async function showReadiness(gauges: Gauges, readiness: GaugeSources['readiness']): Promise<void> {
  const { ok } = await readiness()
  gauges.ready.set(ok ? 1 : 0)
}

async function showStored(
  gauges: Gauges,
  { redis, account, apiStates, copies, devices, gatherer }: GaugeSources,
): Promise<void> {
  const [taken, apis, states, memory, markBytes, frames, trial] = await Promise.all([
    account(),
    apiStates(),
    devices(),
    memoryInfos(redis),
    countMarkBytes(redis),
    countFrames(redis),
    readTrialAccount(redis),
  ])
  gauges.waiting.set(taken.waiting.fixes)
  gauges.parked.set(taken.parked.fixes)
  for (const [reason, fixes] of Object.entries(taken.heldFor)) gauges.held.set({ reason }, fixes)
  gauges.setTotal('discarded', [...DISCARDED.map((reason) => [reason, 0] as const), ...taken.discardedFor])
  gauges.setTotal('redelivered', [['', taken.custody.redelivered]])
  gauges.setTotal('trialFrames', [
    ['stored', trial.stored],
    ['missed', trial.missed],
  ])
  if (taken.waiting.oldestAt === undefined) gauges.oldest.remove()
  else gauges.oldest.set(taken.waiting.oldestAt / 1000)
  gauges.difference.set(taken.custody.difference)
  for (const [state, number] of Object.entries(states)) gauges.devices.set({ state }, number)
  gauges.upstreamUp.set(worstOf(apis)?.state === 'down' ? 0 : 1)
  showApis(gauges, apis, gatherer)
  showCopies(gauges, copies.accounts)
  gauges.memory.set(Math.max(...memory.map(memoryShare)))
  const { waiting, parked, held } = taken.custody
  const { bytes: misunderstood, ...kinds } = frames
  for (const [kind, number] of Object.entries(kinds)) gauges.misunderstood.set({ kind }, number)
  const uses = memoryUses(memory, { marks: markBytes, misunderstood, held, parked, waiting })
  for (const [use, share] of Object.entries(uses)) gauges.memoryUses.set({ use }, share)
}

/** An API that is no longer configured is not shown. */
function showApis(gauges: Gauges, apis: readonly ApiState[], gatherer: GaugeSources['gatherer']): void {
  gauges.apiUp.reset()
  gauges.apiInFlight.reset()
  for (const each of apis) {
    gauges.apiUp.set({ api: each.name }, each.state === 'down' ? 0 : 1)
    gauges.apiInFlight.set({ api: each.name }, gatherer.pushesTo(each).inFlight)
  }
}

/** A copy that is no longer configured is not shown. */
function showCopies(gauges: Gauges, accounts: CopyCollector['accounts']): void {
  gauges.copyWaiting.reset()
  gauges.copyParked.reset()
  for (const { copy, parked, waiting } of accounts) {
    gauges.copyWaiting.set({ copy }, waiting)
    gauges.copyParked.set({ copy }, parked)
  }
  const byCopy = (count: 'delivered' | 'discarded') => accounts.map((each) => [each.copy, each[count]] as const)
  gauges.setTotal('copyDelivered', byCopy('delivered'))
  gauges.setTotal('copyDiscarded', byCopy('discarded'))
}

/** Shows the figures of the processes. Remembers their latest instants, because a restarted process forgets its own. */
function processGauges(gauges: Gauges, gatherer: GaugeSources['gatherer']): () => void {
  const latest = { lastDelivery: 0, lastFix: 0 }
  return () => {
    const { gateways, processes, pushes } = gatherer
    gauges.inFlight.set(pushes.inFlight)
    gauges.oldestInFlight.set(pushes.oldestMs / 1000)
    latest.lastDelivery = Math.max(latest.lastDelivery, ...Object.values(pushes.acceptedAt))
    latest.lastFix = Math.max(latest.lastFix, gateways.lastFixAt)
    for (const name of ['lastDelivery', 'lastFix'] as const) if (latest[name] > 0) gauges[name].set(latest[name] / 1000)
    const byRole = new Map<string, SeenProcess[]>(ROLES.map((role) => [role, []]))
    for (const process of processes) byRole.set(process.role, [...(byRole.get(process.role) ?? []), process])
    for (const [role, own] of byRole)
      gauges.processUp.set({ role }, own.length > 0 && own.every(({ ageMs }) => ageMs < LIVES_MS) ? 1 : 0)
    gauges.setTotal(
      'restarts',
      Array.from(byRole, ([role, own]) => [role, restartsOf(own)] as const),
    )
  }
}

function restartsOf(processes: readonly SeenProcess[]): number {
  return processes.reduce((sum, { restarts = 0 }) => sum + restarts, 0)
}

/** Shows how large the roster is; it is counted every ten seconds at most, and after each write. */
function rosterGauges(gauges: Gauges, live: GaugeSources['live']): () => Promise<void> {
  let counts: Awaited<ReturnType<typeof countLines>> = { current: 0, future: 0, past: 0 }
  let [counted, countedAt] = [-1, -Infinity]
  return async () => {
    const version = live.version()
    if (version !== counted || performance.now() - countedAt > ROSTER_MS) {
      counts = await countLines(live.directory().assignments())
      ;[counted, countedAt] = [version, performance.now()]
    }
    for (const [state, lines] of Object.entries(counts)) gauges.rosterLines.set({ state }, lines)
    if (version === 0) gauges.rosterWritten.remove()
    else gauges.rosterWritten.set(version / 1000)
  }
}

async function countLines(assignments: Iterable<readonly [field: string, line: Assignment]>) {
  const counts = { current: 0, future: 0, past: 0 }
  const now = Date.now() / 1000
  for (const [, { from, until }] of assignments) {
    counts[from > now ? 'future' : until > now ? 'current' : 'past']++
    await yieldToEventLoop()
  }
  return counts
}

/** Reasons for discarding fixes. Each has a counter that begins at 0. */
const DISCARDED = ['held_age', 'held_overflow', 'other_protocol', 'other_company', 'deleted'] as const
/** Without the embedded tracking service, which is not always there. */
const ROLES = ['gateway', 'worker', 'admin'] as const
/** A process gives a sign each second. */
const LIVES_MS = 10_000
const MAX_WAIT_MS = 2000
const ROSTER_MS = 10_000
