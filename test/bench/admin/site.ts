import { setTimeout as pause } from 'node:timers/promises'
import { startApi } from '../../rig/api.ts'
import { askAdmin, type Product, startProduct } from '../../rig/product.ts'
import { connected, NOWHERE } from '../../support/admin.ts'
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
  const api = await startApi()
  const server = await startTestRedis({ maxMemory: 2 * 1024 ** 3 })
  const redis = await connected(server.url)
  await fill(redis)
  redis.disconnect()
  const product = await startProduct({}, yamlOf(server.url, api.url))
  async function ask({ method, path, body, type }: Ask, token = TOKENS['all companies'].token) {
    const place = { dataDir: '', adminPort: product.ports.admin, token }
    const answer = await askAdmin(place, path, { method, headers: type ? { 'content-type': type } : undefined, body })
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
      await api.close()
    },
  }
}

function yamlOf(redisUrl: string, apiUrl: string): string {
  return `
redis: { url: "${redisUrl}" }
tracking: { base_url: "${apiUrl}", push_url: "${NOWHERE}" }
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
