import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { Findings } from '../../src/admin/findings.ts'
import { everySecond } from '../../src/async.ts'
import { DeviceSurvey } from '../../src/diagnose/devices.ts'
import type { DeviceGroup } from '../../src/diagnose/device-facts.ts'
import type { Facts, UpstreamFacts } from '../../src/diagnose/facts.ts'
import { type Observation, observations } from '../../src/observe/observations.ts'
import { readProcesses, signOn } from '../../src/store/index.ts'
import { say } from '../../src/texts/text.ts'
import { adminFixture, store, TOKEN, workerOf } from '../support/admin.ts'

const admin = adminFixture()
const NOW = Date.now()
const MIN = 60_000
const soon = { timeout: 30_000 }

async function metrics(): Promise<string> {
  return (await admin.ask('/metrics')).text
}

/** Returns the findings that this test causes. */
async function clockFindings(): Promise<unknown> {
  const { json } = await admin.ask('/admin/status')
  return (json as { findings: { code: string }[] }).findings.filter(({ code }) => code === 'clock_ahead')
}

it('the status, the metrics and the log show a finding while a process observes it', async () => {
  const lines: { level: number; msg: string; reason: string; device: string }[] = []
  const logging = new Findings({
    redis: admin.redis,
    gather: async () => ({ now: Date.now(), ...(await readProcesses(admin.redis)), processes: undefined }),
    logger: pino({}, { write: (line) => void lines.push(JSON.parse(line)) }),
  })
  const beat = everySecond({ look: () => logging.look() })
  onTestFinished(() => beat.stop())
  const logged = () => lines.filter(({ reason }) => reason === 'clock_ahead')
  expect(await clockFindings()).toEqual([])

  const now = Date.now()
  observations.note('clock_ahead', { subject: { device: '1' }, evidence: 'about 120 min ahead', now })
  await expect.poll(clockFindings, soon).toEqual([
    {
      code: 'clock_ahead',
      severity: 'warning',
      link: 'placed',
      subject: { device: '1' },
      since_at: new Date(now).toISOString(),
      count: 1,
      evidence: ['about 120 min ahead'],
      message: 'the fixes of 1 are ahead of our clock: they are not delivered',
      action: expect.stringContaining('time_zone'),
      plain: {
        message: '1: the clock of the tracker is ahead: positions are not delivered',
        action: expect.stringContaining('under Edit') as string,
      },
    },
  ])
  await expect.poll(metrics, soon).toContain('waybridge_findings{code="clock_ahead",severity="warning"} 1')

  await expect.poll(() => logged().length, soon).toBe(1)

  // Ends the observation.
  observations.current(Infinity)
  await expect.poll(clockFindings, soon).toEqual([])
  await expect.poll(metrics, soon).not.toContain('waybridge_findings{code="clock_ahead"')
  await expect.poll(() => logged().length, soon).toBe(2)
  expect(logged()[0]).toMatchObject({ level: 40, reason: 'clock_ahead', device: '1', count: 1 })
  expect(logged().map(({ msg }) => msg.split(':')[0])).toEqual(['begins', 'has ended'])
})

const findingsOf = async (device: string) => (await admin.ask(`/admin/findings?device=${device}`)).json

it('GET /admin/findings lists the findings of one device, by its id with or without leading zeros', async () => {
  observations.note('clock_ahead', { subject: { device: '07' }, evidence: '1 h' })
  for (const id of ['07', '7'])
    await expect.poll(() => findingsOf(id), soon).toMatchObject({ results: [{ subject: { device: '07' } }] })
  for (const id of ['17', '']) expect(await findingsOf(id)).toEqual({ results: [] })
})

it.each(['soon', '-1', '2026-02-30', '2026-02-30T06:00:00Z', '2026-11-20&since=2026-11-21'])(
  'GET /admin/findings answers 422 to since=%s',
  async (since) => {
    const { status, json } = await admin.ask(`/admin/findings?since=${since}`)
    expect([status, json]).toMatchObject([422, { message: expect.stringMatching(/^since: expected (?:a|one) time/) }])
  },
)

