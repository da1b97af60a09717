import { expect, it } from 'vitest'
import { JSON_TYPE, LANE, type Lane, path, position, startPushService } from '../../support/tracking/push.ts'

const { service, push, stored } = await startPushService()

function one(): object {
  return { positions: [position()] }
}

it.each([
  ['an unknown apikey', 403, { apikey: 'nobody' }],
  ['the apikey of another company', 403, { apikey: 'key-8' }],
  ['an OAuth token as apikey', 403, { apikey: 'token-7' }],
  ['no apikey', 422, { apikey: null }],
  ['an empty apikey', 422, { apikey: '' }],
  ['an unknown courier', 404, { courier: '99' }],
  ['an unknown route', 404, { route: '9999' }],
  ['a route of another courier', 404, { route: '1002' }],
  ['a route of another company', 404, { route: '2001' }],
  ['a courier that is no number', 422, { courier: 'abc' }],
  ['a route of 20 digits', 422, { route: '10000000000000000000' }],
  ['a route of 2^63', 422, { route: '9223372036854775808' }],
  ['a route of 3,000 digits', 422, { route: '1'.repeat(3_000) }],
  ['a route with a fraction', 422, { route: '1001.0' }],
  ['a negative id', 422, { courier: '-42' }],
  ['.. and %2f in the path', 422, { courier: '..%2f42' }],
  ['a path that is no percent-encoding', 422, { courier: '%zz' }],
])('refuses a push for %s with %s %s', async (_, status, lane: Lane) => {
  const before = stored()
  const answer = await push(one(), { ...LANE, ...lane })
  expect(answer).toMatchObject({ status, json: { message: expect.any(String) } })
  expect(answer.text).not.toContain(lane.apikey || 'key-7')
  expect(stored()).toBe(before)
})

it('refuses a push with two apikeys', async () => {
  const answer = await service.send(`${path(LANE)}&apikey=key-8`, { method: 'POST', headers: JSON_TYPE, body: '{}' })
  expect(answer).toMatchObject({ status: 422, json: { errors: [{ path: 'apikey' }] } })
})

it.each([
  ['no accuracy', { accuracy: undefined }, 'accuracy'],
  ['an accuracy with a fraction', { accuracy: 1.5 }, 'accuracy'],
  ['an accuracy in quotes', { accuracy: '5' }, 'accuracy'],
  ['no point', { point: undefined }, 'point'],
  ['no lat', { point: { lon: 1 } }, 'point.lat'],
  ['a lat of 90.1', { point: { lat: 90.1, lon: 1 } }, 'point.lat'],
  ['a lat of -91', { point: { lat: -91, lon: 1 } }, 'point.lat'],
  ['a lon of 180.5', { point: { lat: 1, lon: 180.5 } }, 'point.lon'],
  ['a lon of null, as JSON writes NaN', { point: { lat: 1, lon: Number.NaN } }, 'point.lon'],
  ['no timestamp', { timestamp: undefined }, 'timestamp'],
  ['a negative timestamp', { timestamp: -1 }, 'timestamp'],
  ['a timestamp with a fraction', { timestamp: 1.5 }, 'timestamp'],
  ['a timestamp of 1e30', { timestamp: 1e30 }, 'timestamp'],
  ['a heading in quotes', { heading: 'N' }, 'heading'],
  ['a heading of null', { heading: null }, 'heading'],
  ['a speed in quotes', { speed: '3' }, 'speed'],
  ['a speed of null', { speed: null }, 'speed'],
])('refuses a push for %s, names the field and stores nothing', async (_, changes, field) => {
  const before = stored()
  const answer = await push({ positions: [position(), position(), position(), position(changes)] })
  expect(answer.status).toBe(422)
  const where = `positions.3.${field}`
  expect(answer.json).toEqual({
    message: expect.stringMatching(`^${where}: `),
    errors: [{ path: where, message: expect.any(String) }],
  })
  expect(stored()).toBe(before)
})

it('refuses a speed of 1e400, which is beyond a double', async () => {
  const answer = await push('{"positions":[{"accuracy":1,"point":{"lat":1,"lon":1},"timestamp":1,"speed":1e400}]}')
  expect(answer).toMatchObject({ status: 422, json: { errors: [{ path: 'positions.0.speed' }] } })
})

