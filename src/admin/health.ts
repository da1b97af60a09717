import type { Operation } from './operation.ts'

export interface HealthSources {
  readonly readiness: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>
  /** The text for Prometheus. */
  readonly metrics: () => Promise<string>
}

/** `GET /healthz`, `/readyz` (503 while not ready), `/metrics`: for machines that watch, without a token. */
export function healthOperations({ readiness, metrics }: HealthSources): Operation[] {
  const readyz: Operation['answer'] = async (_request, reply) => {
    const state = await readiness()
    return reply.code(state.ok ? 200 : 503).send(state)
  }
  const metricsText: Operation['answer'] = async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics())

  return [
    { method: 'GET', path: '/healthz', open: true, answer: alive },
    { method: 'GET', path: '/readyz', open: true, answer: readyz },
    { method: 'GET', path: '/metrics', open: true, answer: metricsText },
  ]
}

async function alive(): Promise<object> {
  return { ok: true }
}
