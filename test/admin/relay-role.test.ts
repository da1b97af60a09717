import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Role } from '../../src/process/role.ts'
import { startAdmin } from '../../src/process/roles/admin.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

const JSON_HEADERS = { authorization: 'Bearer canary-admin', 'content-type': 'application/json' }
const ITEMS = '[{"number":"A","description":"","price":"1","total_count":1}]'

let redis: TestRedis
let dir: string
let role: Role
let answer: (request: IncomingMessage, response: ServerResponse) => unknown
const api = http.createServer((request, response) => void answer(request.resume(), response))

function configure(oauthToken: string): Promise<void> {
  const yaml = `
redis: { url: "${redis.url}" }
data_dir: "${join(dir, 'data')}"
companies: [{ company_id: 7, apikey: canary-apikey, oauth_token: ${oauthToken} }]
admin: { port: 0, tokens: [canary-admin] }
tracking: { return_prefix: /api/v1 }
push: { timeout: 60s }
log: { level: fatal }
`
  return writeFile(join(dir, 'gateway.yaml'), yaml)
}

const ask = (path: string, options?: RequestInit) =>
  fetch(`http://127.0.0.1:${role.ports?.admin}${path}`, { headers: JSON_HEADERS, ...options })

beforeAll(async () => {
  redis = await startTestRedis()
  dir = await mkdtemp(join(tmpdir(), 'waybridge-relay-'))
  await configure('canary-first')
  await writeFile(join(dir, 'devices.yaml'), '')
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  const live = await followConfig({ dir, protocols: null, role: 'admin', followsFiles: true })
  const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/base`
  role = await startAdmin(live, { redisServer: redis.url, baseUrl: async () => baseUrl, ports: {} })
})
afterAll(async () => {
  api.closeAllConnections()
  api.close()
  await redis.stop()
  await rm(dir, { recursive: true })
})

it('the admin role relays to the configured service with its token and prefix, also after a reload', async () => {
  const seen: unknown[] = []
  answer = ({ url, headers }, response) => {
    seen.push([url, headers.authorization])
    response.end('[]')
  }
  const body = '[{"item_id":1,"undelivered_count":1}]'
  expect((await ask('/companies/7/orders/3:return', { method: 'POST', body })).status).toBe(200)
  expect(seen.splice(0)).toEqual([['/base/api/v1/companies/7/orders/3:return', 'OAuth canary-first']])
  await configure('canary-second')
  await expect
    .poll(async () => {
      await ask('/api/v1/companies/7/numbers')
      return seen.at(-1)
    })
    .toEqual(['/base/api/v1/companies/7/numbers', 'OAuth canary-second'])
})

it('the relay closes although the service does not answer, and answers the waiting callers', async () => {
  let arrived = 0
  answer = () => arrived++
  const path = '/api/v1/companies/7/orders/3/items'
  const hanging = [ask(path), ask(path, { method: 'POST', body: ITEMS }), ask(path, { method: 'DELETE' })].map(
    async (asked) => {
      const response = await asked
      return [response.status, await response.json()]
    },
  )
  await expect.poll(() => arrived).toBe(3)
  const closed = role.close()
  const stopping = `http://127.0.0.1:${(api.address() as AddressInfo).port}/base is not waited for any more, as waybridge stops`
  const template = '/api/v1/companies/{company_id}/orders/{order_id}/items'
  const perhapsDone = 'it may have been done all the same'
  expect(await Promise.all(hanging)).toEqual([
    [502, { message: `${stopping}: GET ${template}` }],
    [502, { message: `${stopping}: POST ${template}; ${perhapsDone}: look before you repeat it` }],
    [502, { message: `${stopping}: DELETE ${template}; ${perhapsDone}, and may be repeated` }],
  ])
  await closed
})
