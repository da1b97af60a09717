import { afterEach, expect, it } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { Tickets } from '../../src/push/tickets.ts'
import { Leases, type Shard } from '../../src/store/index.ts'
import { ONE_API } from '../support/apis.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const soon = { timeout: 30_000, interval: 20 }

let server: TestRedis
let redis: Shard
let tickets: Tickets

withRedis((...given) => ([server, redis] = given))
afterEach(() => tickets.close())

/** Opens tickets; returns them with the number of connections to Redis besides that of the test. */
async function open() {
  const leases = new Leases(redis, { maxPositions: 3, maxWaitMs: 0 })
  tickets = new Tickets({
    leases,
    shard: redis,
    logger,
    workers: { count: 1 },
    apis: ONE_API,
    work: async () => {},
  })
  const connections = async () => ((await redis.client('LIST')) as string).trim().split('\n').length - 1
  await expect.poll(connections, soon).toBe(3)
  return connections
}

it('a restart of the queue leaves no earlier connection open', async () => {
  const connections = await open()
  await tickets.restart()
  await expect.poll(connections, soon).toBe(3)
})

it('a restart of the queue while it is closed, or later, opens no other one', async () => {
  const connections = await open()
  await tickets.stop()
  const closed = tickets.close()
  await Promise.all([closed, tickets.restart()])
  await tickets.restart()
  await expect.poll(connections, soon).toBe(0)
})

it('closing the queue during a restart closes both queues', async () => {
  const connections = await open()
  await Promise.all([tickets.restart(), tickets.close()])
  await expect.poll(connections, soon).toBe(0)
})

it('restarts of the hand-out while Redis hangs leave one queue once Redis answers', async () => {
  const connections = await open()
  await server.kill('SIGSTOP')
  const restarts = [tickets.restart(), tickets.restart(), tickets.restart()]
  await server.kill('SIGCONT')
  await Promise.all(restarts)
  await expect.poll(connections, soon).toBe(3)
})
