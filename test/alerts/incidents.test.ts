import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import type { AlertMessage } from '../../src/alerts/formats.ts'
import { Scope } from '../../src/admin/scope.ts'
import type { Config } from '../../src/config/schema.ts'
import type { Facts, Finding } from '../../src/diagnose/facts.ts'
import { keys } from '../../src/store/index.ts'
import { say } from '../../src/texts/text.ts'
import { adminFixture } from '../support/admin.ts'
import { finding, NO_DAYS, startAlerts, webhookReceiver } from '../support/alerts.ts'

type Webhook = Config['alerts']['webhooks'][number]
type Told = Pick<AlertMessage, 'change' | 'id'> & Finding

const admin = adminFixture()
const soon = { timeout: 30_000 }
const MINUTE = 60_000

/** Sets up a receiver, with findings and a clock that the test controls. Retries are immediate, unless `isPatient`. */
async function site(webhook: Partial<Webhook> = {}) {
  const state = { status: 204, isPatient: false, isWaiting: false }
  const receiver = await webhookReceiver((response) => response.writeHead(state.status).end('no'))
  onTestFinished(receiver.close)
  const findings = { current: [] as readonly Finding[], facts: { now: 0, observations: [] } as Facts }
  let now = Date.now()
  const wait = (_ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      state.isWaiting = state.isPatient
      if (state.isPatient) signal.addEventListener('abort', () => resolve())
      else setTimeout(resolve, 50)
    })
  const clock = { now: () => now, wait }
  const own: Webhook = { url: receiver.url, min_severity: 'info', format: 'waybridge', companies: null, ...webhook }
  const { config } = admin.live
  const alerts = { ...config.alerts, flap: 0, webhooks: [own] }
  const start = () => {
    const options = {
      config: { ...config, alerts },
      findings,
      redis: admin.redis,
      ...NO_DAYS,
      page: 'http://page',
      clock,
    }
    const started = startAlerts({ ...options, logger: pino({ level: 'silent' }) })
    onTestFinished(() => started.close())
    return started
  }
  const posts = () => receiver.posts.map(({ body }) => JSON.parse(body) as Told)
  return {
    start,
    findings,
    clock,
    state,
    posts,
    raw: receiver.posts,
    now: () => now,
    said: () => posts().map(({ change, count }) => `${change} ${count}`),
    holds: (...current: Finding[]) => void (findings.current = current),
    pass: (ms: number) => void (now += ms),
  }
}

function silent(count: number, company_id = '7'): Finding {
  const message = say('nothing is heard of {}, on a route now', say('{} devices', count))
  return finding({ code: 'silent', severity: 'warning', subject: { company_id }, count, message })
}

function silentVan(device: string, company_id = '7'): Finding {
  const message = say('nothing is heard of {}, on a route now', `Van ${device}`)
  return finding({ code: 'silent', severity: 'warning', subject: { device, company_id }, count: 1, message })
}

/** Returns what Redis keeps about messages to receivers. */
async function kept(): Promise<string> {
  const names = await admin.redis.keys(keys.alerted('*'))
  const read = (name: string) => (name.endsWith(':failure') ? admin.redis.get(name) : admin.redis.hvals(name))
  return (await Promise.all(names.map(read))).flat().join('')
}

it('vans that fall silent in waves are one begin, updates when they double, and one end under one id', async () => {
  const { holds, pass, posts, said, start } = await site()
  start()
  pass(20_000)
  holds(silentVan('1'), silentVan('2'), silentVan('3'))
  await expect.poll(said, soon).toEqual(['begins 3'])
  pass(MINUTE)
  holds(silent(39))
  await expect.poll(said, soon).toEqual(['begins 3', 'updates 39'])
  pass(MINUTE)
  holds(silent(203))
  await expect.poll(said, soon).toEqual(['begins 3', 'updates 39', 'updates 203'])
  pass(MINUTE)
  holds(silentVan('1'))
  await new Promise((resolve) => setTimeout(resolve, 2500))
  holds()
  await expect.poll(said, soon).toEqual(['begins 3', 'updates 39', 'updates 203', 'ends 203'])
  expect(new Set(posts().map(({ id }) => id)).size).toBe(1)
  expect(posts().map(({ message }) => message)).toContain('nothing is heard of 203 devices, on a route now')
  expect(posts()[0].evidence).toEqual([
    'Van 1: pushPositions: refuses connections',
    expect.any(String),
    expect.any(String),
  ])
})

it('a receiver that is down from the begin until after the end is told both once, in order', async () => {
  const { holds, pass, posts, said, start, state } = await site()
  state.status = 503
  const alerts = start()
  pass(20_000)
  holds(silent(39))
  await expect.poll(() => posts().length, soon).toBeGreaterThan(3)
  await expect.poll(() => alerts.failing().length, soon).toBe(1)
  holds()
  await new Promise((resolve) => setTimeout(resolve, 2500))
  pass(20 * MINUTE)
  await new Promise((resolve) => setTimeout(resolve, 2500))
  const before = posts().length
  state.status = 204
  await expect.poll(() => said().slice(-2), soon).toEqual(['begins 39', 'ends 39'])
  expect(posts().length - before).toBeLessThanOrEqual(3)
  expect(new Set(posts().map(({ id }) => id)).size).toBe(1)
  expect(alerts.failing()).toEqual([])
  const told = said().length
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(said()).toHaveLength(told)
})

