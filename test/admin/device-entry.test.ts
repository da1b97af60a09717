import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { presents } from '../../src/ingest/index.ts'
import { connected, adminFixture, type Answer, DEVICES, READ_TOKEN, TOKEN } from './fixture.ts'
import { followRoster } from '../../src/roster/index.ts'

const admin = adminFixture()
const NEW = '860000000000001'
const VAN_12 = '0356307042441013'

// What was put before is not in effect any more once Redis is empty.
beforeEach(() =>
  vi.waitFor(
    async () => {
      expect((await admin.ask(`/admin/devices/${VAN_12}`)).json).toMatchObject({
        name: 'Van 12',
        source: 'devices.yaml:2',
      })
      expect((await admin.ask(`/admin/devices/${NEW}`)).status).toBe(404)
    },
    { timeout: 10_000 },
  ),
)

function put(id: string, entry: unknown, { token = TOKEN, type = 'application/json' } = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type }
  const body = typeof entry === 'string' ? entry : JSON.stringify(entry)
  return admin.ask(`/admin/devices/${encodeURIComponent(id)}`, { method: 'PUT', headers, body })
}

const get = (id: string) => admin.ask(`/admin/devices/${encodeURIComponent(id)}`)
const remove = (id: string, token = TOKEN) =>
  admin.ask(`/admin/devices/${encodeURIComponent(id)}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  })

/** Everything that Redis holds. */
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

/** The device as another process around the same Redis has it. */
async function elsewhere(id: string) {
  const redis = await connected(admin.server.url)
  const roster = followRoster(redis)
  const { devices } = await roster.first
  await roster.close()
  redis.disconnect()
  return devices.get(id)?.device
}

describe('PUT /admin/devices/{id}', () => {
  it('configures a device; it is in effect when it answers', async () => {
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
        secret: false,
        source: expect.stringMatching(/^admin 20\d\d-/),
        configured: true,
        held: [],
        lane: expect.objectContaining({ company_id: '7', courier_id: '9223372036854775807', route_id: '42' }),
        state: 'never',
      },
    ])
  })

  it('takes integers beyond 2^53 as they are written', async () => {
    const { json } = await put(
      NEW,
      '{\t"company_id": 7,\r\n "courier_id": 9223372036854775807, "route_id": 9007199254740993}',
    )
    expect(json).toMatchObject({ courier_id: '9223372036854775807', route_id: '9007199254740993' })
  })

  it('replaces the entry of a file, and takes what GET answers', async () => {
    const { text } = await get('356307042441013')
    const { status, json } = await put('356307042441013', { ...JSON.parse(text), route_id: '5' })
    expect([status, json]).toMatchObject([200, { id: VAN_12, name: 'Van 12', route_id: '5', secret: true }])
    expect(await elsewhere('356307042441013')).toMatchObject({ id: VAN_12, route_id: '5' })
  })

  it('gives way to the file once its entry is changed there, and not before', async () => {
    onTestFinished(() => writeFile(join(admin.dir, 'devices.yaml'), DEVICES))
    await put('356307042441014', { name: 'Van 14 b', company_id: 7, courier_id: 43 })
    await writeFile(join(admin.dir, 'devices.yaml'), `${DEVICES}\n"1": { company_id: 7 }\n`)
    await vi.waitFor(async () => expect((await get('1')).status).toBe(200), { timeout: 10_000 })
    expect((await get('356307042441014')).json).toMatchObject({ name: 'Van 14 b' })
  })

  it('keeps a secret that the body does not have, in Redis as a digest', async () => {
    await put(VAN_12, { name: 'Van 12', company_id: 7, secret: 'canary-new-secret' })
    await put(VAN_12, { name: 'Van twelve', company_id: 7 })
    const device = await elsewhere('356307042441013')
    const entry = device as unknown as Parameters<typeof presents>[0]
    expect([
      presents(entry, 'canary-new-secret'),
      presents(entry, 'canary-secret'),
      presents(entry, undefined),
    ]).toEqual([true, false, false])
    expect((await get(VAN_12)).json).toMatchObject({ name: 'Van twelve', secret: true })
    expect(await dump()).not.toContain('canary-')
  })

  it('keeps the secret of the file, and drops it with null', async () => {
    await put(VAN_12, { name: 'Van 12', company_id: 7 })
    const kept = (await elsewhere('356307042441013')) as unknown as Parameters<typeof presents>[0]
    expect([presents(kept, 'canary-secret'), presents(kept, 'x')]).toEqual([true, false])
    expect((await put(VAN_12, { name: 'Van 12', company_id: 7, secret: null })).json).toMatchObject({ secret: false })
    expect(await dump()).not.toContain('canary-')
  })

  it('takes any id that a file may have', async () => {
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
      [{ path: 'name', message: 'this is the id of the device at devices.yaml:3' }],
    ],
    [
      'the name of a van with another courier',
      { company_id: 7, name: 'Van 12', courier_id: 5 },
      [{ path: 'name', message: 'the device at devices.yaml:2, with another courier, has this name too' }],
    ],
  ])('with %s is 422', async (_, entry, errors) => {
    const answer = await put(NEW, entry)
    expect(answer).toMatchObject({ status: 422, json: { message: expect.any(String), errors } })
    expect((await get(NEW)).status).toBe(404)
  })

  it('with an id that is the name of another device is 422', async () => {
    expect(await put('Van 12', { company_id: 7 })).toMatchObject({
      status: 422,
      json: { message: expect.stringContaining('the device at devices.yaml:2 has this id as its name') },
    })
  })

  it.each([
    ['an id of 65 bytes', 'x'.repeat(65), { company_id: 7 }, 422],
    ['malformed JSON', NEW, '{', 422],
    ['an array', NEW, '[]', 422],
    ['an empty body', NEW, '', 422],
    ['a reference, which here is none', NEW, { company_id: '${env:HOME}' }, 422],
  ])('with %s is refused', async (_, id, entry, status) => {
    expect(await put(id, entry)).toMatchObject({ status, json: { message: expect.any(String) } })
  })

  it('as another content type is 415, with a token that may read only 403', async () => {
    expect((await put(NEW, 'company_id: 7', { type: 'application/yaml' })).status).toBe(415)
    expect((await put(NEW, { company_id: 7 }, { token: READ_TOKEN })).status).toBe(403)
  })
})

describe('DELETE /admin/devices/{id}', () => {
  it('takes a device of a file out, and it can be put again', async () => {
    expect((await remove('356307042441013')).json).toEqual({ deleted: 1 })
    expect((await get(VAN_12)).status).toBe(404)
    expect((await remove(VAN_12)).status).toBe(404)
    await put(VAN_12, { company_id: 7, name: 'Van 12' })
    expect((await get(VAN_12)).json).toMatchObject({ name: 'Van 12', secret: false })
  })

  it('with a token that may read only is 403', async () => {
    expect((await remove(VAN_12, READ_TOKEN)).status).toBe(403)
  })

  it('is in the audit log', async () => {
    await remove(VAN_12)
    expect((await admin.ask('/admin/audit')).json).toMatchObject({
      results: [{ method: 'DELETE', path: `/admin/devices/${VAN_12}`, operation: '/admin/devices/{id}', status: 200 }],
    })
  })
})
