import { pino } from 'pino'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../src/config/schema.ts'
import type { Facts, Finding } from '../../src/diagnose/facts.ts'
import { observations } from '../../src/observe/observations.ts'
import { keys } from '../../src/store/index.ts'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { finding, NO_DAYS, startAlerts, webhookReceiver } from '../support/alerts.ts'

const receiver = await webhookReceiver()
afterAll(receiver.close)
const admin = adminFixture({
  gateway: `
admin: { port: 0, tokens: [${TOKEN}] }
alerts: { page_url: "https://gps.example", webhooks: [{ url: "${receiver.url}/canary", secret: canary-webhook }] }`,
})
const soon = { timeout: 30_000 }
type Webhook = Config['alerts']['webhooks'][number]

/** Returns what the receiver was told of a code, in order: `begins`, `ends`. */
function told(code: string, { posts } = receiver): string[] {
  const bodies = posts.map(({ body }) => JSON.parse(body) as { change: string; code: string })
  return bodies.filter((body) => body.code === code).map(({ change }) => change)
}

/** Returns what Redis keeps about messages to receivers. */
async function written(): Promise<string> {
  const names = await admin.redis.keys(keys.alerted('*'))
  return (await Promise.all(names.map((name) => admin.redis.hvals(name)))).flat().join('')
}

/** Sets up alerts to one receiver, with findings and a clock that the test controls. */
async function alertsOf(current: readonly Finding[], webhook: Partial<Webhook> = {}) {
  const own = await webhookReceiver()
  onTestFinished(own.close)
  const findings = { current, facts: { now: 0, observations: [] } as Facts, follow: () => {} }
  let now = Date.now()
  const clock = { now: () => now, wait: () => Promise.resolve() }
  const { config } = admin.live
  const alerts = {
    ...config.alerts,
    webhooks: [
      { url: own.url, min_severity: 'warning', format: 'waybridge', companies: null, ...webhook },
    ] satisfies Webhook[],
  }
  const start = () => {
    const options = {
      config: { ...config, alerts },
      findings,
      redis: admin.redis,
      ...NO_DAYS,
      page: 'http://page',
      clock,
    }
    return startAlerts({ ...options, logger: pino({ level: 'silent' }) })
  }
  return { own, findings, start, pass: (ms: number) => void (now += ms) }
}

it('a webhook of gateway.yaml is told when a finding of the admin process begins and when it ends', async () => {
  observations.note('claimed_twice', { subject: { device: '1' }, evidence: 'two places' })
  await expect.poll(() => told('claimed_twice'), soon).toEqual(['begins'])
  // Ends the observation.
  observations.current(Infinity)
  await expect.poll(() => told('claimed_twice'), soon).toEqual(['begins', 'ends'])
  const { body, headers } = receiver.posts.find((post) => post.body.includes('claimed_twice'))!
  expect(JSON.parse(body)).toMatchObject({
    subject: { device: '1' },
    evidence: ['two places'],
    links: { page: 'https://gps.example/#/findings/claimed_twice' },
  })
  expect(headers['waybridge-signature']).toMatch(/^v1=[0-9a-f]{64}$/)
  expect(JSON.stringify(receiver.posts)).not.toContain('canary-webhook')
})

it('a restart repeats no alert, and sends what ended meanwhile', async () => {
  const { own, findings, start, pass } = await alertsOf([finding()])
  const first = start()
  await expect.poll(() => told('upstream_down', own), soon).toEqual(['begins'])
  await expect.poll(written, soon).toContain('"told":"begins"')
  expect(await written()).not.toContain('canary')
  await first.close()

  const second = start()
  onTestFinished(() => second.close())
  findings.current = [finding({ code: 'backlog', severity: 'warning' }), finding()]
  await expect.poll(() => told('backlog', own), soon).toEqual(['begins'])
  expect(told('upstream_down', own)).toEqual(['begins'])
  findings.current = []
  pass(20_000)
  await expect.poll(() => told('upstream_down', own), soon).toEqual(['begins', 'ends'])
})

it('receivers are told the end of no other finding while replicas of Redis are missing', async () => {
  const { own, findings, start, pass } = await alertsOf([finding()])
  const alerts = start()
  onTestFinished(() => alerts.close())
  await expect.poll(() => told('upstream_down', own), soon).toEqual(['begins'])
  pass(20_000)
  findings.current = [finding({ code: 'replicas_missing' })]
  await expect.poll(() => told('replicas_missing', own), soon).toEqual(['begins'])
  findings.current = [finding()]
  await expect.poll(() => told('replicas_missing', own), soon).toEqual(['begins', 'ends'])
  expect(told('upstream_down', own)).toEqual(['begins'])
})

it('receivers are told that Redis is down, and the end of no other finding meanwhile', async () => {
  const { own, findings, start, pass } = await alertsOf([finding()])
  const alerts = start()
  onTestFinished(() => alerts.close())
  await expect.poll(() => told('upstream_down', own), soon).toEqual(['begins'])
  pass(20_000)
  await admin.server.kill('SIGKILL')
  findings.current = [finding({ code: 'redis_down' })]
  await expect.poll(() => told('redis_down', own), soon).toEqual(['begins'])
  await expect.poll(() => told('redis_down'), soon).toEqual(['begins'])
  await admin.server.restart()
  findings.current = [finding()]
  await expect.poll(() => told('redis_down', own), soon).toEqual(['begins', 'ends'])
  expect(told('upstream_down', own)).toEqual(['begins'])
  await expect.poll(() => told('redis_down'), soon).toEqual(['begins', 'ends'])
})
