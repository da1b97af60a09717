import * as z from 'zod'
import { shared } from '../async.ts'
import { type AdminToken, metricsAccess } from './access.ts'
import type { Operation } from './operation.ts'

export interface MonitoringSources {
  readonly readiness: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>
  /** The text for Prometheus. */
  readonly metrics: () => Promise<string>
  /** What `/metrics` wants as bearer token now; null: none. A token of the admin port does as well. */
  readonly metricsToken: () => string | null
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
