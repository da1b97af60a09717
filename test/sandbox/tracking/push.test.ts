import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { countPositions } from '../../../src/sandbox/demo/account.ts'
import { LANE, nextSecond, path, position, startPushService } from '../../support/tracking/push.ts'
import { MAX_ID, PROVISIONING } from '../../support/tracking/service.ts'

const { service, push, stored } = await startPushService()

function row(timestamp: number | bigint): Record<string, unknown> | undefined {
  const database = new DatabaseSync(service.databaseFile, { readOnly: true })
  try {
    const statement = database.prepare('SELECT * FROM positions WHERE timestamp = ?')
    statement.setReadBigInts(true)
    return statement.get(timestamp)
  } finally {
    database.close()
  }
}

it('answers a push 200 and stores every field', async () => {
  const timestamp = nextSecond()
  const before = BigInt(Date.now()) * 1_000n
  const answer = await push({
    positions: [{ accuracy: 12, point: { lat: -33.5, lon: 151.25 }, timestamp, heading: 271, speed: 13.89 }],
  })
  expect(answer).toMatchObject({ status: 200, text: '{}' })
  const { received_us, ...fields } = row(timestamp) ?? {}
  expect(fields).toEqual({
    company_id: 7n,
    route_id: 1001n,
    courier_id: 42n,
    timestamp: BigInt(timestamp),
    lat: -33.5,
    lon: 151.25,
    accuracy: 12n,
    heading: 271n,
    speed: 13.89,
    received_count: 1n,
  })
  expect(Number(received_us)).toBeGreaterThanOrEqual(Number(before))
})

it('leaves optional fields of a position empty', async () => {
  const timestamp = nextSecond()
  expect((await push({ positions: [position({ timestamp })] })).status).toBe(200)
  expect(row(timestamp)).toMatchObject({ heading: null, speed: null })
})

it('accepts 1,000 positions', async () => {
  const before = stored()
  expect((await push({ positions: Array.from({ length: 1_000 }, () => position()) })).status).toBe(200)
  expect(stored() - before).toBe(1_000)
})

it('accepts a push without positions', async () => {
  expect((await push({ positions: [] })).status).toBe(200)
})

it('stores 64-bit ids of a push exactly', async () => {
  const timestamp = nextSecond()
  expect(
    (await push({ positions: [position({ timestamp })] }, { courier: MAX_ID, route: MAX_ID, apikey: 'key-max' }))
      .status,
  ).toBe(200)
  expect(row(timestamp)).toMatchObject({
    company_id: BigInt(MAX_ID),
    courier_id: BigInt(MAX_ID),
    route_id: BigInt(MAX_ID),
  })
})

it.each(['9007199254740993', MAX_ID, '0', '1e3'])('stores the timestamp %s exactly', async (timestamp) => {
  const body = `{"positions":[{"accuracy":1,"point":{"lat":1,"lon":1},"timestamp":${timestamp}}]}`
  expect((await push(body)).status).toBe(200)
  expect(row(timestamp === '1e3' ? 1_000n : BigInt(timestamp))).toBeDefined()
})

it.each([
  [
    'a text that reads like one before it',
    (at: string) => `{"note":"\\"timestamp\\":9007199254740997","positions":[${at}]}`,
  ],
  ['a name that ends like it', (at: string) => `{"positions":[{"x\\"timestamp":9007199254740997,${at.slice(1)}]}`],
  ['it twice: the last one counts', (at: string) => `{"positions":[{"timestamp":9007199254740997,${at.slice(1)}]}`],
  ['white space', (at: string) => `{"positions":[${at.replaceAll(':', ' :\n')}]}`],
])('stores a timestamp exactly from a body with %s', async (_, bodyOf) => {
  const timestamp = 9_007_199_000_000_000_001n + BigInt(nextSecond()) * 2n
  const written = `{"accuracy":1,"point":{"lat":1,"lon":1},"timestamp":${timestamp}}`
  expect((await push(bodyOf(written))).status).toBe(200)
  expect(row(timestamp)).toBeDefined()
})

it.each([
  ['unknown fields', { altitude: 120, point: { lat: 1, lon: 1, alt: 3 }, extra: { deep: [null] }, name: '\ud800' }],
  ['the poles and the date line', { point: { lat: -90, lon: 180 } }],
  ['a speed that is an integer beyond 2^53', { speed: 1e20 }],
  ['a negative accuracy: the interface sets no limit', { accuracy: -1 }],
])('accepts a position with %s', async (_, changes) => {
  expect((await push({ positions: [position(changes)] })).status).toBe(200)
})

