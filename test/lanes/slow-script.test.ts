import { expect, it } from 'vitest'
import { keys, type Redis, scripts } from '../../src/lanes/index.ts'
import { metrics } from '../../src/observe/metrics.ts'
import { observations } from '../../src/observe/observations.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Redis
withRedis((_, connection) => {
  redis = connection
})

it('counts a slow call to Redis by the name of its script, with a finding; a quick one is not counted', async () => {
  const run = scripts(redis)
  const survey = () => run('survey', [keys.schedule, keys.lane(''), keys.push(''), keys.parked, keys.ahead], ['7/1/1'])
  await survey()
  await redis.call('CLIENT', 'PAUSE', '400', 'ALL')
  await survey()
  const counted = (await metrics.slowScripts.get()).values.filter(({ value }) => value > 0)
  expect(counted).toEqual([{ labels: { script: 'survey' }, value: 1 }])
  const seen = observations.current().find(({ code }) => code === 'slow_script')
  expect(seen).toMatchObject({ count: 1, evidence: [expect.stringMatching(/^survey: \d+ ms$/)] })
})
