import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, it } from 'vitest'
import { tokenRefusals } from '../../src/admin/relay/operations.ts'
import type { Company } from '../../src/config/schema.ts'
import { OPERATE, recordingServer, relayFixture } from '../support/relay.ts'

const COMPANIES: readonly Company[] = ['7', '8', '9'].map((company_id) => {
  return { company_id, apikey: 'canary-apikey', oauth_token: `canary-${company_id}` }
})
const NO_TLS = { ca: null, cert: null, key: null }
const NO_BOUNDS = { max_requests_per_s: null, concurrency: null }
const relay = relayFixture(COMPANIES)
const numbersOf = (company: string) => relay.ask(`/api/v1/companies/${company}/numbers`)

async function tokenRefused(): Promise<unknown> {
  const { json } = await relay.ask('/admin/status')
  return (json as { upstream: { token_refused: unknown } }).upstream.token_refused
}

/** Starts a service that refuses the tokens of some companies, and answers the others with `status`. */
async function refusing(...companies: string[]) {
  const service = { companies, status: 200 }
  const { url } = await recordingServer((response, { headers }) => {
    const refused = service.companies.some((company) => headers.authorization === `OAuth canary-${company}`)
    response.writeHead(refused ? 401 : service.status, { 'www-authenticate': 'OAuth realm="x"' }).end('the answer')
  })
  relay.relayTo(url)
  return service
}

beforeEach(async () => {
  relay.companies = [...COMPANIES]
  await refusing()
  await Promise.all(['7', '8', '9'].map(numbersOf))
})

it('the relay passes on the refusal of a token, and shows it', async () => {
  await refusing('7', '9')
  const { status, headers, text } = await numbersOf('7')
  expect([status, headers['www-authenticate'], text]).toEqual([401, undefined, 'the answer'])
  await numbersOf('8')
  await numbersOf('9')
  expect(await tokenRefused()).toEqual(['7', '9'])
})

it.each([200, 204, 400, 403, 404, 422])('the relay no longer shows a refused token after a %d', async (status) => {
  const service = await refusing('7')
  await numbersOf('7')
  Object.assign(service, { companies: [], status })
  expect(await tokenRefused()).toEqual(['7'])
  await numbersOf('7')
  expect(await tokenRefused()).toEqual([])
})

it('the relay still shows a refused token after a web page from elsewhere', async () => {
  await refusing('7')
  await numbersOf('7')
  const { url } = await recordingServer((response) => response.writeHead(200).end('<html>Log in'))
  relay.relayTo(url)
  const { status, text } = await numbersOf('7')
  expect([status, text]).toEqual([200, '<html>Log in'])
  expect(await tokenRefused()).toEqual(['7'])
})

it.each([302, 405, 408, 429, 500, 503])('the relay still shows a refused token after a %d', async (status) => {
  const service = await refusing('7')
  await numbersOf('7')
  Object.assign(service, { companies: [], status })
  expect((await numbersOf('7')).status).toBe(status)
  expect(await tokenRefused()).toEqual(['7'])
})

it('the relay still shows a refused token while the service is down', async () => {
  await refusing('7')
  await numbersOf('7')
  relay.relayTo('http://127.0.0.1:1')
  expect((await numbersOf('7')).status).toBe(502)
  expect(await tokenRefused()).toEqual(['7'])
})

it('the relay no longer shows a refused token that was changed, or whose company was removed', async () => {
  await refusing('7', '8')
  await numbersOf('7')
  await numbersOf('8')
  relay.companies = [{ ...COMPANIES[0], oauth_token: 'canary-new' }]
  expect(await tokenRefused()).toEqual([])
  relay.companies = [...COMPANIES]
  expect(await tokenRefused()).toEqual(['7', '8'])
})

it('the relay never logs a refused token', () => {
  expect(relay.log.length).toBeGreaterThan(0)
  expect(relay.log.join('')).not.toContain('canary')
})

it('the relay still shows a refused token after an earlier token was accepted late', () => {
  const now = { ...COMPANIES[0], oauth_token: 'canary-new' }
  const refusals = tokenRefusals(() => [now])
  refusals.answered(now, 401)
  refusals.answered(COMPANIES[0], 200)
  expect(refusals.refused()).toEqual(['7'])
})

it('the relay still shows a refused token after a late refusal of the token before it', () => {
  const now = { ...COMPANIES[0], oauth_token: 'canary-new' }
  const refusals = tokenRefusals(() => [now])
  refusals.answered(now, 401)
  refusals.answered(COMPANIES[0], 401)
  expect(refusals.refused()).toEqual(['7'])
})

it('the relay shows no refusal by an earlier API of the company, even if it arrives late', () => {
  const [before] = COMPANIES
  const tracking = { base_url: 'https://other.example', push_url: null, tls: NO_TLS, proxy: null, ...NO_BOUNDS }
  let now: Company = { ...before, tracking }
  const refusals = tokenRefusals(() => [now])
  refusals.answered(now, 401)
  expect(refusals.refused()).toEqual(['7'])
  now = before
  expect(refusals.refused()).toEqual([])
  refusals.answered({ ...before, tracking }, 401)
  expect(refusals.refused()).toEqual([])
})

it("the relay shows a company's new API only its new token, if the API changes while a request's body arrives", async () => {
  const before = await recordingServer((response) => response.end('{}'))
  const next = await recordingServer((response) => response.end('{}'))
  relay.relayTo(before.url)
  const asked = request({
    port: relay.port,
    method: 'POST',
    path: '/api/v1/companies/7/numbers/8',
    headers: { ...OPERATE, 'content-type': 'application/json' },
  })
  asked.write('{')
  await sleep(300)
  relay.companies = [{ company_id: '7', apikey: 'k', oauth_token: 'token-of-the-next' }]
  relay.relayTo(next.url)
  asked.end('"number":"17"}')
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  expect([answer.statusCode, before.seen.length]).toEqual([200, 0])
  expect(next.seen.map(({ headers }) => headers.authorization)).toEqual(['OAuth token-of-the-next'])
})
