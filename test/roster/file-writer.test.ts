import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { followConfig, type Live } from '../../src/process/roles/live.ts'
import { assignmentField, putLine } from '../../src/roster/assignment.ts'
import { Replica } from '../../src/roster/replica.ts'
import { readRosterVersion, writeRoster } from '../../src/roster/table.ts'
import { connect, type Store } from '../../src/store/index.ts'
import { folder } from '../support/config-folder.ts'
import { putDevice } from '../support/put-device.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store
withRedis((...given) => ([server, redis] = given))

const soon = { timeout: 30_000, interval: 20 }
const HEADER = 'device,courier_id,route_id,from,until\n'
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const [BEGIN, END] = [inHours(-1), inHours(1)]
const line = (device: number, route: number) => `${device},5,${route},${BEGIN},${END}\n`
const devices = (...ids: number[]) => ids.map((id) => `${id}: { company_id: 7, courier_id: 4 }\n`).join('')
const routed = (...ids: number[]) =>
  ids.map((id) => `${id}: { company_id: 7, courier_id: 4, route_id: ${id}0 }\n`).join('')

/** Makes a machine with a copy of the files and its own data folder. */
async function machine(files: Record<string, string>) {
  const dir = await folder(files)
  const yaml = `data_dir: ${join(dir, 'data')}\ncompanies: [{ company_id: 7, apikey: k }]\nlog: { level: fatal }\n`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  return {
    write: (name: string, text: string) => writeFile(join(dir, name), text),
    remove: (name: string) => rm(join(dir, name)),
    async start(): Promise<Live> {
      const live = await followConfig({ dir, protocols: null, role: 'test', followsFiles: true })
      const connection = connect(server.url, 'machine')
      onTestFinished(async () => {
        await live.close()
        connection.disconnect()
      })
      await live.join(new Replica(connection, live.logger))
      return live
    },
  }
}

function routesOf(live: Live, ...ids: number[]): (string | undefined)[] {
  const directory = live.directory()
  return ids.map((id) => {
    const entry = directory.find(`${id}`)
    return entry && directory.stayAt(entry, Date.now() / 1000)?.lane.route
  })
}

/** Removes a line of a file like an empty put. */
async function dropLine(device: number, route: number): Promise<number> {
  const [from, until] = [BEGIN, END].map((time) => Date.parse(time) / 1000)
  const said = { device: `${device}`, courier_id: '5', route_id: `${route}`, from, until, source: '' }
  const write = { devices: [], assignments: [[assignmentField(said), undefined] as const] }
  return (await writeRoster(redis, write, await readRosterVersion(redis))) ?? dropLine(device, route)
}

describe('a file that takes the route from most devices', () => {
  it.each([
    ['devices.yaml without route_id', 'devices.yaml', devices(1, 2, 3)],
    ['devices.yaml with other devices', 'devices.yaml', routed(4, 5, 6)],
    ['devices.yaml with fewer devices', 'devices.yaml', routed(1)],
  ])('a file that takes the route from most devices is refused: %s', async (_, name, text) => {
    const one = await machine({ 'devices.yaml': routed(1, 2, 3) })
    const live = await one.start()
    const version = live.version()
    await one.write(name, text)
    await one.write('routes.csv', HEADER + line(1, 11))
    // A correct file takes effect.
    await expect.poll(() => routesOf(live, 1, 2, 3), soon).toEqual(['11', '20', '30'])
    expect([live.version() > version, live.directory().find('4')]).toEqual([true, undefined])
  })

  it('a file without routes takes effect if its devices have lost their routes by a put', async () => {
    const one = await machine({ 'devices.yaml': routed(1, 2) })
    const live = await one.start()
    for (const id of ['1', '2']) await putDevice(redis, id, { id, company_id: '7', source: '' })
    await live.catchUp()
    expect(live.directory().find('1')?.courier_id).toBeUndefined()
    await one.write('devices.yaml', devices(1, 2))
    await expect.poll(() => live.directory().find('1')?.courier_id, soon).toBe('4')
    expect(routesOf(live, 1, 2)).toEqual([undefined, undefined])
  })

  it('a file that takes the route from half of the devices is accepted', async () => {
    const one = await machine({ 'devices.yaml': routed(1, 2) })
    const live = await one.start()
    await one.write('devices.yaml', routed(1) + devices(2))
    await expect.poll(() => routesOf(live, 1, 2), soon).toEqual(['10', undefined])
  })
})

it('an unchanged file writes nothing at a restart, so that a put stays in effect', async () => {
  const one = await machine({ 'devices.yaml': devices(1), 'routes.csv': HEADER + line(1, 11) })
  await (await one.start()).close()
  const version = await dropLine(1, 11)
  const live = await one.start()
  expect([routesOf(live, 1), live.version()]).toEqual([[undefined], version])
})

