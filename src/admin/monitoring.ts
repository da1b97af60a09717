import * as z from 'zod'
import { shared, within } from '../async.ts'
import { memoryShare, memoryUses } from '../ingest/acceptance.ts'
import { countFrames, keys, type Redis } from '../lanes/index.ts'
import { operationGauges } from '../observe/metrics.ts'
import { type AdminToken, metricsAccess } from './access.ts'
import type { FixAccount } from './custody.ts'
import type { Findings } from './findings.ts'
import type { DeviceState } from './json.ts'
import type { Operation } from './operation.ts'
import type { Upstream } from './facts.ts'

export interface MonitoringSources {
  readonly readiness: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>
  /** The text for Prometheus. */
  readonly metrics: () => Promise<string>
  /** What `/metrics` wants as bearer token; null: none. A token of the admin port does as well. */
  readonly metricsToken: string | null
  readonly tokens: () => readonly AdminToken[]
}

/**
 * `GET /healthz`, `/readyz` (503 while not ready) and `/metrics`; monitoring systems need no token for them, unless
 * `admin.metrics_token` is set. Whoever asks, and how often: metrics are collected at most once a second.
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
      open: metricsAccess(metricsToken, tokens) ?? true,
      summary: 'Get the metrics of all processes for Prometheus, at most a second old',
      refusals: [401],
      answer: z.string(),
      answerType: 'text/plain',
      handle: async (_request, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await text()),
    },
  ]
}

interface GaugeSources {
  readonly redis: Redis
  readonly account: () => Promise<FixAccount>
  readonly upstream: () => Promise<Upstream>
  readonly devices: () => Promise<Record<DeviceState, number>>
  readonly findings: Pick<Findings, 'current'>
}

/**
 * Keeps the gauges of what is stored in Redis; they are taken whenever the metrics of this process are read. While Redis does
 * not answer they have no value; where it takes longer than two seconds, their last one.
 */
export function startGauges({ redis, account, upstream, devices, findings }: GaugeSources): {
  readonly close: () => void
} {
  const gauges = operationGauges(refresh)
  let taking: Promise<void> | undefined

  async function refresh(): Promise<void> {
    taking ??= take()
      .catch(gauges.forget)
      .finally(() => (taking = undefined))
    await within(MAX_WAIT_MS, taking)
  }

  async function take(): Promise<void> {
    const [taken, api, states, memory, markBytes, frames] = await Promise.all([
      account(),
      upstream(),
      devices(),
      redis.info('memory'),
      redis.hget(keys.markBytes, ''),
      countFrames(redis),
    ])
    gauges.waiting.set(taken.waiting.fixes)
    gauges.parked.set(taken.parked.fixes)
    for (const [reason, fixes] of Object.entries(taken.heldFor)) gauges.held.set({ reason }, fixes)
    gauges.setDiscarded(taken.discardedFor)
    if (taken.waiting.oldestAt === undefined) gauges.oldest.remove()
    else gauges.oldest.set(taken.waiting.oldestAt / 1000)
    gauges.difference.set(taken.custody.difference)
    for (const [state, number] of Object.entries(states)) gauges.devices.set({ state }, number)
    gauges.upstreamUp.set(api.state === 'down' ? 0 : 1)
    gauges.memory.set(memoryShare(memory))
    const { waiting, parked, held } = taken.custody
    const { bytes: misunderstood, ...kinds } = frames
    for (const [kind, number] of Object.entries(kinds)) gauges.misunderstood.set({ kind }, number)
    const uses = memoryUses(memory, { marks: Number(markBytes ?? 0), misunderstood, held, parked, waiting })
    for (const [use, share] of Object.entries(uses)) gauges.memoryUses.set({ use }, share)
    gauges.findings.reset()
    for (const { code, severity } of findings.current) gauges.findings.inc({ code, severity })
  }

  return { close: gauges.unregister }
}

const MAX_WAIT_MS = 2000
const MAX_AGE_MS = 1000