it('refuses a timestamp of 2^63, the first beyond int64', async () => {
  const answer = await push('{"positions":[{"accuracy":1,"point":{"lat":1,"lon":1},"timestamp":9223372036854775808}]}')
  expect(answer).toMatchObject({ status: 422, json: { errors: [{ path: 'positions.0.timestamp' }] } })
})

it.each([
  ['malformed JSON', '{"positions":[', ''],
  ['NaN', '{"positions":[{"accuracy":NaN}]}', ''],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), ''],
  ['no body', '', ''],
  ['null', 'null', ''],
  ['an array', '[]', ''],
  ['positions that are no array', '{"positions":{}}', 'positions'],
  ['no positions', '{}', 'positions'],
  ['a position that is a number', '{"positions":[1]}', 'positions.0'],
  ['3 million open brackets', '['.repeat(3_000_000), ''],
])('refuses a push for %s', async (_, body, field) => {
  const answer = await push(body)
  expect(answer.status).toBe(422)
  expect(answer.json).toMatchObject({ message: expect.any(String) })
  expect((answer.json as { errors?: { path: string }[] }).errors?.[0].path ?? '').toBe(field)
})

it('refuses 1,001 positions and stores none', async () => {
  const before = stored()
  const answer = await push({ positions: Array.from({ length: 1_001 }, () => position()) })
  expect(answer).toMatchObject({ status: 422, json: { errors: [{ path: 'positions' }] } })
  expect(stored()).toBe(before)
})

it('refuses 600,000 bad positions with one reason', async () => {
  const answer = await push(`{"positions":[${'1,'.repeat(600_000)}1]}`)
  expect(answer).toMatchObject({ status: 422, json: { errors: [{ path: 'positions' }] } })
})

it('names at most 20 wrong fields of a push', async () => {
  const answer = await push({ positions: Array.from({ length: 500 }, () => ({})) })
  expect((answer.json as { errors: unknown[] }).errors).toHaveLength(20)
})

it.each([
  ['text/plain', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['JSON patch', { 'content-type': 'application/json-patch+json' }],
  ['no content type', {}],
  ['one that cannot be understood', { 'content-type': '???' }],
])('refuses a push with the content type %s', async (_, headers) => {
  const body = JSON.stringify(one())
  expect(await service.send(path(LANE), { method: 'POST', headers, body })).toMatchObject({ status: 422 })
})

it('refuses a body of 4 MiB and one byte, and accepts one of 4 MiB', async () => {
  const limit = 4 * 1024 * 1024
  expect((await push(JSON.stringify(one()).padEnd(limit))).status).toBe(200)
  expect((await push(JSON.stringify(one()).padEnd(limit + 1))).status).toBe(422)
})

it('refuses a body of 5 MB and keeps the connection usable', async () => {
  const answer = await push(' '.repeat(5_000_000))
  expect(answer).toMatchObject({ status: 422, json: { message: 'the body must be at most 4194304 bytes' } })
  expect(answer.headers.connection).not.toBe('close')
  expect((await push(one())).status).toBe(200)
})

it.each([
  ['credentials before access and existence', { courier: '99', apikey: 'nobody' }, 403],
  ['credentials before a path id', { courier: 'x', apikey: 'nobody' }, 403],
  ['access before existence of the route', { route: '9999', apikey: 'key-8' }, 403],
  ['existence before input', { route: '9999' }, 404],
])('checks a push in the order %s', async (_, lane, status) => {
  expect((await push('{', { ...LANE, ...lane })).status).toBe(status)
})

it('checks credentials before the content type and the length of the body', async () => {
  const options = { method: 'POST', headers: { 'content-type': '???' }, body: ' '.repeat(5_000_000) } as const
  expect((await service.send(path({ apikey: 'nobody' }), options)).status).toBe(403)
})

it('the service logs no refused push', async () => {
  expect((await push('{', { apikey: 'nobody' })).status).toBe(403)
  expect(service.log).toEqual([])
})