it('accepts an escaped lone surrogate in an ignored field', async () => {
  expect((await push(`{"note":"\\ud800","positions":[${JSON.stringify(position())}]}`)).status).toBe(200)
})

it('accepts a content type with a charset', async () => {
  const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
  const body = JSON.stringify({ positions: [position()] })
  expect((await service.send(path(LANE), { method: 'POST', headers, body })).status).toBe(200)
})

it('accepts each apikey of the company, decoded from the URL', async () => {
  expect((await push({ positions: [position()] }, { ...LANE, apikey: 'old key+7/&' })).status).toBe(200)
})

it('stores a repeated position once and counts it', async () => {
  const twice = position()
  const before = countPositions(service.databaseFile)
  await push({ positions: [twice, twice] })
  expect((await push({ positions: [twice] })).status).toBe(200)
  const after = countPositions(service.databaseFile)
  expect([after.stored - before.stored, after.received - before.received]).toEqual([1, 3])
})

it.each([
  ['at another point', { point: { lat: 55.75, lon: 37.620001 } }],
  ['at another time', { timestamp: 4 }],
])('stores a second position %s', async (_, changes) => {
  const first = position()
  const before = stored()
  await push({ positions: [first, { ...first, ...changes }] })
  expect(stored() - before).toBe(2)
})

it('stores a second position of another courier', async () => {
  const [first, before] = [position(), stored()]
  await push({ positions: [first] })
  await push({ positions: [first] }, { courier: '41', route: '1002' })
  expect(stored() - before).toBe(2)
})

it('applies a provisioning at once and keeps what is stored', async () => {
  const timestamp = nextSecond()
  const before = stored()
  expect((await push({ positions: [position({ timestamp })] })).status).toBe(200)
  service.provision({
    companies: [...PROVISIONING.companies, { company_id: '9', apikeys: ['key-9'], oauth_tokens: ['token-9'] }],
    routes: [...PROVISIONING.routes.slice(1), { route_id: '3001', courier_id: '44', company_id: '9' }],
  })
  expect((await push({ positions: [position()] }, { courier: '44', route: '3001', apikey: 'key-9' })).status).toBe(200)
  expect(stored() - before).toBe(2)
  const headers = { authorization: 'OAuth token-7' }
  const read = await service.send(
    `/api/v2/companies/7/routes/1001/courier-positions?from=${timestamp}&to=${timestamp}`,
    { headers },
  )
  expect(read.json).toHaveLength(1)
  service.provision(PROVISIONING)
  expect((await push({ positions: [position()] })).status).toBe(200)
})

it('keeps earlier lanes and replaces companies in a provisioning', async () => {
  const [company7, ...companies] = PROVISIONING.companies
  service.provision({ companies: [{ ...company7, apikeys: ['key-7b'] }, ...companies], routes: [] })
  expect((await push({ positions: [position()] }, { apikey: 'key-7b' })).status).toBe(200)
  expect((await push({ positions: [position()] }, { apikey: 'key-7' })).status).toBe(403)
  expect((await push({ positions: [position()] }, { route: '9999', apikey: 'key-7b' })).status).toBe(404)
  service.provision(PROVISIONING)
})

it('answers 500 when the database cannot be written, and recovers', async () => {
  const other = new DatabaseSync(service.databaseFile)
  other.exec('BEGIN IMMEDIATE')
  const answers = await Promise.all([push({ positions: [position()] }), push({ positions: [position()] })])
  other.exec('ROLLBACK')
  other.close()
  const message = 'a fault of the service; nothing of this request was stored'
  expect(answers).toMatchObject([
    { status: 500, json: { message } },
    { status: 500, json: { message } },
  ])
  expect(service.log).toHaveLength(2)
  expect(JSON.parse(service.log[0])).toMatchObject({
    operation: path({ courier: ':courier_id', route: ':route_id', apikey: null }),
  })
  expect(service.log.join()).not.toContain('key-7')
  expect((await push({ positions: [position()] })).status).toBe(200)
})

it('answers /healthz', async () => {
  expect(await service.send('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } })
})

it('answers an unknown path 404', async () => {
  expect(await service.send('/api/v1/nothing?apikey=key-7')).toMatchObject({
    status: 404,
    json: { message: 'there is no such operation' },
  })
})

it('answers another method of a known path 404', async () => {
  expect((await service.send(path(LANE))).status).toBe(404)
})
