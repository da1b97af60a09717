import { expect, it, onTestFinished } from 'vitest'
import { connect, keys, type Redis, writeRoster } from '../../src/lanes/index.ts'
import { createLogger } from '../../src/observe/log.ts'
import { followRoster } from '../../src/roster/index.ts'
import { readEdits } from '../../src/roster/read.ts'
import { regainMarks } from '../../src/roster/regain.ts'
import { putDevice } from '../support/put-device.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const PARTS = ['at', 'devices', 'files', 'routes'] as const
let server: TestRedis
let redis: Redis
withRedis((started, connection) => ([server, redis] = [started, connection]))

/** A process around the Redis of all. */
async function process() {
  const connection = connect(server.url, 'process')
  await new Promise((resolve) => connection.once('ready', resolve))
  const roster = followRoster(connection, logger)
  onTestFinished(() => {
    roster.close()
    connection.disconnect()
  })
  await roster.first
  return roster
}

/** Takes a backup; what it answers brings the roster back as it was then, in one step. */
async function backup(): Promise<() => Promise<void>> {
  const dumps = await Promise.all(PARTS.map(async (part) => [part, await redis.dumpBuffer(keys.roster(part))] as const))
  return async () => {
    const restoring = redis.multi()
    for (const [part, dump] of dumps) {
      restoring.del(keys.roster(part))
      if (dump) restoring.restore(keys.roster(part), 0, dump)
    }
    await restoring.exec()
  }
}

/** Of marks whether they are of before a time, and whether what they mark is gone. */
async function marks(at: number): Promise<Record<string, string>> {
  const all = Object.entries(await redis.hgetall(keys.roster('files')))
  return Object.fromEntries(
    all.map(([key, mark]) => [
      key,
      `${parseInt(mark) > at ? 'after' : 'before'}${mark.includes('gone') ? ' gone' : ''}`,
    ]),
  )
}

it('a Redis that was restored is told again what files have written since, and what of them was gone', async () => {
  const [one, other] = [await process(), await process()]
  await putDevice(redis, '9', null)
  await one.noteFiles({ written: ['kept', 'left', 'again'], gone: [] })
  const restore = await backup()
  const at = Number(await redis.get(keys.roster('at')))
  await one.noteFiles({ written: ['new', 'short'], gone: ['left', 'again'] })
  await one.noteFiles({ written: ['again'], gone: ['short'] })
  const before = await marks(at)
  expect(before).toEqual({ kept: 'before', left: 'before gone', again: 'after', new: 'after', short: 'after gone' })
  await other.refresh()
  await restore()
  const [edits] = await Promise.all([one.refresh(), other.refresh()])
  expect(await marks(at)).toEqual(before)
  expect((edits.files.get('new') ?? 0) > at).toBe(true)
})

it('it is told what was back since then and is gone again', async () => {
  const one = await process()
  await putDevice(redis, '9', null)
  await one.noteFiles({ written: ['line'], gone: [] })
  await one.noteFiles({ written: [], gone: ['line'] })
  const restore = await backup()
  const at = Number(await redis.get(keys.roster('at')))
  await one.noteFiles({ written: ['line'], gone: [] })
  await one.noteFiles({ written: [], gone: ['line'] })
  await restore()
  await one.refresh()
  expect(await marks(at)).toEqual({ line: 'after gone' })
})

it('it is told all of that though another process has written since it was found to be older', async () => {
  await putDevice(redis, '9', null)
  const restore = await backup()
  await writeRoster(redis, 'files', { set: [['new', '']] })
  const before = await readEdits(redis)
  await restore()
  const now = await readEdits(redis)
  const at = await putDevice(redis, '8', null)
  const { edits } = await regainMarks(redis, before, now)
  expect([[...edits.devices.keys()], (edits.files.get('new') ?? 0) > at]).toEqual([['9', '8'], true])
})

it('what is more than one call takes it is told in several, between which it answers others', async () => {
  const at = await putDevice(redis, '9', null)
  const now = await readEdits(redis)
  const files = new Map(Array.from({ length: 60_000 }, (_, line) => [`line ${line}`, at + 1]))
  const before = { edits: { ...now.edits, at: at + 1, files }, gone: new Map() }
  const { edits } = await regainMarks(redis, before, now)
  const calls = [...Map.groupBy(edits.files, ([, writtenAt]) => writtenAt)].toSorted(([a], [b]) => a - b)
  // A mark that is lost is written in two steps, of which a call takes 50,000.
  expect(calls.map(([, written]) => written.length)).toEqual([25_000, 25_000, 10_000])
})

it('what was put after that stays above what was told again', async () => {
  const [one, other] = [await process(), await process()]
  await putDevice(redis, '9', null)
  const restore = await backup()
  await one.noteFiles({ written: ['new'], gone: [] })
  await other.refresh()
  await restore()
  await one.refresh()
  const put = await putDevice(redis, '9', null)
  expect(((await other.refresh()).files.get('new') ?? Infinity) < put).toBe(true)
})

it('a Redis that was emptied is told nothing: there are no puts any more that files would have to be told from', async () => {
  const one = await process()
  await putDevice(redis, '9', null)
  await one.noteFiles({ written: ['new'], gone: [] })
  await redis.flushall()
  expect((await one.refresh()).at).toBe(0)
  expect(await redis.keys('*roster*')).toEqual([])
})
