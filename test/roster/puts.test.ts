import { expect, it, onTestFinished } from 'vitest'
import { keys, type Redis, readRosterRoutes } from '../../src/lanes/index.ts'
import { createLogger } from '../../src/observe/log.ts'
import type { Edits, RouteEdit } from '../../src/roster/edits.ts'
import { followRoster, type Roster } from '../../src/roster/index.ts'
import { obsoletePuts } from '../../src/roster/puts.ts'
import { indexDevices, type RouteRow } from '../../src/roster/routes.ts'
import { putDevice } from '../support/put-device.ts'
import { withRedis } from '../support/with-redis.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
let redis: Redis
withRedis((_, connection) => (redis = connection))

function roster(): Roster {
  const followed = followRoster(redis, logger)
  onTestFinished(() => followed.close())
  return followed
}

const index = indexDevices([{ id: '1', company_id: '7', courier_id: '4', source: '' }])
const BEGINS = Date.UTC(2026, 10, 20) / 1000
const DAY = 86_400

function row(hour: number): RouteRow {
  const from = BEGINS + hour * 3600
  return { at: 0, line: 1, device: '1', courier_id: undefined, route_id: String(hour), from, until: from + 7200 }
}

/** Of the day from an hour on. */
function plan(from: number, ...hours: number[]): Omit<RouteEdit, 'at'> {
  return { company_id: '7', from: BEGINS + from * 3600, until: BEGINS + DAY, rows: hours.map(row) }
}

async function obsoleteBeside(next: Omit<RouteEdit, 'at'>, edits: Edits) {
  return obsoletePuts({ edits, next: { ...next, at: edits.at + 1 }, rows: [], index })
}

async function put(to: Roster, next: Omit<RouteEdit, 'at'>): Promise<number | null> {
  return to.putRoutes(next, await obsoleteBeside(next, await to.refresh()))
}

/** The puts that a process knows, by their times the hours that are left of them. */
async function known(to: Roster): Promise<[number, string[]][]> {
  return (await to.refresh()).routes.map(({ at, rows }) => [at, rows.map(({ route_id }) => route_id)])
}

it('a put takes away what earlier ones have in its interval: in Redis, and where they are known already', async () => {
  const [one, other] = [roster(), roster()]
  const [first, second] = [await put(one, plan(0, 1, 5, 9)), await put(one, plan(4, 6, 9))]
  await other.refresh()
  const third = await put(one, plan(8, 9))
  const left = [
    [first, ['1']],
    [second, ['6']],
    [third, ['9']],
  ]
  expect([await known(one), await known(other), await known(roster())]).toEqual([left, left, left])
  const last = await put(one, plan(0))
  expect([await known(other), await redis.hkeys(keys.roster('routes'))]).toEqual([[[last, []]], [`${last} 0`]])
})

it('a put that does not know of another write writes nothing, and does once it knows', async () => {
  const one = roster()
  await put(one, plan(0, 1, 5))
  const next = plan(4)
  const obsolete = await obsoleteBeside(next, await one.refresh())
  await putDevice(redis, '9', null)
  const before = await redis.hgetall(keys.roster('routes'))
  expect(await one.putRoutes(next, obsolete)).toBeNull()
  expect(await redis.hgetall(keys.roster('routes'))).toEqual(before)
  await put(one, next)
  expect((await known(one)).map(([, hours]) => hours)).toEqual([['1'], []])
})

it('no two writes are at the same time, nor one before another, whatever the clock of Redis says', async () => {
  const one = roster()
  const ahead = Date.now() + 3_600_000
  await redis.set(keys.roster('at'), ahead)
  const times = await Promise.all([
    putDevice(redis, '9', null),
    putDevice(redis, '8', null),
    putDevice(redis, '7', null),
  ])
  expect(times).toEqual([ahead + 1, ahead + 2, ahead + 3])
  await put(one, plan(0, 1))
  expect(await known(one)).toEqual([[ahead + 4, ['1']]])
})

it('what holds now stays beside what is put for later, though the clock of Redis was once months ahead', async () => {
  const one = roster()
  await redis.set(keys.roster('at'), Date.now() + 60 * DAY * 1000)
  const today = Math.floor(Date.now() / 1000 / DAY) * DAY
  const ofDay = (from: number, route_id: string) => ({
    company_id: '7',
    from,
    until: from + DAY,
    rows: [{ ...row(0), route_id, from, until: from + DAY }],
  })
  await put(one, ofDay(today, '1001'))
  await put(one, ofDay(today + DAY, '1002'))
  expect((await known(one)).map(([, routes]) => routes)).toEqual([['1001'], ['1002']])
})

it('a put that is gone by the time it is to be read is none that can be read', async () => {
  const at = await put(roster(), plan(0, 1))
  expect(await readRosterRoutes(redis, [`${at} 1`])).toHaveLength(1)
  expect(await readRosterRoutes(redis, [`${at} 1`, `${at} 0`])).toBeUndefined()
})
