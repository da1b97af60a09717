import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { EVERYTHING } from '../../src/admin/scope.ts'
import type { Store } from '../../src/store/index.ts'
import { openBare } from '../support/admin.ts'
import { followEvents } from '../support/events.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store

withRedis((_server, connection) => {
  redis = connection
})

const soon = { timeout: 30_000, interval: 20 }
const logger = pino({ level: 'silent' })
const bare = async (more: Partial<Parameters<typeof openBare>[0]> = {}) => {
  const opened = await openBare({ redis, logger, ...more })
  const at = (token = 'canary-operate') =>
    followEvents(`http://127.0.0.1:${opened.port}/admin/events`, { authorization: `Bearer ${token}` })
  return { opened, at }
}

it('an event stream ends at once when the admin port closes, even if its reader does not read', async () => {
  const { opened, at } = await bare()
  const streams = await Promise.all(Array.from({ length: 20 }, () => at()))
  const [sleeping] = streams
  sleeping.pause()
  await opened.close()
  for (const stream of streams.slice(1)) await expect.poll(() => stream.isEnded, soon).toBe(true)
  sleeping.close()
})

it('an event stream ends when its token expires, and is then refused', async () => {
  const token = { token: 'canary-short', role: 'read', label: 'short', scope: EVERYTHING } as const
  let tokens = [token, { token: 'canary-operate', role: 'operate', label: 'long', scope: EVERYTHING } as const].map(
    (each) => ({
      ...each,
      expires: Infinity,
    }),
  )
  const { opened, at } = await bare({ tokens: () => tokens })
  onTestFinished(() => opened.close())
  const [short, long] = await Promise.all([at('canary-short'), at()])
  await expect.poll(() => short.events('status').length, soon).toBeGreaterThan(0)
  tokens = tokens.map((each) => (each.label === 'short' ? { ...each, expires: Date.now() } : each))
  await expect.poll(() => short.isEnded, soon).toBe(true)
  expect((await at('canary-short')).status).toBe(401)
  const before = long.events('status').length
  await expect.poll(() => long.events('status').length, soon).toBeGreaterThan(before)
  expect(long.isEnded).toBe(false)
})
