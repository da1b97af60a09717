import { registry } from '../observe/metrics.ts'
import { createHttpServer } from '../tracking/http.ts'

/** Whether a process can do its work. A problem is one sentence. */
export interface Readiness {
  readonly ok: boolean
  readonly problems: readonly string[]
}

/** Serves `/healthz`, `/readyz` (503 while not ready) and `/metrics` of this process. Port 0: any free port. */
export async function startMonitor(address: { host: string; port: number }, readiness: () => Promise<Readiness>) {
  const { app, listen, close } = createHttpServer({
    fault: ({ message }, _request, reply) => reply.code(500).send({ message }),
    closeMs: 0,
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: NOT_FOUND }))
  app.get('/healthz', async () => ({ ok: true }))
  app.get('/readyz', async (_request, reply) => {
    const state = await readiness()
    return reply.code(state.ok ? 200 : 503).send(state)
  })
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()))
  return { port: await listen(address), close }
}

const NOT_FOUND = 'not found: use /healthz, /readyz or /metrics'
