import { describe, expect, it, onTestFinished } from 'vitest'
import { keys, type Redis, writeRoster } from '../../src/lanes/index.ts'
import { createLogger } from '../../src/observe/log.ts'
import { writesBetween } from '../../src/roster/edits.ts'
import { type Files, filesOf } from '../../src/roster/files.ts'
import { followRoster } from '../../src/roster/index.ts'
import { tableOf } from '../../src/roster/table.ts'
import { putDevice } from '../support/put-device.ts'
import { withRedis } from '../support/with-redis.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
let redis: Redis
withRedis((_, connection) => (redis = connection))

/** The files of a machine: device 1, with this name, and its line, with this route. */
function files(name: string | null, route: string | null): Promise<Files> {
  const texts = new Map([
    ['gateway.yaml', 'companies: [{ company_id: 7, apikey: k }]'],
    ['devices.yaml', name === null ? '' : `1: { name: ${name}, company_id: 7, courier_id: 4 }`],
    [
      'routes.csv',
      `device,route_id,from,until\n${route === null ? '' : `1,${route},2026-11-20 06:00,2026-11-20 20:00\n`}`,
    ],
  ])
  return filesOf('', texts, { protocols: [] })
}

/** A machine with its own copy of the files, around the Redis of all. */
function machine(start: Files) {
  let seen = start
  const roster = followRoster(redis, logger)
  onTestFinished(() => roster.close())
  return {
    roster,
    async sees(now: Files): Promise<void> {
      await roster.noteFiles(await writesBetween(seen, now))
      seen = now
    },
    /** Of each device its name, and its route at noon, in effect there. */
    async has(): Promise<(string | undefined)[]> {
      const { directory } = await tableOf(seen, await roster.refresh())
      const devices = [...directory.devices()]
      return devices.flatMap((device) => [device.name, directory.laneAt(device, DAY_BEGINS + 12 * HOUR)?.route])
    },
    async putLine(route_id: string): Promise<void> {
      const rows = [{ ...LINE, device: '1', courier_id: undefined, route_id }]
      const { at } = await roster.refresh()
      await roster.putRoutes({ ...DAY, company_id: '7', rows }, { asOf: at, puts: [] })
    },
    putDevice: (name: string) => putDevice(redis, '1', { id: '1', name, company_id: '7', courier_id: '4', source: '' }),
  }
}

const HOUR = 3600
const DAY_MS = 24 * HOUR * 1000
const DAY_BEGINS = Date.UTC(2026, 10, 20) / 1000
const DAY = { from: DAY_BEGINS, until: DAY_BEGINS + 24 * HOUR }
const LINE = { at: 0, line: 1, from: DAY_BEGINS + 6 * HOUR, until: DAY_BEGINS + 20 * HOUR }

/** Two machines with the same files, and an edit before all else. */
async function two() {
  const start = await files('A', '1')
  const [one, other] = [machine(start), machine(start)]
  await putDevice(redis, '9', null)
  return { one, other }
}

it('what a file says anew wins over what was put before, on all machines that have it', async () => {
  const { one, other } = await two()
  await one.putLine('8')
  await one.putDevice('P')
  expect(await other.has()).toEqual(['P', '8'])
  for (const each of [one, other]) await each.sees(await files('B', '2'))
  expect([await one.has(), await other.has()]).toEqual([
    ['B', '2'],
    ['B', '2'],
  ])
})

it('a machine that sees the same change later writes nothing: what was put meanwhile stays', async () => {
  const { one, other } = await two()
  const change = await files('B', '2')
  await one.sees(change)
  await one.putLine('8')
  await one.putDevice('P')
  const before = await redis.get(keys.roster('at'))
  await other.sees(change)
  await machine(await files('A', '1')).sees(change)
  expect([await one.has(), await other.has()]).toEqual([
    ['P', '8'],
    ['P', '8'],
  ])
  expect(await redis.get(keys.roster('at'))).toBe(before)
})

it('what was gone and is back is written again', async () => {
  const { one, other } = await two()
  const change = await files('B', '2')
  for (const each of [one, other]) await each.sees(change)
  await one.putLine('8')
  await one.putDevice('P')
  for (const each of [one, other]) await each.sees(await files(null, null))
  expect(await other.has()).toEqual([])
  for (const each of [one, other]) await each.sees(change)
  expect([await one.has(), await other.has()]).toEqual([
    ['B', '2'],
    ['B', '2'],
  ])
})

