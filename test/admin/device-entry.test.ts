import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { isSecretOf } from '../../src/roster/device-entry.ts'
import { Replica } from '../../src/roster/replica.ts'
import { type Answer, adminFixture, connected, DEVICES, hold, READ_TOKEN, TOKEN } from '../support/admin.ts'

const admin = adminFixture()
const NEW = '860000000000001'
const VAN_12 = '0356307042441013'
const ID_EXPECTED = 'expected a device id of 1 to 64 bytes of printable UTF-8, without spaces around it'

// Earlier puts are no longer in effect after Redis was emptied.
beforeEach(() =>
  vi.waitFor(
    async () => {
      expect((await admin.ask(`/admin/devices/${VAN_12}`)).json).toMatchObject({
        name: 'Van 12',
        source: 'devices.yaml:2',
      })
      expect((await admin.ask(`/admin/devices/${NEW}`)).status).toBe(404)
    },
    { timeout: 30_000 },
  ),
)

function put(
  id: string,
  entry: object | string | Buffer,
  { token = TOKEN, type = 'application/json' } = {},
): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type }
  const body = typeof entry === 'string' || Buffer.isBuffer(entry) ? entry : JSON.stringify(entry)
  return admin.ask(`/admin/devices/${encodeURIComponent(id)}`, { method: 'PUT', headers, body })
}

