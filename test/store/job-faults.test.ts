import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { Store } from '../../src/store/index.ts'
import { jobFaults } from '../../src/store/job-faults.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store
withRedis((_, connection) => (redis = connection))

it('logs a fault of a job or script once, and a Redis that is away or full as a detail only', async () => {
  const lines: { level: number; msg: string }[] = []
  const onFault = jobFaults(pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) }))
  const fault = new Error('a fault')
  onFault(fault, 'days')
  onFault(fault, 'days')
  await redis.config('SET', 'maxmemory', '1')
  onFault(await redis.set('{wb0}:text', 'x').catch((error: unknown) => error), 'days')
  await redis.config('SET', 'maxmemory', '0')
  onFault(new Error('Connection is closed.'), 'days')
  onFault(await redis.eval('return nil < 1', 0).catch((error: unknown) => error), 'arrivals')
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    '50 fault in a job: days',
    '20 days: waits for Redis',
    '20 days: waits for Redis',
    '50 fault in a job: arrivals',
  ])
})
