import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { everySecond } from '../../src/async.ts'
import type { StatusJson } from '../../src/admin/schemas/status.ts'
import { connect, keys } from '../../src/store/index.ts'
import { openBare, READ } from '../support/admin.ts'
import { startTestRedis } from '../support/redis.ts'

const MIN = 60_000
const NO_CONNECTION = /^there is no connection to Redis: connect E/

/** Opens the admin port beside a Redis. */
async function openBeside(
  prepare: (server: Awaited<ReturnType<typeof startTestRedis>>) => Promise<void> = async () => {},
) {
  const server = await startTestRedis()
  await prepare(server)
  const redis = connect(server.url, 'test')
  const logged: string[] = []
  const admin = await openBare({ redis, logger: pino({}, { write: (line: string) => void logged.push(line) }) })
  onTestFinished(async () => {
    await admin.close()
    redis.disconnect()
    await server.stop()
  })
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${admin.port}/admin/status`, { headers: READ })
    return { status: answer.status, json: (await answer.json()) as StatusJson }
  }
  return { redis, logged, ask }
}

it('the admin port opens while Redis is down, says so, and leaves out what it does not know', async () => {
  const { ask } = await openBeside((server) => server.kill('SIGKILL'))
  await expect.poll(ask).toMatchObject({
    status: 200,
    json: {
      verdict: expect.stringMatching(/^Redis does not answer/),
      findings: [{ code: 'redis_down', severity: 'error', evidence: [expect.stringMatching(NO_CONNECTION)] }],
    },
  })
  const known = Object.keys((await ask()).json)
  expect(known).not.toContain('waiting')
  expect(known).toContain('vans')
})

it('the verdict is not that all is well before it is known whether a gateway runs', async () => {
  const { ask } = await openBeside()
  const verdicts: string[] = []
  const codes = async () => {
    const { json } = await ask()
    verdicts.push(json.verdict)
    return json.findings.map(({ code }) => code)
  }
  await expect.poll(codes).toContain('no_gateway')
  expect(verdicts.filter((verdict) => /^(?:all )?well/i.test(verdict))).toEqual([])
})

it('stored data that cannot be read are no reason to say that Redis does not answer', async () => {
  const { ask, logged, redis } = await openBeside()
  await expect.poll(() => redis.status).toBe('ready')
  const [{ keyNames }] = redis.shards
  await redis.set(keyNames.keptHours, 'no hash')
  await expect.poll(() => logged.join('')).toMatch(/WRONGTYPE.*stored facts cannot be read/)
  await expect.poll(async () => (await ask()).json.findings.map(({ code }) => code)).not.toContain('redis_down')
})

it('no gateway is missed before it can sign again after the clock was set forward', async () => {
  const { ask, redis } = await openBeside()
  await expect.poll(() => redis.status).toBe('ready')
  await redis.sadd(keys.processIds, 'gateway')
  const text = JSON.stringify({ role: 'gateway', pid: 1, host: 'gate-1', sinceAt: Date.now(), observations: [] })
  // A sign is kept for ten minutes.
  const sign = (agoMs: number) => redis.set(keys.process('gateway'), text, 'PX', 10 * MIN - agoMs)
  const signs = everySecond({ sign: () => sign(0) })
  const codes = async () => (await ask()).json.findings.map(({ code }) => code)
  await expect.poll(codes).toContain('no_worker')
  await signs.stop()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MIN, shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
  await sign(MIN)
  const setAt = Date.now()
  await expect.poll(codes).toContain('no_gateway')
  expect(Date.now() - setAt).toBeGreaterThan(9000)
})