const get = (id: string) => admin.ask(`/admin/devices/${encodeURIComponent(id)}`)
const remove = (id: string, token = TOKEN) =>
  admin.ask(`/admin/devices/${encodeURIComponent(id)}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  })

/** Returns all data of Redis as text. */
async function dump(): Promise<string> {
  const all = await admin.redis.keys('*')
  const values = await Promise.all(
    all.map(async (key) => {
      const type = await admin.redis.type(key)
      if (type === 'hash') return Object.entries(await admin.redis.hgetall(key)).flat()
      if (type === 'stream') return (await admin.redis.xrange(key, '-', '+')).flat(2)
      return type === 'string' ? [(await admin.redis.get(key)) ?? ''] : []
    }),
  )
  return [...all, ...values.flat()].join('\n')
}

/** Returns the device as another process with the same Redis sees it. */
async function elsewhere(id: string) {
  const redis = await connected(admin.server.url)
  const replica = new Replica(redis, createLogger('test', { level: 'fatal', format: 'json' }))
  await replica.first
  replica.close()
  redis.disconnect()
  return replica.roster.find(id)
}

/** Returns for each secret (undefined: none) whether another process admits the device with it. */
async function admitted(id: string, ...secrets: (string | undefined)[]): Promise<boolean[]> {
  const device = (await elsewhere(id))!
  return secrets.map((secret) => !device.guard?.hasSecret || (secret !== undefined && isSecretOf(device, secret)))
}

it('PUT /admin/devices/{id} configures a device, which is in effect when it answers', async () => {
  const { status, json } = await put(NEW, {
    name: 'Van 20',
    company_id: 7,
    courier_id: '9223372036854775807',
    route_id: 42,
    time_zone: '+03:00',
    model: 'FMB920',
    settings: { altitude: true, sensors: [1, 2.5] },
  })
  expect([status, json]).toEqual([
    200,
    {
      id: NEW,
      name: 'Van 20',
      company_id: '7',
      courier_id: '9223372036854775807',
      route_id: '42',
      time_zone: '+03:00',
      model: 'FMB920',
      settings: { altitude: true, sensors: [1, 2.5] },
      condition: 'never',
      findings: [],
      secret: false,
      source: expect.stringMatching(/^admin 20\d\d-/),
      configured: true,
      held: [],
      lane: expect.objectContaining({ company_id: '7', courier_id: '9223372036854775807', route_id: '42' }),
      state: 'never',
      events: [],
    },
  ])
})

it.each([
  { says: 'a {} b', values: [null] },
  { says: 'x', values: [] },
  { says: 'x {}', values: ['y'] },
  { below: [{ says: 'x {}', values: [1] }] },
])('PUT /admin/devices/{id} keeps settings that look like a translated text: %j', async (settings) => {
  expect(await put(NEW, { company_id: 7, settings })).toMatchObject({ status: 200, json: { settings } })
  expect(await admin.ask(`/admin/devices/${NEW}`)).toMatchObject({ status: 200, json: { settings } })
})

it.each([
  ['integers beyond 2^53', '{"company_id":7,"courier_id":9223372036854775807}', { courier_id: '9223372036854775807' }],
  ['tabs', '\t{\n\t"company_id"\t:\t7,\n\t"settings":\t{\t}\n}', { company_id: '7' }],
  ['carriage returns', '\r{\r"company_id":\r7\r,\r\n"route_id":5\r}\r', { company_id: '7', route_id: '5' }],
  ['no white space', '{"company_id":"7","model":"a"}', { company_id: '7', model: 'a' }],
  ['escapes', '{"company_id":7,"name":"\\u0056an\\/\\ud83d\\ude9a \\u0022"}', { name: 'Van/🚚 "' }],
  ['what YAML would read otherwise', '{"company_id":7,"name":"- x: *y # z"}', { name: '- x: *y # z' }],
  [
    'settings of any type',
    '{"company_id":7,"settings":{"a":[1.50,-1e3,"2","true",true,null,{}]}}',
    { settings: { a: ['1.50', '-1e3', '2', 'true', true, null, {}] } },
  ],
])('PUT /admin/devices/{id} takes JSON with %s', async (_, text, entry) => {
  const { status, json } = await put(NEW, text)
  expect([status, json]).toMatchObject([200, entry])
})

it('PUT /admin/devices/{id} replaces the entry of a file, and accepts what GET answers', async () => {
  const { text } = await get('356307042441013')
  const { status, json } = await put('356307042441013', { ...JSON.parse(text), route_id: '5' })
  expect([status, json]).toMatchObject([200, { id: VAN_12, name: 'Van 12', route_id: '5', secret: true }])
  expect(await elsewhere('356307042441013')).toMatchObject({ id: VAN_12, route_id: '5' })
})

it('PUT /admin/devices/{id} stays in effect while other entries of its file change', async () => {
  onTestFinished(() => writeFile(join(admin.dir, 'devices.yaml'), DEVICES))
  await put('356307042441014', { name: 'Van 14 b', company_id: 7, courier_id: 43 })
  await writeFile(join(admin.dir, 'devices.yaml'), `${DEVICES}\n"1": { company_id: 7 }\n`)
  await vi.waitFor(async () => expect((await get('1')).status).toBe(200), { timeout: 30_000 })
  expect((await get('356307042441014')).json).toMatchObject({ name: 'Van 14 b' })
})

it('PUT /admin/devices/{id} keeps a secret that the body leaves out, in Redis as a digest', async () => {
  await put(VAN_12, { name: 'Van 12', company_id: 7, secret: 'canary-new-secret' })
  await put(VAN_12, { name: 'Van twelve', company_id: 7 })
  expect(await admitted(VAN_12, 'canary-new-secret', 'canary-secret', undefined)).toEqual([true, false, false])
  expect((await get(VAN_12)).json).toMatchObject({ name: 'Van twelve', secret: true })
  expect(await dump()).not.toContain('canary-')
})

it('PUT /admin/devices/{id} accepts a previous secret beside the secret, keeps it, and removes it with null', async () => {
  const entry = { company_id: 7, secret: 'second-secret', previous_secret: 'first-secret' }
  expect((await put(VAN_12, entry)).json).toMatchObject({ secret: true, previous_secret: true })
  expect(await admitted(VAN_12, 'first-secret', 'second-secret', 'third-secret')).toEqual([true, true, false])
  await put(VAN_12, (await get(VAN_12)).json as object)
  expect(await admitted(VAN_12, 'first-secret', 'second-secret')).toEqual([true, true])
  expect((await put(VAN_12, { company_id: 7, previous_secret: null })).json).not.toHaveProperty('previous_secret')
  expect(await admitted(VAN_12, 'first-secret', 'second-secret')).toEqual([false, true])
})

it('PUT /admin/devices/{id} accepts the permissions of a device, and GET shows them', async () => {
  const guard = { protocol: 'h02', transports: ['tcp'], networks: ['10.0.0.0/8'], client_certificate: ['van 20'] }
  expect((await put(NEW, { company_id: 7, ...guard })).json).toMatchObject(guard)
  expect(await elsewhere(NEW)).toMatchObject({ ...guard, guard: { hasSecret: false } })
  expect(await put(NEW, { company_id: 7, networks: ['10.0.0.0/99'] })).toMatchObject({ status: 422 })
})

it('PUT /admin/devices/{id} keeps the secret of the file, and removes it with null', async () => {
  await put(VAN_12, { name: 'Van 12', company_id: 7 })
  expect(await admitted(VAN_12, 'canary-secret', 'x')).toEqual([true, false])
  expect((await put(VAN_12, { name: 'Van 12', company_id: 7, secret: null })).json).toMatchObject({ secret: false })
  expect(await dump()).not.toContain('canary-')
})

it.each([
  ['true', '"secret": true,', true],
  ['nothing', '', true],
  ['null', '"secret": null,', false],
  ['false', '"secret": false,', false],
])('PUT /admin/devices/{id} keeps or removes the previous secret if the secret is %s', async (_, secret, stays) => {
  expect((await put(VAN_12, `{${secret} "name": "Van 12", "company_id": 7}`)).json).toMatchObject({ secret: stays })
  expect(await admitted(VAN_12, 'canary-secret', undefined)).toEqual([true, !stays])
})

it.each([
  ['a number is its digits', '12345678901234567890', '12345678901234567890'],
  ['a word in quotes is a secret', '"false"', 'false'],
])('PUT /admin/devices/{id} stores a new secret: %s', async (_, json, secret) => {
  await put(NEW, `{"company_id": 7, "secret": ${json}}`)
  expect(await admitted(NEW, secret, undefined, 'canary')).toEqual([true, false, false])
})

it.each(['{}', '[]', '["canary-x"]', '""'])(
  'PUT /admin/devices/{id} answers 422 to the secret %s, and keeps the previous one',
  async (secret) => {
    const { status, json } = await put(VAN_12, `{"company_id": 7, "secret": ${secret}}`)
    const message = 'expected text'
    expect([status, json]).toEqual([422, { message: `secret: ${message}`, errors: [{ path: 'secret', message }] }])
    expect((await get(VAN_12)).json).toMatchObject({ source: 'devices.yaml:2', secret: true })
  },
)

it('PUT /admin/devices/{id} accepts any id that a file may have', async () => {
  for (const id of ['__proto__', 'a/b c', '../x', 'ü:1'])
    expect([id, (await put(id, { company_id: 7 })).json]).toMatchObject([id, { id, configured: true }])
  expect((await admin.ask('/admin/devices?q=__proto')).json).toMatchObject({ results: [{ id: '__proto__' }] })
  for (const id of ['__proto__', 'a/b c', '../x', 'ü:1']) expect((await remove(id)).status).toBe(200)
})

it.each([
  ['no company', {}, [{ path: 'company_id', message: 'missing' }]],
  [
    'an unknown company',
    { company_id: 9 },
    [{ path: 'company_id', message: 'company 9 is not among the companies of gateway.yaml' }],
  ],
  [
    'an unknown protocol',
    { company_id: 7, protocol: 'gto6' },
    [{ path: 'protocol', message: expect.stringContaining('unknown protocol: did you mean gt06?') }],
  ],
  [
    'an unknown key',
    { company_id: 7, curier_id: 1 },
    [{ path: 'curier_id', message: expect.stringContaining('did you mean courier_id?') }],
  ],
  [
    'several mistakes',
    { company_id: 'x', route_id: -1, time_zone: 'Mars' },
    [
      { path: 'company_id', message: expect.stringContaining('expected an id') },
      { path: 'route_id', message: expect.stringContaining('expected an id') },
      { path: 'time_zone', message: expect.stringContaining('expected a time zone') },
    ],
  ],
  [
    'the id of another device as name',
    { company_id: 7, name: '356307042441014' },
    [{ path: 'name', message: 'this name is the id of the device at devices.yaml:3' }],
  ],
  [
    'the name of a van with another courier',
    { company_id: 7, name: 'Van 12', courier_id: 5 },
    [{ path: 'name', message: 'the device at devices.yaml:2 has the same name, but another courier' }],
  ],
])('PUT /admin/devices/{id} answers 422 to a body with %s', async (_, entry, errors) => {
  const answer = await put(NEW, entry)
  expect(answer).toMatchObject({ status: 422, json: { message: expect.any(String), errors } })
  expect((await get(NEW)).status).toBe(404)
})

it('PUT /admin/devices/{id} names the device that was put with the same name', async () => {
  await put('dup1', { company_id: 7, name: 'Dup', courier_id: 1 })
  const { status, json } = await put('dup2', { company_id: 7, name: 'Dup', courier_id: 2 })
  expect([status, json]).toMatchObject([
    422,
    {
      errors: [
        {
          path: 'name',
          message: expect.stringMatching(/^device dup1 \(admin 20\S+Z\) has the same name, but another courier$/),
        },
      ],
    },
  ])
  expect(await put('Dup', { company_id: 7 })).toMatchObject({
    status: 422,
    json: { message: expect.stringMatching(/^id: device dup1 \(admin 20\S+Z\) has this id as its name$/) },
  })
})

it.each([
  ['the name of another device', 'Van 12', 'the device at devices.yaml:2 has this id as its name'],
  ['65 bytes', 'x'.repeat(65), ID_EXPECTED],
  ['1,000 bytes', '1'.repeat(1000), ID_EXPECTED],
  ['a control character', '1\u00072', ID_EXPECTED],
  ['a line separator', '1\u20282', ID_EXPECTED],
  ['spaces around it', ' 1', ID_EXPECTED],
  [
    'digits that a spreadsheet has destroyed',
    '3.56E+14',
    '"3.56E+14" is an id that a spreadsheet has destroyed: format the column as text and enter the id again',
  ],
])('PUT /admin/devices/{id} answers 422 to an id that is %s', async (_, id, message) => {
  const { status, json } = await put(id, { company_id: 7 })
  expect([status, json]).toEqual([422, { message: `id: ${message}`, errors: [{ path: 'id', message }] }])
})

it('PUT /admin/devices/{id} answers 422 to an id that is not UTF-8', async () => {
  const { status, json } = await admin.ask('/admin/devices/%ED%A0%80', { method: 'PUT', body: '{"company_id":7}' })
  expect([status, json]).toEqual([422, { message: 'the path cannot be decoded' }])
})

it.each([
  [
    'malformed JSON',
    '{',
    "the body is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
  ],
  ['a word without quotes', '{"secret": canary}', "the body is not JSON: Unexpected token 'c'"],
  ['NaN', '{"company_id": NaN}', "the body is not JSON: Unexpected token 'N'"],
  [
    'YAML',
    '{company_id: 7}',
    "the body is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
  ],
  ['bytes that are no UTF-8', Buffer.from('{"name": "\xff"}', 'latin1'), 'the body is not JSON: it is not UTF-8'],
  ['an array', '[]', 'expected an object with company_id'],
  ['null', 'null', 'expected an object with company_id'],
  ['an empty body', '', 'the body is not JSON: Unexpected end of JSON input'],
  ['64 KiB and more', `{"company_id": 7, "model": "${'x'.repeat(65_536)}"}`, 'the body must be at most 65536 bytes'],
  ['a key twice', '{"company_id": 7, "name": "a", "n\\u0061me": "b"}', 'name: this key occurs twice'],
  ['a key twice below', '{"company_id":7,"settings":{"a":{"b":1,"b":2}}}', 'settings.a.b: this key occurs twice'],
  ['the id of another device', '{"company_id": 7, "id": "99"}', 'id: another device than that of the path'],
  ['too many brackets', `{"settings":${'['.repeat(9999)}${']'.repeat(9999)}}`, 'the body: nested too deeply'],
  ['half of a character', '{"company_id": 7, "name": "\\ud83d"}', 'name: expected printable text'],
  [
    'a reference, which here is none',
    '{"company_id": "${env:HOME}"}',
    'company_id: expected an id: a whole number from 0 to 9223372036854775807',
  ],
])('PUT /admin/devices/{id} answers 422 to %s', async (_, body, message) => {
  const answer = await put(NEW, body)
  expect(answer).toMatchObject({ status: 422, json: { message } })
  expect(answer.text).not.toContain('canary')
  expect((await get(NEW)).status).toBe(404)
})

it('PUT /admin/devices/{id} answers 415 to a body that is not JSON, and 403 to a token that may only read', async () => {
  expect((await put(NEW, 'company_id: 7', { type: 'application/yaml' })).status).toBe(415)
  expect((await put(NEW, { company_id: 7 }, { token: READ_TOKEN })).status).toBe(403)
})

it('DELETE /admin/devices/{id} removes a device of a file, which can be put again', async () => {
  expect((await remove('356307042441013')).json).toEqual({ deleted: 1 })
  expect((await get(VAN_12)).status).toBe(404)
  expect((await remove(VAN_12)).status).toBe(404)
  await put(VAN_12, { company_id: 7, name: 'Van 12' })
  expect((await get(VAN_12)).json).toMatchObject({ name: 'Van 12', secret: false })
})

it('DELETE /admin/devices/{id} leaves a device that is still in a file unconfigured, and says so', async () => {
  await remove(VAN_12)
  const { status, json } = await get(VAN_12)
  expect([status, json]).toEqual([
    404,
    {
      message: expect.stringMatching(
        /^no device with this id is configured: it was deleted through the admin port: put it there again, or edit its entry, devices\.yaml:2$/,
      ),
      file_entry: 'devices.yaml:2',
    },
  ])
  await hold(admin.redis, 'unknown', '356307042441013')
  expect((await get(VAN_12)).json).toMatchObject({
    configured: false,
    file_entry: 'devices.yaml:2',
    held: [{ reason: 'unknown' }],
  })
})

it('DELETE /admin/devices/{id} of a device in no file makes GET answer that it must be added', async () => {
  await put(NEW, { company_id: 7 })
  await remove(NEW)
  expect((await get(NEW)).json).toEqual({
    message: 'no device with this id is configured: add it to devices.yaml',
  })
})

it('DELETE /admin/devices/{id} answers 403 to a token that may only read', async () => {
  expect((await remove(VAN_12, READ_TOKEN)).status).toBe(403)
})

it('DELETE /admin/devices/{id} is in the audit log', async () => {
  await remove(VAN_12)
  expect((await admin.ask('/admin/audit')).json).toMatchObject({
    results: [{ method: 'DELETE', path: `/admin/devices/${VAN_12}`, operation: '/admin/devices/{id}', status: 200 }],
  })
})