it('findings in answers and events are in the language of the request, or in English', async () => {
  const evidence = say('about {} min ahead: {}', 120, say('time_zone "{}" would fit', '+02:00'))
  observations.note('clock_ahead', { subject: { device: '2' }, evidence })
  const found = async (language?: string) => {
    const headers = { authorization: `Bearer ${TOKEN}`, ...(language && { 'accept-language': language }) }
    const { json } = await admin.ask('/admin/findings?device=2', { headers })
    return (json as { results: { message: string; evidence: string[] }[] }).results.map((each) => [
      each.message,
      ...each.evidence,
    ])
  }
  const english = [
    'the fixes of 2 are ahead of our clock: they are not delivered',
    'about 120 min ahead: time_zone "+02:00" would fit',
  ]
  await expect.poll(() => found(), soon).toEqual([english])
  expect(await found('fr-FR, de;q=0.5')).toEqual([english])
  expect(await found('de-AT,de;q=0.9')).toEqual([
    [
      'die Positionen von 2 liegen in der Zukunft: sie werden nicht zugestellt',
      'etwa 120 min voraus: time_zone "+02:00" würde passen',
    ],
  ])
  const refusal = await admin.ask('/admin/devices/nobody', {
    headers: { authorization: `Bearer ${TOKEN}`, 'accept-language': 'de' },
  })
  expect(refusal.json).toMatchObject({ message: expect.stringMatching(/^kein Gerät mit dieser Kennung/) })
})

it('thousands of findings are compared within a fraction of a second, and each begins and ends once', async () => {
  const changes: string[] = []
  const facts = { now: Date.now(), observations: manyObservations() }
  const many = new Findings({
    redis: admin.redis,
    gather: async () => facts,
    logger: pino({ level: 'silent' }),
  })
  many.follow(({ finding, endedAt }) => changes.push(`${finding.subject.device} ${endedAt ? 'ends' : 'begins'}`))
  const began = process.threadCpuUsage()
  await many.look()
  await many.look()
  expect(many.current).toHaveLength(3000)
  facts.observations = manyObservations().slice(1)
  await many.look()
  const { user } = process.threadCpuUsage(began)
  expect(changes).toHaveLength(3001)
  expect(changes.at(-1)).toBe('0 ends')
  expect(user / 1000).toBeLessThan(2000)
})

it('the log has a line for vans with a fast clock, one each time their number doubles, and one at the end', async () => {
  const lines: { msg: string; count: number }[] = []
  let now = NOW
  let vans = 1
  const observed = () => manyObservations().slice(0, vans)
  const findings = new Findings({
    redis: admin.redis,
    gather: async () => ({ now, observations: observed() }),
    logger: pino({}, { write: (line) => void lines.push(JSON.parse(line)) }),
  })
  const changes: string[] = []
  findings.follow(({ change }) => changes.push(change))
  for (const next of [1, 100, 400, 399, 0]) {
    vans = next
    now += MIN
    for (let looks = 0; looks < 3; looks++) await findings.look()
  }
  expect(lines.map(({ msg, count }) => `${msg.split(';')[0]} (${count})`)).toEqual([
    'begins: the fixes of 0 are ahead of our clock: they are not delivered (1)',
    'goes on: the fixes of 100 devices are ahead of our clock: they are not delivered (100)',
    'goes on: the fixes of 400 devices are ahead of our clock: they are not delivered (400)',
    'has ended: the fixes of 400 devices are ahead of our clock: they are not delivered (400)',
  ])
  expect(changes.filter((change) => change === 'ends')).toHaveLength(400)
})

it('findings that are merged into one or split again do not count as ended', async () => {
  const facts = { now: Date.now(), observations: [], devices: [] as DeviceGroup[] }
  const findings = new Findings({ redis: admin.redis, gather: async () => facts, logger: pino({ level: 'silent' }) })
  const changes: string[] = []
  findings.follow(({ finding: { subject }, change }) => changes.push(`${change} ${subject.device ?? 'all'}`))
  for (const count of [1, 6, 1]) {
    facts.devices = silentVans(count)
    await findings.look()
  }
  expect(changes).toEqual(['begins 0', 'merges 0', 'begins all', 'merges all', 'begins 0'])
  // Those of other tests may end at any time.
  const ended = async () => (await findings.ended()).filter(({ code }) => code === 'silent')
  expect(await ended()).toEqual([])
  facts.devices = []
  await findings.look()
  expect(changes.at(-1)).toBe('ends 0')
  expect(await ended()).toMatchObject([{ subject: { device: '0' } }])
})

it('no other finding ends while replicas of Redis are missing, and an SOS does not begin again afterwards', async () => {
  const lines: string[] = []
  let facts: Facts = { now: NOW, observations: [], devices: raised(NOW - 10 * MIN) }
  const findings = new Findings({
    redis: admin.redis,
    gather: async () => facts,
    logger: pino({}, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg.split(';')[0]) }),
  })
  const changes: string[] = []
  findings.follow(({ finding: { code }, change }) => changes.push(`${change} ${code}`))
  for (const missing of [[], ['0 of 1 replicas are connected'], []]) {
    facts = { ...facts, redis: { missing } }
    await findings.look()
  }
  expect(changes).toEqual(['begins sos', 'begins replicas_missing', 'ends replicas_missing'])
  expect(lines.filter((line) => line.includes('SOS'))).toEqual(['begins: SOS from Van 1'])
  expect(findings.current.map(({ code }) => code)).toEqual(['sos'])
})

