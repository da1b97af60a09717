import { once } from 'node:events'
import { hostname } from 'node:os'
import { afterEach, expect, it, vi } from 'vitest'
import { type ClockEvidence, judgeClock, OwnClock } from '../../src/gateway/clock.ts'
import { observations } from '../../src/observe/observations.ts'
import { noteClockOfApi, type Redis } from '../../src/store/index.ts'
import { beating } from '../support/beat.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Redis

withRedis((_, connection) => {
  redis = connection
})

afterEach(() => void vi.useRealTimers())

const unsynchronised = () => Promise.resolve(false)

it.each([3_600_000, -3_600_000])(
  'doubts its own clock from the first frame after a jump by %i ms, and reports that',
  async (ms) => {
    const clock = new OwnClock(redis, unsynchronised)
    let jumps = 0
    clock.follow(() => jumps++)
    await clock.look()
    expect([clock.isInDoubt, jumps]).toEqual([false, 0])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
    expect(clock.now()).toBe(Date.now())
    clock.now()
    expect([clock.isInDoubt, jumps]).toEqual([true, 1])
  },
)

it.each<[string, ClockEvidence]>([
  ['there is no evidence', {}],
  ['it agrees with all others', { aheadOfRedisMs: 5, aheadOfApiMs: -900, isSynchronised: true }],
  ['only the API differs, and the kernel calls it synchronised', { aheadOfApiMs: 3_600_000, isSynchronised: true }],
  ['it jumped to the time of the API', { jumpMs: 3_600_000, aheadOfApiMs: 400 }],
  ['the kernel alone calls it unsynchronised', { isSynchronised: false }],
])('does not doubt its own clock if %s', (_, evidence) => {
  expect(judgeClock(evidence)).toBeUndefined()
})

it.each<[string, ClockEvidence, string]>([
  ['it differs from that of Redis', { aheadOfRedisMs: 60_000 }, 'the clock differs from that of Redis by 60 s'],
  ['it jumped', { jumpMs: -3_600_000, isSynchronised: true }, 'the clock jumped by -3600 s'],
  [
    'the API differs and the kernel does not call it synchronised',
    { aheadOfApiMs: -40_000, isSynchronised: false },
    'the clock differs from that of the tracking API by -40 s, and is not synchronised',
  ],
])('doubts its own clock if %s', (_, evidence, sentence) => {
  expect(inEnglish(judgeClock(evidence))).toBe(sentence)
})

it('doubts its own clock when the API disagrees with it, until the API agrees', async () => {
  const clock = beating(new OwnClock(redis, unsynchronised), (each) => each.look())
  await noteClockOfApi(redis, 3_600_000)
  await expect.poll(() => clock.isInDoubt, { timeout: 30_000 }).toBe(true)
  const [found] = observations.current().filter(({ code }) => code === 'own_clock')
  expect([found.subject, inEnglish(found.evidence[0])]).toEqual([{}, expect.stringContaining(`${hostname()}: `)])
  await noteClockOfApi(redis, 0)
  await expect.poll(() => clock.isInDoubt, { timeout: 30_000 }).toBe(false)
})

it('doubts its own clock after a jump that a frame shows while Redis is asked for its clock', async () => {
  const clock = new OwnClock(redis, unsynchronised)
  vi.spyOn(redis, 'get').mockImplementationOnce(async () => {
    await redis.time()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 172_800_000 })
    clock.now()
    return JSON.stringify({ aheadOfRedisMs: 0 })
  })
  await clock.look()
  expect(clock.isInDoubt).toBe(true)
})

it('doubts its own clock from the start until Redis agrees with it', async () => {
  const clock = new OwnClock(redis, unsynchronised)
  expect(clock.isInDoubt).toBe(true)
  await clock.look()
  expect(clock.isInDoubt).toBe(false)
})

it('stays in doubt while Redis does not answer', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  const connection = redis.duplicate()
  await once(connection, 'ready')
  const clock = new OwnClock(connection, unsynchronised)
  await clock.look()
  expect(clock.isInDoubt).toBe(true)
  connection.disconnect()
  await clock.look()
  expect(clock.isInDoubt).toBe(true)
})
