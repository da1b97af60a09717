import * as z from 'zod'
import { within } from '../async.ts'
import { memoryShare } from '../ingest/acceptance.ts'
import type { Redis } from '../lanes/index.ts'
import { operationGauges } from '../observe/metrics.ts'
import type { FixAccount } from './custody.ts'
import type { Findings } from './findings.ts'
import type { DeviceState } from './json.ts'
import type { Operation } from './operation.ts'
import type { Upstream } from './status.ts'

export interface MonitoringSources {
  readonly readiness: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>
  /** The text for Prometheus. */
  readonly metrics: () => Promise<string>
}

/** `GET /healthz`, `/readyz` (503 while not ready) and `/metrics`; monitoring systems need no token for them. */
export function monitoringOperations({ readiness, metrics }: MonitoringSources): Operation[] {
  const ok = z.boolean()
  const open = { method: 'GET', open: true } as const
  return [
    {
      ...open,
      path: '/healthz',
      id: 'getHealth',
      summary: 'Get whether the process runs',
      answer: z.object({ ok }),
      handle: async () => ({ ok: true }),
    },
    {
      ...open,
      path: '/readyz',
      id: 'getReadiness',
      summary: 'Get whether waybridge is ready; 503 with the same fields while it is not',
      answer: z.object({ ok, problems: z.array(z.string()) }),
      async handle(_request, reply) {
        const state = await readiness()
        return reply.code(state.ok ? 200 : 503).send(state)
      },
    },
    {
      ...open,
      path: '/metrics',
      id: 'getMetrics',
      summary: 'Get the metrics of all processes for Prometheus',
      answer: z.string(),
      answerType: 'text/plain',
      handle: async (_request, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics()),
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
    const [taken, api, states, memory] = await Promise.all([account(), upstream(), devices(), redis.info('memory')])
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
    gauges.findings.reset()
    for (const { code, severity } of findings.current) gauges.findings.inc({ code, severity })
  }

  return { close: gauges.unregister }
}

const MAX_WAIT_MS = 2000
