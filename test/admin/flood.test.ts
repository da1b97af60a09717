import { connect } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Admin } from '../../src/admin/index.ts'
import { registry } from '../../src/observe/metrics.ts'
import { connected, OPERATE, openBare } from '../support/admin.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

const TEXT = 'x 1\n'.repeat(25_000)
const REQUEST = 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'
/** 255 KB. */
const FLOOD = REQUEST.repeat(255_000 / REQUEST.length)
const CONNECTIONS = 8
const logger = pino({ level: 'silent' })

let server: TestRedis
let admin: Admin
let collections = 0
const closing: (() => unknown)[] = []

async function collect(): Promise<string> {
  collections++
  return TEXT
}

beforeAll(async () => {
  server = await startTestRedis()
  const redis = await connected(server.url)
  admin = await openBare({ redis, logger, metrics: collect, metricsToken: () => 'canary-metrics' })
  closing.push(
    () => admin.close(),
    () => redis.disconnect(),
    () => server.stop(),
  )
})
afterAll(async () => {
  for (const close of closing) await close()
})

const url = () => `http://127.0.0.1:${admin.port}/metrics`
const ask = (authorization?: string) => fetch(url(), { headers: authorization ? { authorization } : {} })

async function refusedFor(reason: string): Promise<number> {
  const { values } = (await registry.getSingleMetric('waybridge_refused_total')?.get()) ?? { values: [] }
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0
}

/** Sends a flood of requests on its own connection; resolves to the number of bytes received until its end. */
async function flood(bytes: string): Promise<number> {
  const socket = connect(admin.port, '127.0.0.1')
  let received = 0
  socket.on('data', (part) => (received += part.length)).on('error', () => {})
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
  return received
}

it('GET /metrics requires its token if one is set', async () => {
  const answers = await Promise.all([ask(), ask('Bearer wrong'), ask('Bearer canary-metrics')])
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 200])
  expect((await answers[0].json()) as object).toEqual({
    message: expect.stringContaining('the token is missing') as string,
  })
})

it('GET /metrics accepts a token of the admin port, but its own token opens no other path', async () => {
  expect((await ask(OPERATE.authorization)).status).toBe(200)
  const other = `http://127.0.0.1:${admin.port}/admin/status`
  expect((await fetch(other, { headers: { authorization: 'Bearer canary-metrics' } })).status).toBe(401)
})

it('pipelined requests for the metrics of 255 KB cost one collection per second, and others are served', async () => {
  const withToken = FLOOD.replaceAll('host: x', 'host: x\r\nauthorization: Bearer canary-metrics')
  const [before, refused, began] = [collections, await refusedFor('pipelining'), performance.now()]
  const received = await Promise.all(Array.from({ length: CONNECTIONS }, () => flood(withToken)))
  expect((await ask('Bearer canary-metrics')).status).toBe(200)
  const seconds = (performance.now() - began) / 1000
  expect(collections - before).toBeLessThanOrEqual(1 + seconds)
  for (const bytes of received) expect(bytes).toBeLessThan(17 * (TEXT.length + 1000))
  expect(await refusedFor('pipelining')).toBe(refused + CONNECTIONS)
})
