import { expect, it, onTestFinished } from 'vitest'
import type { Redis } from '../../src/lanes/index.ts'
import { createLogger } from '../../src/observe/log.ts'
import { followRoster, ROSTER_HOLDS_MS } from '../../src/roster/index.ts'
import { withRedis } from '../support/with-redis.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
let redis: Redis
withRedis((_, connection) => (redis = connection))

function followed() {
  const roster = followRoster(redis, logger)
  onTestFinished(() => roster.close())
  return roster
}

/** Nothing runs in this process meanwhile. */
function stopFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

it('a process that was stopped does not go by the roster of before', async () => {
  const roster = followed()
  await expect.poll(() => roster.fresh).toBe(true)
  stopFor(ROSTER_HOLDS_MS)
  expect(roster.fresh).toBe(false)
  await expect.poll(() => roster.fresh).toBe(true)
})

it('who asks while the roster is being read hears of what was written since that began', async () => {
  const roster = followed()
  await roster.first
  const [, at, edits] = await Promise.all([roster.refresh(), roster.putDevice('9', null, 0), roster.refresh()])
  expect(edits.at).toBe(at)
})