it('a device that is put after it was taken out of a file is there', async () => {
  const { one, other } = await two()
  for (const each of [one, other]) await each.sees(await files(null, null))
  await other.putDevice('P')
  expect([await one.has(), await other.has()]).toEqual([
    ['P', undefined],
    ['P', undefined],
  ])
})

it('a machine whose files come later keeps what it had until then', async () => {
  const { one, other } = await two()
  await one.putLine('8')
  await one.putDevice('P')
  for (const each of [one, other]) await each.sees(await files('B', '2'))
  await one.sees(await files('C', '3'))
  expect([await one.has(), await other.has()]).toEqual([
    ['C', '3'],
    ['B', '2'],
  ])
})

async function marksNow(): Promise<Record<string, string>> {
  return redis.hgetall(keys.roster('files'))
}

describe('what is gone', () => {
  it('keeps the time when it was written, and since when it is gone, until it is written again', async () => {
    const { roster } = (await two()).one
    const [written, gone] = [['a', 'b'], ['b']]
    await roster.noteFiles({ written, gone: ['never written'] })
    const { a, b } = await marksNow()
    for (const _ of ['once', 'twice']) await roster.noteFiles({ written: [], gone })
    const goneAt = await redis.get(keys.roster('at'))
    expect(await marksNow()).toEqual({ a, b: `${b} gone ${goneAt}` })
    await roster.noteFiles({ written, gone: [] })
    const backAt = await redis.get(keys.roster('at'))
    expect([await marksNow(), Number(backAt) > Number(goneAt)]).toEqual([{ a, b: backAt }, true])
  })

  it('is forgotten after a week with the next note, and what is not gone never', async () => {
    const { roster } = (await two()).one
    const now = Number(await redis.get(keys.roster('at')))
    const [long, lately] = [now - 7 * DAY_MS - 1, now - 6 * DAY_MS]
    await redis.hset(keys.roster('files'), { old: '7', long: `7 gone ${long}`, lately: `7 gone ${lately}` })
    await putDevice(redis, '9', null)
    await roster.noteFiles({ written: [], gone: [] })
    expect(await marksNow()).toEqual({ old: '7', lately: `7 gone ${lately}` })
  })

  it('is forgotten when it is the oldest of more than 50,000', async () => {
    const { roster } = (await two()).one
    const now = Number(await redis.get(keys.roster('at')))
    const marks = manyLines(50_003, 'once').map((line, rank) => [line, `7 gone ${now - rank}`] as const)
    await redis.hset(keys.roster('files'), Object.fromEntries(marks))
    await putDevice(redis, '9', null)
    await roster.noteFiles({ written: [], gone: [] })
    const noted = new Set(await redis.hkeys(keys.roster('files')))
    expect(marks.filter(([line]) => !noted.has(line))).toEqual(marks.slice(-3))
  })

  it('stays where it was written again since it was read', async () => {
    await two()
    const written = { set: [['a', '']] } as const
    await writeRoster(redis, 'files', written)
    await writeRoster(redis, 'files', { set: [], drop: ['a'] })
    expect(Object.keys(await marksNow())).toEqual(['a'])
  })
})

function manyLines(count: number, when: string): string[] {
  return Array.from({ length: count }, (_, line) => `line ${when} ${line}`)
}

it('a change of 20,000 lines is one write, and nothing is noted where nothing was ever put', async () => {
  const { roster } = machine(await files('A', '1'))
  const written = manyLines(20_000, 'now')
  await roster.noteFiles({ written, gone: [] })
  expect(await redis.exists(keys.roster('files'))).toBe(0)
  await putDevice(redis, '9', null)
  await roster.noteFiles({ written, gone: written.map((line) => `${line} of before`) })
  const times = new Set(await redis.hvals(keys.roster('files')))
  expect([times.size, await redis.hlen(keys.roster('files'))]).toEqual([1, 20_000])
})

it('a change of more lines than one call takes is noted whole', async () => {
  const { roster } = machine(await files('A', '1'))
  await putDevice(redis, '9', null)
  await roster.noteFiles({ written: manyLines(60_000, 'before'), gone: [] })
  await roster.noteFiles({ written: manyLines(60_000, 'now'), gone: manyLines(60_000, 'before') })
  const noted = Object.entries(await redis.hgetall(keys.roster('files')))
  const gone = noted.filter(([, mark]) => mark.includes('gone'))
  expect([noted.length, gone.length, gone.every(([line]) => line.startsWith('line before'))]).toEqual([
    120_000,
    60_000,
    true,
  ])
})
