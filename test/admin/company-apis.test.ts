import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { keyOf, keys, signOn } from '../../src/store/index.ts'
import { PushStatistics } from '../../src/push/figures.ts'
import { adminFixture, store, TOKEN } from '../support/admin.ts'
import { listening } from '../support/listening.ts'
import { askAs, TOKEN_7 } from '../support/two-companies.ts'

const soon = { timeout: 30_000, interval: 50 }

/** An API that records its requests. */
async function startApi() {
  const seen: { url?: string; headers: IncomingHttpHeaders }[] = []
  const server = createServer(({ url, headers }, response) => {
    seen.push({ url, headers })
    response.end('[]')
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url, seen, name: url.replace('http://', '') }
}

const [usual, own, later] = [await startApi(), await startApi(), await startApi()]
const admin = adminFixture({
  baseUrl: usual.url,
  companies: `, { company_id: 8, apikey: k-8, oauth_token: token-8, tracking: { base_url: "${own.url}" } }`,
  gateway: `admin:
  port: 0
  tokens: [${TOKEN}, { token: ${TOKEN_7}, name: seven, companies: [7] }, { token: token-of-8, name: eight, companies: [8] }]
`,
})
const [all, seven, eight] = [TOKEN, TOKEN_7, 'token-of-8'].map((token) => askAs(admin, token))

beforeEach(() => {
  for (const { seen } of [usual, own, later]) seen.length = 0
})

const path = (company: number) => `/api/v1/companies/${company}/numbers`
const portOf = ({ url }: { url: string }) => new URL(url).port

interface Status {
  readonly upstream: { readonly state: string }
  readonly apis: readonly { readonly api: string; readonly state: string; readonly companies: readonly string[] }[]
  readonly findings: readonly { readonly code: string; readonly subject: object; readonly message: string }[]
}
const statusOf = async (ask: typeof all) => (await ask('/admin/status')).json as Status

it('the relay uses the API of a company, with the token of the company', async () => {
  await all(path(7))
  await all(path(8))
  expect(usual.seen.map(({ url }) => url)).toEqual([path(7)])
  expect(own.seen.map(({ url }) => url)).toEqual([path(8)])
  expect(own.seen[0].headers).toMatchObject({
    authorization: 'OAuth token-8',
    traceparent: expect.stringMatching(/^00-/),
  })
})

it('the relay uses another API as soon as gateway.yaml is reloaded', async () => {
  const file = join(admin.dir, 'gateway.yaml')
  const before = await readFile(file, 'utf8')
  const numbers = '/api/v1/companies/8/numbers'
  await writeFile(file, before.replace(own.url, later.url))
  await expect.poll(async () => (await all(numbers), later.seen.length), soon).toBeGreaterThan(0)
  await writeFile(file, before)
  const count = own.seen.length
  await expect.poll(async () => (await all(numbers), own.seen.length), soon).toBeGreaterThan(count)
  expect(usual.seen).toEqual([])
})

it('POST /admin/apis/test asks the API of each company', async () => {
  const { json } = await all('/admin/apis/test', { method: 'POST' })
  const { results } = json as { results: { company_id: string; steps: { step: string; seen: string }[] }[] }
  const connected = results.map(({ company_id, steps }) => [
    company_id,
    steps.find(({ step }) => step === 'connection')?.seen,
  ])
  expect(connected).toEqual([
    ['7', expect.stringContaining(`port ${portOf(usual)} `)],
    ['8', expect.stringContaining(`port ${portOf(own)} `)],
  ])
})

it('status and findings name each API, but a token for one company learns nothing of the API of another', async () => {
  const { redis } = admin
  const pushes = new PushStatistics()
  const trace = { requestId: 'request-17', traceparent: '00-17' }
  const request = pushes.began('8/1/1', trace)
  pushes.ended(request, { answer: { fault: 'refused' }, records: Buffer.alloc(0), count: 0 })
  const figures = () => ({
    ...new PushStatistics().figures(),
    url: usual.url,
    apis: [{ id: own.url, ...pushes.figures() }],
  })
  const signs = [
    signOn(redis, { role: 'worker', installation: admin.dir }, figures),
    signOn(redis, { role: 'gateway', installation: admin.dir }, () => ({})),
  ]
  try {
    await store(redis, '8/1/1', { count: 3 })
    await store(redis, '7/1/1', { count: 4 })
    await redis.hset(keyOf(keys.upstream, own.url), { state: 'down', since: Date.now() - 60_000 })
    const down = (status: Status) => status.findings.filter(({ code }) => code === 'upstream_down')
    await expect
      .poll(async () => down(await statusOf(all)), soon)
      .toMatchObject([
        {
          subject: { api: own.name },
          message: `${own.name}: the tracking API refuses connections: 3 positions wait`,
          evidence: expect.arrayContaining(['x-request-id request-17, traceparent 00-17']),
        },
      ])
    expect(await statusOf(all)).toMatchObject({
      upstream: { state: 'down' },
      apis: [
        { api: usual.name, state: 'up', companies: ['7'] },
        { api: own.name, state: 'down', companies: ['8'], last_error: { code: 'refused', request_id: 'request-17' } },
      ],
    })
    const of7 = await seven('/admin/status')
    expect(of7.json).toMatchObject({ upstream: { state: 'up' }, apis: [{ api: usual.name, companies: ['7'] }] })
    expect(down(of7.json as Status)).toEqual([])
    expect(of7.text).not.toContain(own.name)
    const of8 = await statusOf(eight)
    expect(of8).toMatchObject({ upstream: { state: 'down' }, apis: [{ api: own.name, companies: ['8'] }] })
    expect(of8.apis).toHaveLength(1)
    expect(down(of8)).toMatchObject([{ message: 'the tracking API is down', evidence: [] }])
    const { text } = await all('/metrics')
    expect(text).toMatch(new RegExp(`waybridge_api_up\\{api="${own.name}"[^}]*\\} 0`))
    expect(text).toMatch(new RegExp(`waybridge_api_up\\{api="${usual.name}"[^}]*\\} 1`))
  } finally {
    await Promise.all(signs.map((sign) => sign.stop()))
  }
})
