import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { keys } from '../../src/store/index.ts'
import { adminFixture } from '../support/admin.ts'
import { beatingHeardBook } from '../support/beat.ts'

const admin = adminFixture()
const FULL = 'Redis has more than 85 % of its memory in use: nothing is acknowledged'
const ROSTER = 'the roster has not been read'
const soon = { timeout: 30_000 }

async function readyz(): Promise<[number, unknown]> {
  const { status, json } = await admin.ask('/readyz', { headers: {} })
  return [status, json]
}

/** Starts the sign of life of a gateway that has the problems in the list. */
async function gateway(...problems: string[]) {
  const before = await admin.redis.scard(keys.gatewayIds)
  const heard = beatingHeardBook(admin.redis, () => problems)
  onTestFinished(() => heard.close())
  await expect.poll(() => admin.redis.scard(keys.gatewayIds), soon).toBe(before + 1)
  return { heard, problems }
}

it('/readyz of the admin port answers 200 while every gateway acknowledges', async () => {
  await gateway()
  expect(await readyz()).toEqual([200, { ok: true, problems: [] }])
})

it('/readyz of the admin port answers 503 with each reason once while a gateway does not acknowledge', async () => {
  const [first, second] = [await gateway(ROSTER), await gateway(ROSTER)]
  expect(await readyz()).toEqual([503, { ok: false, problems: [ROSTER] }])
  first.problems.length = 0
  await second.heard.close()
  await expect.poll(readyz, soon).toEqual([200, { ok: true, problems: [] }])
})

it('/readyz of the admin port answers 200 again after a gateway with a problem is gone', async () => {
  await gateway()
  await admin.redis.sadd(keys.gatewayIds, 'gone')
  await admin.redis.set(keys.gateway('gone'), JSON.stringify([ROSTER]))
  expect((await readyz())[0]).toBe(503)
  await admin.redis.pexpire(keys.gateway('gone'), 1)
  await expect.poll(readyz, soon).toEqual([200, { ok: true, problems: [] }])
  expect(await admin.redis.sismember(keys.gatewayIds, 'gone')).toBe(0)
})

describe('a full memory of Redis', () => {
  afterEach(() => admin.redis.config('SET', 'maxmemory', '256mb'))

  it('/readyz of the admin port answers 503 while the memory of Redis is full, even if no gateway reports it', async () => {
    await admin.redis.config('SET', 'maxmemory', '1mb')
    expect(await readyz()).toEqual([503, { ok: false, problems: [FULL] }])
  })

  it('a gateway keeps reporting that it is alive while the memory of Redis is full', async () => {
    await gateway(ROSTER)
    const [sign] = await admin.redis.keys(keys.gateway('*'))
    await admin.redis.config('SET', 'maxmemory', '1mb')
    await admin.redis.pexpire(sign, 3000)
    await expect.poll(() => admin.redis.pttl(sign), soon).toBeGreaterThan(4000)
    expect(await readyz()).toEqual([503, { ok: false, problems: [FULL, ROSTER] }])
  })
})
