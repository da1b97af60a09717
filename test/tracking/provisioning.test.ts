import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createTrackingService } from '../../src/sandbox/tracking/service.ts'
import { provisioningOf } from '../../src/tracking/provisioning.ts'
import { createDirectory } from '../support/roster.ts'
import { JSON_TYPE, type Lane, path, position } from '../support/tracking/push.ts'
import { PROVISIONING, startService, temporaryFolder } from '../support/tracking/service.ts'

const companies = [
  { company_id: '7', name: 'Seven', apikey: 'key-7', oauth_token: 'token-7' },
  { company_id: '8', apikey: 'key-8' },
]

it('the provisioning contains the companies, and each lane of devices and routes once', async () => {
  const devices = [
    { id: '1', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' },
    { id: '2', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:2' },
    { id: '3', company_id: '8', source: 'devices.yaml:3' },
  ]
  const lines = [
    { device: '3', courier_id: '43', route_id: '9223372036854775807', from: 0, until: 10, source: 'routes.csv:2' },
  ]
  expect(provisioningOf(companies, (await createDirectory(devices, lines)).lanes())).toEqual({
    companies: [
      { company_id: '7', apikeys: ['key-7'], oauth_tokens: ['token-7'] },
      { company_id: '8', apikeys: ['key-8'], oauth_tokens: [] },
    ],
    routes: [
      { route_id: '1001', courier_id: '42', company_id: '7' },
      { route_id: '9223372036854775807', courier_id: '43', company_id: '8' },
    ],
  })
})

it('the tracking service does not modify the provisioning that it is given', async () => {
  const listen = { host: '127.0.0.1', port: 0 }
  const service = await createTrackingService({
    listen,
    databaseFile: join(temporaryFolder(), 'tracking.sqlite'),
    provisioning: PROVISIONING,
    timeLimitMs: 60_000,
    logger: pino({ level: 'silent' }),
  })
  await service.close()
  expect(listen).toStrictEqual({ host: '127.0.0.1', port: 0 })
})

it('an exhaustive provisioning removes other routes, but no stored data', async () => {
  const { provision, send } = await startService()
  const push = (lane: Lane, timestamp: number) =>
    send(path(lane), {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ positions: [position({ timestamp })] }),
    }).then(({ status }) => status)
  expect(await push({}, 1)).toBe(200)
  const routes = [{ route_id: '1002', courier_id: '42', company_id: '7' }]
  provision({ ...PROVISIONING, routes })
  expect([await push({}, 2), await push({ route: '1002' }, 2)]).toEqual([200, 200])
  provision({ ...PROVISIONING, routes, exhaustive: true })
  expect([await push({}, 3), await push({ route: '1002' }, 3)]).toEqual([404, 200])
  const read = await send('/api/v2/companies/7/routes/1001/courier-positions?from=0&to=9', {
    headers: { authorization: 'OAuth token-7' },
  })
  expect(read.json).toMatchObject([{ timestamp: 1 }, { timestamp: 2 }])
})

describe('a change of the roster during another request', () => {
  const { companies: known, routes } = PROVISIONING
  const late = [
    ['of an unknown courier', { courier: '99', route: '1001', apikey: 'key-7' }],
    ['of an unknown route', { courier: '42', route: '1009', apikey: 'key-7' }],
    ['of a courier who drove for another company alone', { courier: '43', route: '1001', apikey: 'key-7' }],
  ] as const

  it.each(late)('a push %s waits for roster changes before it is refused', async (_, { courier, route, apikey }) => {
    const lane = { route_id: route, courier_id: courier, company_id: '7' }
    let asked = 0
    const service = await startService({
      catchUp: () => {
        asked++
        service.provision({ companies: known, routes: [...routes, lane] })
        return Promise.resolve()
      },
    })
    const push = () =>
      service.send(path({ courier, route, apikey }), { method: 'POST', headers: JSON_TYPE, body: '{"positions":[]}' })
    expect([(await push()).status, (await push()).status, asked]).toEqual([200, 200, 1])
  })

  it('a push with a wrong apikey or id does not wait for roster changes', async () => {
    const service = await startService({ catchUp: () => Promise.reject(new Error('asked')) })
    const push = async (lane: Lane) => (await service.send(path(lane), { method: 'POST', headers: JSON_TYPE })).status
    expect([await push({ apikey: 'nobody' }), await push({ courier: 'x' })]).toEqual([403, 422])
  })
})