it('an SOS that a van raises anew ends the previous SOS finding and begins another one', async () => {
  const lines: string[] = []
  const facts = { now: NOW, observations: [], devices: raised(NOW - 60 * MIN) }
  const findings = new Findings({
    redis: admin.redis,
    gather: async () => facts,
    logger: pino({}, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg.split(';')[0]) }),
  })
  await findings.look()
  facts.devices = raised(NOW - 60 * MIN, NOW - 55 * MIN)
  await findings.look()
  expect(lines).toEqual(['begins: SOS from Van 1'])
  facts.devices = raised(NOW - 10 * MIN)
  await findings.look()
  expect(lines.slice(1)).toEqual(['has ended: SOS from Van 1', 'begins: SOS from Van 1'])
  expect(findings.current).toMatchObject([{ code: 'sos', sinceAt: NOW - 10 * MIN }])
})

function manyObservations(): Observation[] {
  const now = Date.now()
  return Array.from({ length: 3000 }, (_, index) => {
    const subject = { device: String(index), company_id: '7' }
    return { code: 'clock_ahead', subject, sinceAt: now, lastAt: now, count: 1, evidence: [] }
  })
}

/** Returns silent vans of company 7. */
function silentVans(count: number): DeviceGroup[] {
  const survey = new DeviceSurvey(NOW)
  for (let id = 0; id < count; id++)
    survey.add({ id: String(id), company: '7', heardAt: NOW - 60 * MIN, route: { courier: '1', route: String(id) } })
  return survey.groups()
}

/** Returns a van with an SOS since `sinceAt`, raised again at `at`. */
function raised(sinceAt: number, at = sinceAt): DeviceGroup[] {
  const survey = new DeviceSurvey(at)
  const said = { alarms: [{ alarm: 'sos', at, sinceAt, cameAt: at }] }
  survey.add({ id: '1', name: 'Van 1', company: '7', heardAt: at, said })
  return survey.groups()
}

it('fixes that waited for the tracking API are a backlog only if they still wait ten seconds after its return', async () => {
  let facts: Facts = { now: NOW, observations: [] }
  const findings = new Findings({ redis: admin.redis, gather: async () => facts, logger: pino({ level: 'silent' }) })
  const codesAfter = async (seconds: number, state: 'up' | 'down') => {
    const now = NOW + seconds * 1000
    const upstream: UpstreamFacts = {
      state,
      since: NOW,
      url: 'https://api.example',
      inFlight: 0,
      oldestMs: 0,
      slowestMs: 0,
      refused: [],
      tokensRefused: [],
      lastError: { at: now, code: 'refused', operation: 'push' },
    }
    facts = { now, observations: [], upstream, backlog: { fixes: 9, lanes: 1, oldestAt: NOW - 2 * MIN } }
    await findings.look()
    return findings.current.map(({ code }) => code)
  }
  expect(await codesAfter(0, 'up')).toEqual(['backlog'])
  expect(await codesAfter(5, 'down')).toEqual(['upstream_down'])
  expect(await codesAfter(6, 'up')).toEqual([])
  expect(await codesAfter(14, 'up')).toEqual([])
  expect(await codesAfter(15, 'up')).toEqual(['backlog'])
  // The clock was an hour ahead.
  expect(await codesAfter(3600, 'down')).toEqual(['upstream_down'])
  expect(await codesAfter(20, 'up')).toEqual(['backlog'])
})

it('a parked lane is still shown after all workers have restarted, and no apikey is blamed', async () => {
  await store(admin.redis, '7/42/403', { count: 1 })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/42/403'), { status: 403, message: 'no' })
  const refusals = async () => {
    const { json } = await admin.ask('/admin/status')
    const { findings, upstream } = json as { findings: { code: string }[]; upstream: { in_flight: number } }
    return [upstream.in_flight, ...findings.flatMap(({ code }) => (code.endsWith('_refused') ? code : []))]
  }
  const signsOn = (inFlight: number, accepted: Readonly<Record<string, number>>) =>
    signOn(admin.redis, { role: 'worker', installation: admin.dir, slot: 1 }, () => ({
      inFlight,
      oldestMs: 0,
      slowestMs: 0,
      url: 'http://api',
      acceptedAt: accepted,
      acceptedBefore: accepted,
    }))
  const worker = signsOn(1, { 7: Date.now() + 1000 })
  await expect.poll(refusals, soon).toEqual([1, 'lane_refused'])
  await worker.stop()
  const next = signsOn(2, {})
  onTestFinished(() => next.stop())
  await expect.poll(async () => (await refusals())[0], soon).toBe(2)
  expect(await refusals()).toEqual([2, 'lane_refused'])
})
