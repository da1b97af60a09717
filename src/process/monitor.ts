import { metricsAccess } from '../admin/access.ts'
import { shared } from '../async.ts'
import { createHttpServer } from '../http/server.ts'
import { registry } from '../observe/metrics.ts'

/** Whether a process can do its work. A problem is one sentence. */
export interface Readiness {
  readonly ok: boolean
  readonly problems: readonly string[]
}

/** Port 0: any free port. `metricsToken`: returns the bearer token that `/metrics` needs now; null: none. */
export interface MonitorOptions {
  readonly host: string
  readonly port: number
  readonly metricsToken: () => string | null
}

/** Serves `/healthz`, `/readyz` (503 while not ready) and `/metrics` of this process, at most a second old. */
export async function startMonitor(
  { metricsToken, ...address }: MonitorOptions,
  readiness: () => Promise<Readiness>,
  metrics: () => Promise<string> = () => registry.metrics(),
) {
  const { app, listen, close } = createHttpServer({
    fault: ({ message }, _request, reply) => reply.code(500).send({ message }),
    closeMs: 0,
    maxConnections: MAX_CONNECTIONS,
  })
  const state = shared(0, readiness)
  const text = shared(MAX_AGE_MS, async () => Buffer.from(await metrics()))
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: NOT_FOUND }))
  app.get('/healthz', async () => ({ ok: true }))
  app.get('/readyz', async (_request, reply) => {
    const { ok, problems } = await state()
    return reply.code(ok ? 200 : 503).send({ ok, problems })
  })
  const onRequest = metricsAccess(metricsToken)
  app.get('/metrics', { onRequest }, async (_request, reply) => reply.type(registry.contentType).send(await text()))
  return { port: await listen(address), close }
}

const NOT_FOUND = 'not found: use /healthz, /readyz or /metrics'
const MAX_CONNECTIONS = 100
const MAX_AGE_MS = 1000
