import type { IncomingHttpHeaders } from 'node:http'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { newTrace } from '../../src/tracking/client.ts'
import { VERSION } from '../../src/version.ts'
import { client, httpServer, PUSH } from '../support/tracking/http-servers.ts'

const READ = {
  operation: 'courierPositions',
  params: { company_id: '7', route_id: '1' },
  oauthToken: 'CANARY',
} as const

async function started() {
  const seen: IncomingHttpHeaders[] = []
  const log: Record<string, unknown>[] = []
  const url = await httpServer((request, response) => {
    seen.push(request.headers)
    response.end('[]')
  })
  const logger = pino({ level: 'debug' }, { write: (line) => void log.push(JSON.parse(line) as (typeof log)[0]) })
  return { seen, log, api: client(url, { logger }) }
}

it('each request has a user agent and an id of its own, which the debug log has without a secret', async () => {
  const { api, log, seen } = await started()
  await api.push(PUSH)
  await api.push(PUSH)
  await api.request(READ)
  for (const headers of seen) {
    expect(headers['user-agent']).toBe(`waybridge/${VERSION}`)
    const id = String(headers['x-request-id'])
    expect(id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    expect(headers.traceparent).toMatch(new RegExp(`^00-${id.replaceAll('-', '')}-[\\da-f]{16}-01$`))
  }
  const named = ({ request_id, traceparent }: (typeof log)[0]) => [request_id, traceparent]
  expect(log.map(named)).toEqual(seen.map((headers) => [headers['x-request-id'], headers.traceparent]))
  expect(new Set(seen.map((headers) => headers['x-request-id'])).size).toBe(3)
  expect(log[0]).toMatchObject({ level: 20, operation: 'pushPositions', courier_id: '42', status: 200 })
  expect(JSON.stringify(log)).not.toContain('CANARY')
})

it('a request with an id keeps it', async () => {
  const { api, log, seen } = await started()
  const trace = newTrace()
  await api.push({ ...PUSH, trace })
  await api.request({ ...READ, headers: { 'x-request-id': 'order-17', traceparent: trace.traceparent } })
  expect(seen.map((headers) => headers['x-request-id'])).toEqual([trace.requestId, 'order-17'])
  expect(seen.map(({ traceparent }) => traceparent)).toEqual([trace.traceparent, trace.traceparent])
  expect(log.map(({ request_id }) => request_id)).toEqual([trace.requestId, 'order-17'])
})