it('a receiver that is down while an incident doubles is told the begin, then one update, under one id', async () => {
  const { holds, pass, posts, said, start, state } = await site()
  state.status = 503
  start()
  holds(silent(39))
  await expect.poll(() => posts().length, soon).toBeGreaterThan(1)
  for (const count of [80, 203]) {
    pass(MINUTE)
    holds(silent(count))
    await new Promise((resolve) => setTimeout(resolve, 1500))
  }
  expect(new Set(said())).toEqual(new Set(['begins 39']))
  state.status = 204
  await expect.poll(() => said().slice(-2), soon).toEqual(['begins 39', 'updates 203'])
  expect(new Set(posts().map(({ id }) => id)).size).toBe(1)
  const told = said().length
  pass(MINUTE)
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(said()).toHaveLength(told)
})

it('a receiver that is down for hours is told what holds then, and nothing that has ended', async () => {
  const { holds, pass, posts, said, start, state } = await site()
  state.status = 503
  start()
  pass(20_000)
  holds(silent(39), finding({ code: 'flood', severity: 'warning' }))
  await expect.poll(() => posts().length, soon).toBeGreaterThan(1)
  holds(silent(203))
  pass(61 * MINUTE)
  await new Promise((resolve) => setTimeout(resolve, 2500))
  pass(61 * MINUTE)
  await new Promise((resolve) => setTimeout(resolve, 2500))
  const before = posts().length
  state.status = 204
  await expect.poll(() => said().at(-1), soon).toBe('begins 203')
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(
    posts()
      .slice(before + 1)
      .map(({ code }) => code),
  ).not.toContain('flood')
})

it('after a restart during an incident, updates and the end have the id of the begin, and nothing is repeated', async () => {
  const { holds, pass, posts, said, start } = await site()
  const first = start()
  holds(silent(39))
  await expect.poll(said, soon).toEqual(['begins 39'])
  await expect.poll(kept, soon).toContain('"told":"begins"')
  await first.close()
  start()
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(said()).toEqual(['begins 39'])
  pass(20_000)
  holds(silent(80))
  await expect.poll(said, soon).toEqual(['begins 39', 'updates 80'])
  holds()
  await expect.poll(said, soon).toEqual(['begins 39', 'updates 80', 'ends 80'])
  expect(new Set(posts().map(({ id }) => id)).size).toBe(1)
})

it.each(['clock_behind', 'gps_old'] as const)(
  'a restart does not tell the end of a finding that is noticed again only after several messages: %s',
  async (code) => {
    const { holds, pass, said, start } = await site()
    const behind = finding({ code, severity: 'warning', subject: { device: '1', company_id: '7' }, count: 1 })
    const first = start()
    holds(behind)
    await expect.poll(said, soon).toEqual(['begins 1'])
    await expect.poll(kept, soon).toContain('"told":"begins"')
    await first.close()
    holds()
    start()
    pass(5 * MINUTE)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(said()).toEqual(['begins 1'])
    pass(6 * MINUTE)
    await expect.poll(said, soon).toEqual(['begins 1', 'ends 1'])
  },
)

it('a restart keeps the time since which a receiver fails', async () => {
  const { holds, start, state } = await site()
  state.status = 503
  holds(silent(39))
  const first = start()
  await expect.poll(() => first.failing().length, soon).toBe(1)
  const [{ sinceAt }] = first.failing()
  await expect.poll(kept, soon).toContain('"tries"')
  await first.close()
  const second = start()
  await expect.poll(() => second.failing(), soon).toEqual([expect.objectContaining({ sinceAt })])
  state.status = 204
  await expect.poll(() => second.failing(), soon).toEqual([])
  await expect.poll(kept, soon).not.toContain('"tries"')
})

it('a restart with another mail server does not call it failing because of the previous one', async () => {
  const { config } = admin.live
  const { findings, holds, state, clock } = await site()
  const start = (host: string) => {
    const mail = {
      smtp: `smtp://${host}:1`,
      from: 'gps@example.com',
      to: ['ops@example.com'],
      min_severity: 'info' as const,
    }
    const own = { ...config, alerts: { ...config.alerts, flap: 0, webhooks: [], mail } }
    const logger = pino({ level: 'silent' })
    const started = startAlerts({ config: own, findings, redis: admin.redis, ...NO_DAYS, page: '', clock, logger })
    onTestFinished(() => started.close())
    return started
  }
  holds(silent(39))
  const first = start('127.0.0.1')
  await expect.poll(() => first.failing(), soon).toMatchObject([{ receiver: 'alerts.mail (127.0.0.1:1)' }])
  await expect.poll(kept, soon).toContain('"tries"')
  await first.close()
  // No message is sent yet.
  state.isPatient = true
  const second = start('localhost')
  await expect.poll(() => state.isWaiting, soon).toBe(true)
  expect(second.failing()).toEqual([])
})

