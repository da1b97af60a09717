import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { Store } from '../../src/store/index.ts'
import { jobFaults } from '../../src/store/job-faults.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store
withRedis((_, connection) => (redis = connection))

it('logs a fault of a job once, and errors of Redis only as details', async () => {
  const lines: { level: number; msg: string }[] = []
  const onFault = jobFaults(pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) }))
  const fault = new Error('a fault')
  onFault(fault, 'days')
  onFault(fault, 'days')
  onFault(await redis.incr('{wb0}:text', 'x' as never).catch((error: unknown) => error), 'days')
  onFault(new Error('Connection is closed.'), 'days')
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    '50 fault in a job: days',
    '20 days: waits for Redis',
    '20 days: waits for Redis',
  ])
})
