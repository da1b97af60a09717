import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { PUT_SOURCE } from '../../src/roster/assignment.ts'
import { Replica } from '../../src/roster/replica.ts'
import { readRosterVersion, readRosterTable, writeRoster } from '../../src/roster/table.ts'
import { connect, keys, openGatewayChannel, type Store } from '../../src/store/index.ts'
import { putDevice } from '../support/put-device.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store
withRedis((...given) => ([server, redis] = given))

const soon = { timeout: 30_000, interval: 10 }
const device = (id: string, route_id = '1') => ({ id, company_id: '7', courier_id: '4', route_id, source: '' })

/** Opens a replica with its own connection; returns its log as `level message: error`, and the changes it reports. */
async function replica() {
  const lines: string[] = []
  const connection = connect(server.url, 'replica')
  await new Promise((resolve) => connection.once('ready', resolve))
  const write = (line: string) => {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message: string } }
    lines.push(`${level} ${msg} ${err?.message ?? ''}`)
  }
  const made = new Replica(connection, pino({ level: 'info' }, { write }))
  const changes: (string[] | undefined)[] = []
  made.follow((changed) => changes.push(changed && [...changed]))
  onTestFinished(() => {
    made.close()
    connection.disconnect()
  })
  await made.first
  return { replica: made, lines, changes, connection }
}

const ids = ({ roster }: Replica) => Array.from(roster.devices(), ({ id }) => id)

it('a replica tells which devices a write has changed', async () => {
  const { replica: one, changes } = await replica()
  await putDevice(redis, '1', device('1'))
  await one.refresh()
  changes.length = 0
  await putDevice(redis, '007', device('007'))
  await putDevice(redis, '8', device('8'))
  await one.refresh()
  expect([changes.flat(), ids(one)]).toEqual([
    ['7', '8'],
    ['1', '007', '8'],
  ])
})

it('gateways are notified of each write', async () => {
  const [opened, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const channel = openGatewayChannel(
    { redis, gateway: 'one' },
    { opened: opened.resolve, rosterWritten: written.resolve, receive: () => {} },
  )
  onTestFinished(() => channel.close())
  await opened.promise
  await putDevice(redis, '1', device('1'))
  await written.promise
})

it('a device of a file keeps its place in the file, and a device that was put has the time of the write', async () => {
  const { replica: one } = await replica()
  const devices = [
    ['1', { ...device('1'), source: 'admin-vans.yaml:3' }],
    ['2', { ...device('2'), source: PUT_SOURCE }],
  ] as const
  const version = await writeRoster(redis, { devices }, 0)
  await one.refresh()
  expect(one.roster.find('1')?.source).toBe('admin-vans.yaml:3')
  expect(one.roster.find('2')?.source).toBe(`admin ${new Date(version ?? 0).toISOString().slice(0, 19)}Z`)
})

it('a device belongs to its company since it moved there, or since the previous company removed it', async () => {
  const { replica: one } = await replica()
  const put = (company_id: string, name = 'Van') => putDevice(redis, '007', { ...device('007'), company_id, name })
  const since = async () => {
    await one.refresh()
    const { roster } = await readRosterTable(redis)
    const known = [one.roster, roster].map((each) => each.find('7')?.companySince)
    expect(known[0]).toBe(known[1])
    return known[0]
  }
  await put('7')
  expect(await since()).toBeUndefined()
  const taken = await put('8')
  expect(await since()).toBe(taken)
  await put('8', 'Renamed')
  expect(await since()).toBe(taken)
  await putDevice(redis, '007', null)
  await put('8')
  expect(await since()).toBe(taken)
  const dropped = await putDevice(redis, '007', null)
  await put('7')
  expect(await since()).toBe(dropped)
  expect(await redis.hlen(keys.roster('former'))).toBe(0)
  // A device that is written unchanged keeps the time.
  await putDevice(redis, '007', { ...one.roster.find('7')!, companySince: 1 })
  expect(await since()).toBe(dropped)
})

it('a replica that missed more than the log contains reads the whole roster', async () => {
  const { replica: one, changes, lines } = await replica()
  await putDevice(redis, '1', device('1'))
  await one.refresh()
  one.close()
  await putDevice(redis, '2', device('2'))
  await putDevice(redis, '3', device('3'))
  await redis.xtrim(keys.roster('log'), 'MAXLEN', 1)
  await one.refresh()
  expect([ids(one).toSorted(), changes.at(-1), lines]).toEqual([['1', '2', '3'], undefined, []])
})

it('a write of many devices is logged in parts, and applied as one', async () => {
  const { replica: one } = await replica()
  const seen: number[] = []
  one.follow(() => seen.push(ids(one).length))
  const devices = Array.from({ length: 12_000 }, (_, n) => [`${n}`, device(`${n}`)] as const)
  await writeRoster(redis, { devices, assignments: [] }, 0)
  await one.refresh()
  expect([seen, await redis.xlen(keys.roster('log'))]).toEqual([[12_000], 3])
})

it('the log of the roster keeps few large entries', async () => {
  for (let n = 0; n < 4; n++) {
    const settings = { text: 'x'.repeat(1_500_000) }
    await putDevice(redis, '1', { ...device('1'), settings })
  }
  expect(await redis.xlen(keys.roster('log'))).toBe(2)
})

it('a write based on an older version is refused', async () => {
  const version = await putDevice(redis, '1', device('1'))
  expect(await writeRoster(redis, { devices: [['1', undefined]], assignments: [] }, version - 1)).toBeNull()
  expect(await readRosterVersion(redis)).toBe(version)
})

it('a roster that is older than the one in effect is reported as an error, and takes effect', async () => {
  const { replica: one, lines } = await replica()
  const version = await putDevice(redis, '1', device('1'))
  await one.refresh()
  await redis.flushall()
  await expect.poll(() => ids(one), soon).toEqual([])
  const time = new Date(version).toISOString()
  expect(lines).toEqual([
    `50 the roster in Redis is older than the one in effect: it is empty, the one in effect is of ${time}; what was put through the admin port in between must be put again `,
  ])
  expect(one.current).toBe(false)
})

it('a replica reads the whole roster when Redis was emptied, even if its version is later', async () => {
  const { replica: one } = await replica()
  await putDevice(redis, '1', device('1'))
  await one.refresh()
  one.close()
  await redis.flushall()
  await putDevice(redis, '2', device('2'))
  await one.refresh()
  expect(ids(one)).toEqual(['2'])
})

it('an unreadable roster is reported once, until it can be read again', async () => {
  const { replica: one, lines } = await replica()
  await putDevice(redis, '1', device('1'))
  await one.refresh()
  await redis.rename(keys.roster('log'), 'aside')
  await redis.multi().set(keys.roster('log'), 'text').incr(keys.roster('version')).exec()
  await expect.poll(() => lines.length, soon).toBe(1)
  expect(lines[0]).toMatch(/^50 the roster in Redis cannot be read: .* stays in effect .*WRONGTYPE/)
  await expect.poll(() => one.current, soon).toBe(false)
  expect([ids(one), lines.length]).toEqual([['1'], 1])
})

it('the roster does not report that Redis is down', async () => {
  const { replica: one, lines, connection } = await replica()
  await putDevice(redis, '1', device('1'))
  await one.refresh()
  const back = new Promise((resolve) => connection.once('ready', resolve))
  await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await back
  await expect.poll(() => one.current, soon).toBe(true)
  expect(lines).toEqual([])
})
