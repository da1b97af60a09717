import { expect, it, onTestFinished } from 'vitest'
import { Enrolment, setEnrolment } from '../../src/ingest/enrolment.ts'
import { openRedis, type Redis } from '../../src/lanes/index.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Redis
let url: string

withRedis((server, connection) => {
  redis = connection
  url = server.url
})

it('an enrolment window ends in time while Redis is away', async () => {
  const lost = openRedis(url, {})
  const enrolment = new Enrolment(lost)
  onTestFinished(() => enrolment.stop())
  await setEnrolment(redis, 3000)
  await expect.poll(() => enrolment.isOpen, { timeout: 3000 }).toBe(true)
  lost.disconnect()
  await expect.poll(() => enrolment.isOpen, { timeout: 5000 }).toBe(false)
})
