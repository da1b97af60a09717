import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { registry } from '../observe/metrics.ts'

/** Whether a process can do its work. A problem is one sentence. */
export interface Readiness {
  readonly ok: boolean
  readonly problems: readonly string[]
}

type CheckReadiness = () => Promise<Readiness>

/** Serves `/healthz`, `/readyz` (503 while not ready) and `/metrics` of this process. Port 0: any free port. */
export async function startMonitor({ host, port }: { host: string; port: number }, readiness: CheckReadiness) {
  const server = createServer((request, response) => {
    answer(request.url ?? '', response, readiness).catch((error: Error) =>
      send(response, 500, { message: error.message }),
    )
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function answer(url: string, response: ServerResponse, readiness: CheckReadiness): Promise<void> {
  const [path] = url.split('?')
  if (path === '/healthz') return send(response, 200, { ok: true })
  if (path === '/readyz') {
    const state = await readiness()
    return send(response, state.ok ? 200 : 503, state)
  }
  if (path !== '/metrics') return send(response, 404, { message: 'not found: use /healthz, /readyz or /metrics' })
  response.setHeader('content-type', registry.contentType).end(await registry.metrics())
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
