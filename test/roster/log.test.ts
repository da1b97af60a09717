import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connect, keys, type Redis } from '../../src/lanes/index.ts'
import { followRoster } from '../../src/roster/index.ts'
import { putDevice } from '../support/put-device.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Redis
withRedis((started, connection) => ([server, redis] = [started, connection]))

const soon = { timeout: 10_000, interval: 5 }

/** A roster by a connection of its own, and what it logs: `level message: error`. */
async function logged() {
  const lines: string[] = []
  const connection = connect(server.url, 'log')
  await new Promise((resolve) => connection.once('ready', resolve))
  const write = (line: string) => {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message: string } }
    lines.push(`${level} ${msg} ${err?.message ?? ''}`)
  }
  const roster = followRoster(connection, pino({ level: 'info' }, { write }))
  onTestFinished(() => {
    roster.close()
    connection.disconnect()
  })
  return { roster, lines, connection }
}

async function calls(): Promise<number> {
  return Number(/cmdstat_get:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
}

/** Resolves once it has been looked at again, twice. */
async function looks(): Promise<void> {
  const before = await calls()
  await vi.waitFor(async () => expect(await calls()).toBeGreaterThan(before + 2), soon)
}

it('a roster that cannot be read though Redis is there is an error, once until it can be read again', async () => {
  const { roster, lines } = await logged()
  await putDevice(redis, '9', null)
  for (const time of [1, 2]) {
    await redis.rename(keys.roster('devices'), 'aside')
    await redis.multi().set(keys.roster('devices'), 'text').incr(keys.roster('at')).exec()
    await vi.waitFor(() => expect(lines).toHaveLength(time), soon)
    await looks()
    await redis.rename('aside', keys.roster('devices'))
    await roster.refresh()
    await looks()
  }
  const line = '50 the roster in Redis cannot be read: what was read before stays WRONGTYPE'
  expect(lines.map((each) => each.slice(0, line.length))).toEqual([line, line])
})

it('that Redis is away is nothing of the roster', async () => {
  const { roster, lines, connection } = await logged()
  await roster.first
  const back = new Promise((resolve) => connection.once('ready', resolve))
  await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await back
  await looks()
  expect(lines).toEqual([])
})

it('a roster that is older is an error, once, though what files said since then cannot be told to a full Redis', async () => {
  const { roster, lines } = await logged()
  const first = await putDevice(redis, '9', null)
  await roster.noteFiles({ written: ['new'], gone: [] })
  const full = redis.multi().del(keys.roster('files')).set(keys.roster('at'), first).config('SET', 'maxmemory', 1)
  onTestFinished(async () => void (await redis.config('SET', 'maxmemory', 256 * 1024 * 1024)))
  await full.exec()
  await vi.waitFor(() => expect(lines.join('\n')).toContain('OOM'), soon)
  await looks()
  await redis.config('SET', 'maxmemory', 256 * 1024 * 1024)
  await vi.waitFor(() => expect(roster.edits?.files.get('new')).toBeGreaterThan(first), soon)
  await looks()
  expect(lines.map((line) => line.replace(/:.*/, ''))).toEqual([
    '50 the roster in Redis is older than what was in effect',
    '50 the roster in Redis cannot be read',
  ])
})

it('a roster that is older than what was in effect is an error', async () => {
  const { roster, lines } = await logged()
  const first = await putDevice(redis, '9', null)
  const last = await putDevice(redis, '8', null)
  await roster.refresh()
  expect(lines).toEqual([])
  await redis.multi().hdel(keys.roster('devices'), '8').set(keys.roster('at'), first).exec()
  await vi.waitFor(() => expect(roster.edits?.devices.size).toBe(1), soon)
  await redis.flushall()
  await vi.waitFor(() => expect(roster.edits?.at).toBe(0), soon)
  const [times, text] = [[first, last].map((at) => new Date(at).toISOString()), '50 the roster in Redis is older than']
  expect(lines.map((line) => line.replace(/; what.*/, ''))).toEqual([
    `${text} what was in effect: it is of ${times[0]}, and not of ${times[1]} any more`,
    `${text} what was in effect: it is empty, and not of ${times[0]} any more`,
  ])
})
