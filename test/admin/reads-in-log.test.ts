import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { connected, openBare, READ } from '../support/admin.ts'
import { startTestRedis } from '../support/redis.ts'

it('a read of positions is in the process log once, and other reads do not displace it', async () => {
  const server = await startTestRedis()
  onTestFinished(() => server.stop())
  const redis = await connected(server.url)
  onTestFinished(() => redis.disconnect())
  const log: Record<string, unknown>[] = []
  const logger = pino({}, { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) })
  const admin = await openBare({ redis, logger, logsReads: () => true })
  onTestFinished(() => admin.close())
  for (const route of [5, 5, 6])
    await fetch(`http://127.0.0.1:${admin.port}/admin/days?route_id=${route}`, { headers: READ })
  expect(log.flatMap(({ read }) => read ?? [])).toEqual([
    { token: 'admin.tokens[1]', operation: 'GET /admin/days', route_id: '5' },
    { token: 'admin.tokens[1]', operation: 'GET /admin/days', route_id: '6' },
  ])
})
