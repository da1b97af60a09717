import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connected, NOWHERE } from '../../support/admin.ts'
import { type Product, startProduct } from '../../rig/product.ts'
import { startTestRedis, type TestRedis } from '../../support/redis.ts'
import type { Ask } from './asks.ts'
import { DEVICES, fill, HEARD } from './fleet.ts'

/** By name: the token, and the statuses of its answers. */
export const TOKENS = {
  'all companies': { token: 'canary-bench-all', statuses: [200] },
  'company 7': { token: 'canary-bench-7', statuses: [200, 403] },
  'company 8': { token: 'canary-bench-8', statuses: [200, 403, 404] },
}

/** The product with the large fleet, its Redis, and a tracking API for relayed requests alone: nothing is delivered. */
export interface AdminSite {
  readonly product: Product
  readonly server: TestRedis
  /** Asks the admin port; of a stream of events the beginning. */
  ask(request: Ask, token?: string): Promise<{ status: number; text: string }>
  end(): Promise<void>
}

/** Resolves once the admin process has read all. */
export async function startAdminSite(): Promise<AdminSite> {
  const api = createServer((request, response) => void request.resume().on('end', () => response.end('[]')))
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  const server = await startTestRedis({ maxMemory: 2 * 1024 ** 3 })
  const redis = await connected(server.url)
  await fill(redis)
  redis.disconnect()
  const product = await startProduct({}, yamlOf(server.url, (api.address() as AddressInfo).port))
  async function ask({ method, path, body, type }: Ask, token = TOKENS['all companies'].token) {
    const headers = { authorization: `Bearer ${token}`, ...(type && { 'content-type': type }) }
    const answer = await fetch(`http://127.0.0.1:${product.ports.admin}${path}`, { method, headers, body })
    if (!path.startsWith('/admin/events')) return { status: answer.status, text: await answer.text() }
    await answer.body?.cancel()
    return { status: answer.status, text: '' }
  }
  const status = async () => JSON.parse((await ask({ method: 'GET', path: '/admin/status' })).text)
  while ((await status()).vans?.never !== DEVICES - HEARD) await pause(500)
  return {
    product,
    server,
    ask,
    async end() {
      await product.end()
      await server.stop()
      api.close()
    },
  }
}

function yamlOf(redisUrl: string, apiPort: number): string {
  return `
redis: { url: "${redisUrl}" }
tracking: { base_url: "http://127.0.0.1:${apiPort}", push_url: "${NOWHERE}" }
admin:
  port: 0
  tokens: [canary-bench-all, { token: canary-bench-7, companies: [7] }, { token: canary-bench-8, companies: [8] }]
companies: [{ company_id: 7, ${KEYS} }, { company_id: 8, ${KEYS} }]
filter: { max_age: 876000h }
limits: { max_connections_per_ip: 20000 }
log: { format: json, level: info }
`
}

const KEYS = 'apikey: canary-apikey, oauth_token: canary-oauth'
