import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { followConfig } from '../../src/process/roles/live.ts'
import { Replica } from '../../src/roster/replica.ts'
import { connect, keys, type Redis } from '../../src/store/index.ts'
import { folder } from '../support/config-folder.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Redis
withRedis((...given) => ([server, redis] = given))

// As the version before has left them: device 1 and a line of Van 2 were put, device 3 was deleted, then the files were edited.
const DEVICES = `1: { name: Van 1, company_id: 7, courier_id: 4, secret: s3 }
2: { name: Van 2, company_id: 7, courier_id: 5 }
3: { company_id: 7, courier_id: 6, route_id: 31 }
4: { company_id: 7, courier_id: 6, route_id: 40 }
`
const ROUTES = `device,courier_id,route_id,from,until
Van 1,,11,2026-11-20 06:00,2026-11-20 20:00
Van 2,,12,2026-11-20 06:00,2026-11-20 20:00
Van 2,,13,2026-11-21 06:00,2026-11-21 20:00
Van 1,,14,2026-11-20 07:00,2026-11-20 09:00
`
const OLD = {
  devices: {
    '1': '1795340141690 {"id":"1","name":"Van 1","company_id":"7","courier_id":"44"}',
    '3': '1795340141693 null',
  },
  routes: {
    '1795340141712 1':
      '1795340141712 {"company_id":"7","from":1795132800,"until":1795219200,"rows":[{"at":0,"line":2,"device":"Van 2","route_id":"22","from":1795161600,"until":1795168800}]}',
  },
  files: {
    'device 3 wJFWKRywINIHeDqSgdrBjp-txFwwYp_P-BWXhypJ14Y': '1795340141908',
    'line 2026-11-20 07:00/2026-11-20 09:00///14/Van 1': '1795340141908',
  },
}

async function oldMachine() {
  const dir = await folder({ 'devices.yaml': DEVICES, 'routes.csv': ROUTES })
  const gateway = `data_dir: ${dir}/data\ncompanies: [{ company_id: 7, apikey: k }]\nlog: { level: fatal }\n`
  await writeFile(join(dir, 'gateway.yaml'), gateway)
  await mkdir(join(dir, 'data'))
  const accepted = [
    ['gateway.yaml', gateway],
    ['devices.yaml', DEVICES],
    ['routes.csv', ROUTES],
  ]
  await writeFile(join(dir, 'data', 'accepted.json'), JSON.stringify(accepted))
  await redis.set(keys.roster('at'), '1795340141908')
  for (const part of ['devices', 'routes', 'files'] as const) await redis.hset(keys.roster(part), OLD[part])
  return dir
}

async function start(dir: string) {
  const live = await followConfig({ dir, protocols: null, role: 'test', followsFiles: true })
  const connection = connect(server.url, 'machine')
  onTestFinished(async () => {
    await live.close()
    connection.disconnect()
  })
  await live.join(new Replica(connection, live.logger))
  const devices = Array.from(live.directory().devices(), ({ id, courier_id, route_id, source, stays }) => [
    [id, courier_id, route_id, withoutTime(source)].join(' '),
    ...stays.map(({ lane, from, until, source: line }) => `${lane.key} ${from} ${until} ${withoutTime(line)}`),
  ])
  return { live, devices: devices.toSorted((a, b) => (a[0] < b[0] ? -1 : 1)) }
}

/** What was put is of the upgrade. */
const withoutTime = (source: string) => source.replace(/^(admin) \S+$/, '$1')

const IN_EFFECT = [
  ['1 44  admin', '7/44/14 1795158000 1795165200 routes.csv:5'],
  ['2 5  devices.yaml:2', '7/5/22 1795161600 1795168800 admin', '7/5/13 1795240800 1795291200 routes.csv:4'],
  ['3 6 31 devices.yaml:3'],
  ['4 6 40 devices.yaml:4'],
]

it('takes over the roster of the version before, once', async () => {
  const dir = await oldMachine()
  const { live, devices } = await start(dir)
  expect(devices).toEqual(IN_EFFECT)
  expect(await redis.exists((['at', 'devices', 'routes', 'files'] as const).map(keys.roster))).toBe(0)
  await expect(access(join(dir, 'data', 'accepted.json'))).rejects.toThrow('ENOENT')
  await live.close()
  const again = await start(dir)
  expect([again.devices, again.live.version()]).toEqual([IN_EFFECT, live.version()])
})

it('writes only the lines that were edited in files since the previous version ended', async () => {
  const dir = await oldMachine()
  await writeFile(join(dir, 'routes.csv'), ROUTES.replace(',13,', ',23,'))
  const { devices } = await start(dir)
  expect(devices[1]).toEqual([...IN_EFFECT[1].slice(0, 2), '7/5/23 1795240800 1795291200 routes.csv:4'])
  expect(devices.toSpliced(1, 1)).toEqual(IN_EFFECT.toSpliced(1, 1))
})
