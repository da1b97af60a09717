import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { metrics } from '../../src/observe/metrics.ts'
import { observations } from '../../src/observe/observations.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store
withRedis((_, connection) => {
  redis = connection
})

const survey = () =>
  redis.run('survey', [keys.schedule, keys.lane(''), keys.pushesPrefix, keys.parked, keys.ahead], ['7/1/1'])
/** The clock of this process, which the tests set. */
let now = 100_000
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now))
afterEach(() => void vi.restoreAllMocks())

/** Calls the script so many times, one after the other, each of which takes so long. */
const calls = async (times: number, ms: number) => {
  for (let n = 0; n < times; n++) {
    const answer = survey()
    now += ms
    await answer
  }
}
const seen = () => inEnglish(observations.current()).find(({ code }) => code === 'slow_script')
const counted = async () => (await metrics.slowScripts.get()).values.filter(({ value }) => value > 0)

it('a process counts a slow call to Redis by the name of its script, and no quick one', async () => {
  await calls(1, 250)
  await calls(1, 249)
  expect(await counted()).toEqual([{ labels: { script: 'survey' }, value: 1 }])
})

it('a process reports calls that are slow for five seconds without a quick one among them', async () => {
  await calls(16, 300)
  await calls(1, 200)
  await calls(16, 300)
  expect(seen()).toBeUndefined()
  await calls(1, 300)
  expect(seen()).toMatchObject({ count: 1, evidence: ['survey: 300 ms'] })
})
