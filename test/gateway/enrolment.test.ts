import { expect, it, onTestFinished, vi } from 'vitest'
import { Enrolment } from '../../src/gateway/enrolment.ts'
import { observations } from '../../src/observe/observations.ts'
import { setEnrolment } from '../../src/store/enrolment.ts'
import { openRedis, type Redis } from '../../src/store/index.ts'
import { beating } from '../support/beat.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Redis
let url: string

withRedis((server, connection) => {
  redis = connection
  url = server.url
})

it('an enrolment window ends in time while Redis is away', async () => {
  const lost = openRedis(url, {})
  const enrolment = beating(new Enrolment(lost), (each) => each.look())
  onTestFinished(() => void vi.useRealTimers())
  await setEnrolment(redis, 60_000)
  await expect.poll(() => enrolment.isOpen).toBe(true)
  lost.disconnect()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
  expect(enrolment.isOpen).toBe(true)
  vi.setSystemTime(Date.now() + 59_000)
  expect(enrolment.isOpen).toBe(false)
})

it('the finding about an enrolment window that is extended shows its last end alone', async () => {
  const enrolment = new Enrolment(redis)
  for (const minutes of [10, 30]) {
    await setEnrolment(redis, minutes * 60_000)
    await enrolment.look()
  }
  const found = inEnglish(observations.current()).filter(({ code }) => code === 'enrolment_open')
  const end = new Date(Math.round((Date.now() + 1_800_000) / 60_000) * 60_000).toISOString().slice(0, 16)
  expect(found.map(({ evidence }) => evidence)).toEqual([[`until ${end}Z`]])
})
