import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeEach, expect, it } from 'vitest'
import type { ApiTestsJson } from '../../src/admin/schemas/tests.ts'
import { TOKEN } from '../support/admin.ts'
import { listening } from '../support/listening.ts'
import { askAs, TOKEN_7, twoCompanies } from '../support/two-companies.ts'

type Tests = ApiTestsJson

/** A tracking API that takes the keys of companies 7 and 8, and answers a read with what was pushed. */
const asked: string[] = []
let positions: { timestamp: number; lat: number; lon: number }[] = []
let respond: (request: IncomingMessage, response: ServerResponse) => boolean
const api = createServer((request, response) => void take(request, response))
const admin = twoCompanies({ baseUrl: `http://127.0.0.1:${await listening(api)}` })
const [all, seven, readOnly] = [TOKEN, TOKEN_7, 'canary-read-7'].map((token) => askAs(admin, token))

afterAll(() => void api.close())
beforeEach(() => {
  asked.length = 0
  positions = []
  respond = () => false
})

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString()
  asked.push(`${request.method} ${request.url?.split('?')[0]}`)
  if (respond(request, response)) return
  if (request.method === 'POST') {
    const pushed = JSON.parse(body) as { positions: { timestamp: number; point: { lat: number; lon: number } }[] }
    positions.push(...pushed.positions.map(({ timestamp, point }) => ({ timestamp, ...point })))
  }
  response.end(request.method === 'GET' ? JSON.stringify(positions) : '')
}

const post = async (ask: typeof all, query = '') => {
  const answer = await ask(`/admin/apis/test${query}`, { method: 'POST' })
  expect(answer.text).not.toMatch(/canary|zebra-(?:apikey|oauth)/)
  return { ...answer, json: answer.json as Tests & { message: string } }
}
const states = ({ results }: Tests) =>
  results.map(({ company_id, steps }) => [company_id, ...steps.map(({ step, state }) => `${step} ${state}`)])

const WELL = ['dns ok', 'connection ok', 'tls ok', 'apikey ok', 'oauth_token ok', 'read ok']

it('POST /admin/apis/test tests the API for each company with a lane of its roster, and is in the audit log', async () => {
  const { status, json } = await post(all)
  expect([status, json.ok, states(json)]).toEqual([
    200,
    true,
    [
      ['7', ...WELL],
      ['8', ...WELL],
    ],
  ])
  const ofLane =
    /\/(?:companies\/7\/routes|couriers\/(?:42|43|9223372036854775807)\/routes)\/(?:1001|2001|9007199254740993)\//
  expect(asked.filter((path) => ofLane.test(path))).toHaveLength(2)
  expect(asked.filter((path) => /\/(?:companies\/8|couriers\/808081)\/routes\/80808[23]\//.test(path))).toHaveLength(2)
  expect(positions).toEqual([])
  const [entry] = ((await all('/admin/audit')).json as { results: object[] }).results
  expect(entry).toMatchObject({ operation: '/admin/apis/test', status: 200, summary: { tested: 2, failed: 0 } })
})

it('POST /admin/apis/test says what to change if the API refuses a company, and quotes no secret', async () => {
  respond = ({ url = '' }, response) => {
    const isRefused = url.includes('zebra-apikey')
    if (isRefused) response.writeHead(403).end(`{"message":"no ${url}"}`)
    return isRefused
  }
  const { status, json } = await post(all)
  expect([status, json.ok]).toEqual([200, false])
  const steps = json.results.map((result) => result.steps.find(({ step }) => step === 'apikey'))
  expect(steps).toMatchObject([
    { state: 'ok' },
    { state: 'failed', seen: expect.stringContaining('apikey=***'), action: expect.stringContaining('company 8') },
  ])
})

it('POST /admin/apis/test pushes one position to a courier on a route, and reads it back', async () => {
  const { json } = await post(all, '?push=true&courier_id=808081&route_id=808082')
  expect(states(json)).toEqual([
    ['7', ...WELL],
    ['8', ...WELL, 'push ok', 'read_back ok'],
  ])
  expect(positions).toHaveLength(1)
  expect(asked.filter((path) => path.includes('/808082/')).length).toBeGreaterThanOrEqual(4)
})

it('POST /admin/apis/test tests only the companies of the token', async () => {
  expect(states((await post(seven)).json)).toEqual([['7', ...WELL]])
  expect(asked.join()).not.toContain('8080')
  const { status, json } = await post(seven, '?company_id=8')
  expect([status, json.message]).toEqual([422, 'there is no company 8 in gateway.yaml'])
  expect(states((await post(all, '?company_id=8')).json)).toEqual([['8', ...WELL]])
})

it.each([
  ['?push=true', 'name the courier and the route that get the position'],
  ['?route_id=1', 'name both the courier and the route, or none of them'],
  ['?push=true&courier_id=5&route_id=6', 'several companies may have courier 5 on route 6: name the company'],
  ['?push=maybe', 'push: expected true or false'],
  ['?courier_id=x&route_id=1', 'courier_id: expected an integer of 64 bits in decimal digits'],
])('POST /admin/apis/test refuses %s without a request to the API', async (query, message) => {
  const { status, json } = await post(all, query)
  expect([status, json.message, asked]).toEqual([422, message, []])
})

it('POST /admin/apis/test needs the role operate', async () => {
  expect((await readOnly('/admin/apis/test', { method: 'POST' })).status).toBe(403)
  expect(asked).toEqual([])
})