it('a file writes nothing if a line moves to another file or another place', async () => {
  const one = await machine({ 'devices.yaml': devices(1, 2), 'routes.csv': HEADER + line(1, 11) + line(2, 12) })
  const live = await one.start()
  const version = live.version()
  await one.write('routes.csv', `${HEADER}# comment\n${line(2, 12)}`)
  await one.write('devices.csv', 'device,company_id,courier_id\n2,7,4\n')
  await one.write('devices.yaml', devices(1))
  await expect
    .poll(() => live.directory().stayAt(live.directory().find('2')!, Date.now() / 1000)?.source, soon)
    .toBe('routes.csv:3')
  await expect.poll(() => live.version(), soon).toBeGreaterThan(version)
  expect(routesOf(live, 1, 2)).toEqual([undefined, '12'])
  expect(await redis.hlen('{wb0}:roster:device-table')).toBe(2)
})

it('a line that is removed from a file keeps what a put has made of it', async () => {
  const one = await machine({ 'devices.yaml': devices(1), 'routes.csv': HEADER + line(1, 11) })
  const live = await one.start()
  const [[, written]] = live.directory().assignments()
  const put = [putLine(written, { company_id: '7', line: 1 })]
  await writeRoster(redis, { assignments: put }, live.version())
  const version = await readRosterVersion(redis)
  await one.write('routes.csv', HEADER + line(1, 11).replace(BEGIN, inHours(-3)).replace(END, inHours(-2)))
  await expect.poll(() => live.version(), soon).toBeGreaterThan(version)
  expect(routesOf(live, 1)).toEqual(['11'])
})

describe('two machines with the same files', () => {
  const FILES = { 'devices.yaml': devices(1, 2), 'routes.csv': HEADER + line(1, 11) }

  it('the second machine with the same files writes nothing, even if a change reaches it after a put', async () => {
    const [one, other] = [await machine(FILES), await machine(FILES)]
    const [first, second] = [await one.start(), await other.start()]
    expect(second.version()).toBe(first.version())
    await one.write('routes.csv', HEADER + line(1, 11) + line(2, 12))
    await expect.poll(() => routesOf(second, 2), soon).toEqual(['12'])
    const version = await dropLine(2, 12)
    await other.write('routes.csv', HEADER + line(1, 11) + line(2, 12))
    await other.write('devices.yaml', `${FILES['devices.yaml']}3: { company_id: 7 }\n`)
    await expect.poll(() => second.directory().find('3')?.id, soon).toBe('3')
    expect([routesOf(second, 1, 2), version < second.version()]).toEqual([['11', undefined], true])
  })

  it('a machine that starts with an older copy of the files undoes nothing, and keeps its own later edits', async () => {
    const [one, other] = [await machine(FILES), await machine(FILES)]
    const first = await one.start()
    await one.write('routes.csv', HEADER + line(1, 21))
    await expect.poll(() => routesOf(first, 1), soon).toEqual(['21'])
    const version = first.version()
    const second = await other.start()
    expect([second.version(), routesOf(second, 1)]).toEqual([version, ['21']])
    await other.write('routes.csv', FILES['routes.csv'] + line(2, 12))
    await expect.poll(() => routesOf(first, 1, 2), soon).toEqual(['21', '12'])
  })

  it('a machine whose owner reverts an edit writes the reverted files, even while it was stopped', async () => {
    const [one, other] = [await machine(FILES), await machine(FILES)]
    const first = await one.start()
    await other.start()
    await one.write('routes.csv', HEADER + line(1, 21))
    await expect.poll(() => routesOf(first, 1), soon).toEqual(['21'])
    await one.write('routes.csv', FILES['routes.csv'])
    await expect.poll(() => routesOf(first, 1), soon).toEqual(['11'])
    await one.write('routes.csv', HEADER + line(1, 31))
    await expect.poll(() => routesOf(first, 1), soon).toEqual(['31'])
    await first.close()
    await one.write('routes.csv', HEADER + line(1, 21))
    expect(routesOf(await one.start(), 1)).toEqual(['21'])
  })
})

it('a first start without devices writes an empty roster, so that the roster is known', async () => {
  const live = await (await machine({})).start()
  expect([live.complete, live.version() > 0, [...live.directory().devices()]]).toEqual([true, true, []])
})

it('a removed company stays in effect while it has devices', async () => {
  const one = await machine({ 'devices.yaml': routed(1) })
  const live = await one.start()
  await one.write('gateway.yaml', 'companies: [{ company_id: 8, apikey: l }]\nlog: { level: fatal }\n')
  await expect.poll(() => live.companies().map(({ company_id }) => company_id), soon).toEqual(['8', '7'])
  await one.write('devices.yaml', '1: { company_id: 8, courier_id: 4, route_id: 10 }\n')
  await expect.poll(() => live.companies().map(({ company_id }) => company_id), soon).toEqual(['8'])
})

it('a deleted file keeps its devices', async () => {
  const one = await machine({ 'devices.yaml': devices(1) })
  const live = await one.start()
  await one.remove('devices.yaml')
  await one.write('routes.csv', HEADER + line(1, 11))
  await expect.poll(() => routesOf(live, 1), soon).toEqual(['11'])
})