it('a receiver of company 7 is never told the vans of company 8, or their number', async () => {
  const { holds, posts, start, raw } = await site({ companies: ['7'] })
  start()
  holds(
    silent(39),
    silent(203, '8'),
    silentVan('canary-van', '8'),
    finding({ code: 'unknown_device', subject: { device: 'canary-unknown' }, severity: 'warning' }),
    finding({ count: 8888, message: say('{} and {} more', 'canary-lane', 8888), evidence: ['canary-evidence'] }),
  )
  await expect
    .poll(
      () =>
        posts()
          .map(({ code }) => code)
          .toSorted(),
      soon,
    )
    .toEqual(['silent', 'upstream_down'])
  expect(JSON.stringify(raw)).not.toMatch(/canary|203|8888/)
  expect(posts().find(({ code }) => code === 'upstream_down')).toMatchObject({ count: 1, evidence: [] })
})

it('a test is sent to the receivers that the caller may see, and says that nothing is wrong', async () => {
  const { posts, start } = await site({ companies: ['7'] })
  const alerts = start()
  expect(await alerts.test(new Scope(['8']))).toEqual([])
  expect(posts()).toEqual([])
  expect(await alerts.test(new Scope(['7', '8']))).toMatchObject([{ format: 'waybridge', ok: true }])
  expect(posts()).toMatchObject([{ change: 'test', message: expect.stringContaining('nothing is wrong') }])
})

it('a successful test ends the failure of a receiver, and waiting messages are sent at once', async () => {
  const { holds, posts, start, state } = await site()
  state.status = 503
  holds(silent(39))
  const alerts = start()
  await expect.poll(() => alerts.failing().length, soon).toBe(1)
  state.isPatient = true
  await expect.poll(() => state.isWaiting, soon).toBe(true)
  expect(await alerts.test(new Scope(null))).toMatchObject([{ ok: false }])
  expect(alerts.failing()).toHaveLength(1)
  state.status = 204
  expect(await alerts.test(new Scope(null))).toMatchObject([{ ok: true }])
  await expect.poll(() => posts().at(-1)?.change, soon).toBe('begins')
})

it('Alertmanager gets a lasting finding each minute and after a restart, and never as ended too early', async () => {
  const { holds, pass, start, raw, now } = await site({ format: 'alertmanager', secret: 'canary-token' })
  const alerts = () =>
    raw.flatMap(({ body }) => JSON.parse(body) as { labels: object; endsAt: string; startsAt: string }[])
  const first = start()
  holds(silent(39))
  await expect.poll(() => alerts().length, soon).toBe(1)
  await expect.poll(kept, soon).toContain('"told":"begins"')
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(alerts()).toHaveLength(1)
  pass(MINUTE)
  await expect.poll(() => alerts().length, soon).toBe(2)
  await first.close()
  start()
  await expect.poll(() => alerts().length, soon).toBe(3)
  for (const { endsAt } of alerts()) expect(Date.parse(endsAt) - Date.now()).toBeGreaterThan(3 * MINUTE)
  pass(20_000)
  holds({ ...silent(39), severity: 'error' })
  await expect.poll(() => alerts().length, soon).toBe(5)
  const [before, after] = alerts().slice(3)
  expect(before).toMatchObject({ labels: { severity: 'warning' } })
  expect(Date.parse(before.endsAt)).toBeLessThanOrEqual(Date.now())
  expect(after).toMatchObject({ labels: { severity: 'error', company_id: '7', alertname: 'waybridge_silent' } })
  holds()
  await expect.poll(() => alerts().length, soon).toBe(6)
  expect(alerts()[5].labels).toEqual(after.labels)
  expect(Date.parse(alerts()[5].endsAt)).toBeLessThanOrEqual(now())
  pass(MINUTE)
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expect(alerts()).toHaveLength(6)
  expect(raw[0].headers.authorization).toBe('Bearer canary-token')
  expect(raw.map(({ body }) => body).join('')).not.toContain('canary')
})

it('Alertmanager gets a lasting finding again, and its end, even if the clock is set back by an hour', async () => {
  const { holds, pass, start, raw } = await site({ format: 'alertmanager' })
  start()
  holds(silent(39))
  await expect.poll(() => raw.length, soon).toBe(1)
  await expect.poll(kept, soon).toContain('"told":"begins"')
  pass(-60 * MINUTE)
  await expect.poll(() => raw.length, { timeout: 10_000 }).toBe(2)
  holds()
  await expect.poll(() => raw.length, { timeout: 10_000 }).toBe(3)
})
