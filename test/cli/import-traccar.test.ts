import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { readGateway } from '../../src/config/gateway.ts'
import { hostPort } from '../../src/domain/addresses.ts'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { waybridge } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { imeiOf } from '../support/fleet-list.ts'
import { listening } from '../support/listening.ts'
import { join } from 'node:path'

const admin = adminFixture()
const SECRET = 'canary-traccar-token'

const DEVICES = [
  {
    id: 1,
    name: 'Van 1',
    uniqueId: imeiOf(1),
    groupId: 5,
    disabled: false,
    attributes: { courierNo: 4301, plate: 'B-1' },
  },
  { id: 2, name: 'Van 2', uniqueId: imeiOf(2), groupId: 6, disabled: false, model: 'FMB920', attributes: null },
  { id: 3, name: 'Old van', uniqueId: imeiOf(3), groupId: 0, disabled: true, attributes: {} },
  { id: 4, name: '=cmd()', uniqueId: imeiOf(4), groupId: 0, disabled: false, attributes: {} },
]
const GROUPS = [
  { id: 5, name: 'North', groupId: 0 },
  { id: 6, name: 'North-East', groupId: 5 },
]
const DRIVERS: Readonly<Record<string, object[]>> = {
  1: [{ id: 1, name: 'Ada', uniqueId: '4201' }],
  2: [{ id: 2, name: 'Bo', uniqueId: 'A1B2C3' }],
  4: [
    { id: 1, name: 'Ada', uniqueId: '4201' },
    { id: 2, name: 'Bo', uniqueId: 'A1B2C3' },
  ],
}
const POSITIONS = [
  { deviceId: 1, protocol: 'teltonika', latitude: 54.6, longitude: 25.2 },
  { deviceId: 2, protocol: 'osmand', latitude: 54.6, longitude: 25.2 },
  { deviceId: 4, protocol: 'nobodyspeaksthis', latitude: 54.6, longitude: 25.2 },
]

interface Old {
  readonly url: string
  readonly asked: string[]
}

/** Starts a server that answers as the reference of Traccar's REST API says. */
async function oldServer({ isAdmin = true, busy = 0, host = '127.0.0.1' } = {}): Promise<Old> {
  const asked: string[] = []
  let left = busy
  const server = createServer(({ headers, url = '' }, response) => {
    asked.push(url)
    const { pathname, searchParams } = new URL(url, 'http://x')
    const send = (status: number, json: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    if (headers.authorization !== `Bearer ${SECRET}`) return send(401, 'HTTP 401 Unauthorized')
    if (left-- > 0) return send(429, 'too many requests')
    if (searchParams.has('all') && !isAdmin) return send(400, 'Manager access required')
    const lists: Readonly<Record<string, unknown>> = {
      '/api/devices': DEVICES,
      '/api/groups': GROUPS,
      '/api/positions': POSITIONS,
      '/api/drivers': DRIVERS[searchParams.get('deviceId') ?? ''] ?? [],
    }
    return pathname in lists ? send(200, lists[pathname]) : send(404, 'no')
  })
  const port = await listening(server, 0, host)
  onTestFinished(() => void server.close())
  return { url: `http://${hostPort({ host, port })}`, asked }
}

const PORT = () => ['--admin-url', admin.url, '--admin-token', TOKEN]
const take = (url: string, ...more: string[]) =>
  waybridge(['import', 'traccar', '--url', url, '--token', SECRET, '--company', '7', ...PORT(), ...more])

const entryOf = async (id: string) =>
  (await admin.ask(`/admin/devices/${id}`)).json as { name?: string; courier_id?: string }

describe('import traccar', () => {
  it('import traccar shows its changes, and changes nothing without a terminal or --yes', async () => {
    const { url } = await oldServer()
    const { code, out, errors } = await take(url)
    expect([code, errors]).toEqual([1, 'Nothing is changed: add --yes to put it.\n'])
    expect(out).toContain(`${url}: 1 device left out: disabled there\n`)
    expect(out).toContain(`${url}: groups: North (1) and North-East (1); --group takes the devices of one alone\n`)
    expect(out).toContain('company 7 would have: 3 added, 0 changed, 0 as they were\n')
    expect(out).toContain(`  Van 1 (${imeiOf(1)}): is added, name Van 1\n`)
    expect((await entryOf(imeiOf(1))).name).toBeUndefined()
  })

  it('import traccar keeps ids and names unchanged, and changes nothing a second time', async () => {
    const { url, asked } = await oldServer()
    const { code, out } = await take(url, '--yes')
    expect([code, out]).toEqual([0, expect.stringContaining('company 7 has: 3 added, 0 changed, 0 as they were')])
    const names = await Promise.all([1, 2, 3, 4].map(async (n) => (await entryOf(imeiOf(n))).name))
    expect(names).toEqual(['Van 1', 'Van 2', undefined, '=cmd()'])
    expect((await entryOf(imeiOf(1))).courier_id).toBeUndefined()
    expect(asked.filter((path) => path.includes('drivers'))).toEqual([])
    expect((await take(url, '--yes')).out).toContain('company 7 has: 0 added, 0 changed, 3 as they were')
  })

  it('import traccar takes the number of an only driver as the courier on request', async () => {
    const { url } = await oldServer()
    const { out } = await take(url, '--yes', '--couriers')
    expect(out).toContain('Van 2: the id of its driver Bo is no number: no courier is taken over')
    expect(out).toContain('=cmd(): has 2 drivers: no courier is taken over')
    expect((await entryOf(imeiOf(1))).courier_id).toBe('4201')
    expect((await entryOf(imeiOf(4))).courier_id).toBeUndefined()
  })

  it('import traccar reads fields and attributes of devices as its options say', async () => {
    const { url } = await oldServer()
    const columns = ['courier_id=courierNo', 'model=model', 'name=plate', 'route_id=tour'].flatMap((each) => [
      '--column',
      each,
    ])
    const { code, out } = await take(url, '--yes', ...columns)
    expect([code, out]).toEqual([0, expect.stringContaining('company 7 has: 3 added')])
    expect(out).toContain(`${url}: no device has tour, neither itself nor among its attributes\n`)
    expect(await entryOf(imeiOf(1))).toMatchObject({ name: 'B-1', courier_id: '4301' })
    expect(await entryOf(imeiOf(2))).toMatchObject({ model: 'FMB920' })
    expect((await entryOf(imeiOf(2))).courier_id).toBeUndefined()
    expect((await take(url, '--column', 'colour=x')).errors).toMatch(/^--column colour=x: expected FIELD=HEADER/)
  })

  it('import traccar imports one group with its subgroups', async () => {
    const { url } = await oldServer({ isAdmin: false, busy: 1 })
    expect((await take(url, '--yes', '--group', 'North')).out).toContain('company 7 has: 2 added')
    expect((await take(url, '--group', 'South')).errors).toBe(
      '--group South: there is no such group; there are North and North-East.\n',
    )
  })

  it('import traccar prints the trial listeners for the protocols of the fleet', async () => {
    const { url } = await oldServer()
    const { out } = await take(url, '--yes', '--to-trial')
    const host = 'trial: { host: "127.0.0.1", port:'
    expect(out).toContain(`listeners:\n  - { transport: http, port: 5055, protocol: osmand, ${host} 5055 } }\n`)
    expect(out).toContain(`  - { transport: tcp, port: 5027, protocol: teltonika, ${host} 5027 } }\n`)
    expect(out).toContain('# nobodyspeaksthis: not a protocol of waybridge; its trackers stay at the old server\n')
  })

  it('import traccar prints the IPv6 address of the old server in the form of the configuration', async () => {
    const { url } = await oldServer({ host: '::1' })
    const { out } = await take(url, '--yes', '--to-trial')
    expect(out).toContain('protocol: teltonika, trial: { host: "::1", port: 5027 } }\n')
    const { config, mistakes } = readGateway(out.slice(out.indexOf('# gateway.yaml')), protocolPorts)
    expect([mistakes, new Set(config?.listeners.map(({ trial }) => trial?.host))]).toEqual([[], new Set(['::1'])])
  })

  it('import traccar reads a file with the answer of GET /api/devices', async () => {
    const cwd = await folder({
      'devices.json': JSON.stringify(DEVICES),
      'all.json': JSON.stringify({ devices: DEVICES, groups: GROUPS }),
    })
    const read = (file: string, ...more: string[]) =>
      waybridge(['import', 'traccar', file, '--company', '7', ...PORT(), ...more], { cwd })
    expect((await read('devices.json', '--yes')).out).toContain('company 7 has: 3 added')
    expect((await read('all.json', '--yes', '--group', 'North-East')).out).toContain(
      '0 added, 0 changed, 1 as they were',
    )
    expect((await read('devices.json', '--yes', '--to-trial')).out).toContain(
      'The protocols of the fleet are not known',
    )
  })

  it('import traccar takes an id in doubt with the option --accept that its report names', async () => {
    const doubtful = `${imeiOf(7).slice(0, -1)}${(Number(imeiOf(7).at(-1)) + 1) % 10}`
    const saved = await folder({ 'saved.json': JSON.stringify([{ id: 7, name: 'Van 7', uniqueId: doubtful }]) })
    const from = ['import', 'traccar', join(saved, 'saved.json'), '--company', '7', ...PORT(), '--yes']
    expect((await waybridge(from)).out).toContain('if it is right --accept 1, else --accept 1=ID')
    const { code, out } = await waybridge([...from, '--accept', '1'])
    expect([code, out]).toEqual([0, expect.stringContaining('company 7 has: 1 added')])
    expect((await entryOf(doubtful)).name).toBe('Van 7')
  })

  it('import traccar says what is wrong, and never shows the token', async () => {
    const { url } = await oldServer()
    const cwd = await folder({ 'a.csv': 'x,y\n', 'b.json': '{"devices": 7}' })
    const said = async (...args: string[]) =>
      (await waybridge(['import', 'traccar', ...args, ...PORT()], { cwd })).errors
    expect(await said()).toBe('import traccar: give --url and --token of the server, or a file with its devices.\n')
    expect(await said('--url', url)).toMatch(/^--token: give the token/)
    expect(await said('--url', url, '--token', 'canary-wrong')).toBe(`${url} refuses the token (401).\n`)
    expect(await said('--url', 'ftp://x', '--token', SECRET)).toMatch(/^--url: expected the address/)
    expect(await said('--url', 'http://127.0.0.1:1', '--token', SECRET)).toBe(
      'http://127.0.0.1:1 does not answer (ECONNREFUSED).\n',
    )
    expect(await said('a.csv')).toMatch(/^a\.csv: expected JSON, the answer of GET \/api\/devices/)
    expect(await said('b.json')).toBe('b.json: expected a list of devices.\n')
    expect(await said('none.json')).toBe('none.json: there is no such file.\n')
    expect(await said('--url', admin.url, '--token', SECRET)).toBe(`${admin.url} answers 404 for /api/devices.\n`)
  })
})

describe('import csv', () => {
  const LIST = `Plate,IMEI\nB-WB 1,${imeiOf(1)}\nB-WB 14,356307042441014\n`
  const csv = async (...more: string[]) =>
    waybridge(['import', 'csv', 'vans.csv', '--url', admin.url, '--token', TOKEN, ...more], {
      cwd: await folder({ 'vans.csv': LIST }),
    })

  it('import csv shows a list of vans, and puts it once after a confirmation', async () => {
    const shown = await csv()
    expect([shown.code, shown.errors]).toEqual([1, 'Nothing is changed: add --yes to put it.\n'])
    expect(shown.out).toContain('vans.csv: read are "plate" as name, "imei" as device')
    expect(shown.out).toContain(`  B-WB 1 (${imeiOf(1)}): is added, name B-WB 1\n`)
    expect((await entryOf(imeiOf(1))).name).toBeUndefined()
    expect(await csv('--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('company 7 has: 1 added, 1 changed'),
    })
    expect((await entryOf(imeiOf(1))).name).toBe('B-WB 1')
  })
})
