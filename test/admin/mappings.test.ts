import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import type { MappingPutJson, UnreadJson } from '../../src/admin/schemas/mappings.ts'
import type { Role } from '../../src/process/role.ts'
import { startGateway } from '../../src/process/roles/gateway.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { metrics } from '../../src/observe/metrics.ts'
import { custodyCounters, keys } from '../../src/store/index.ts'
import { adminFixture, READ_TOKEN, TOKEN } from '../support/admin.ts'
import { folder } from '../support/config-folder.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { until } from '../support/listen.ts'
import { client } from '../support/mqtt.ts'

const admin = adminFixture({
  gateway: `
admin: { port: 0, tokens: [${TOKEN}, { token: ${READ_TOKEN}, role: read }] }
listeners: [{ transport: http, protocol: osmand, port: 0, host: 127.0.0.1 }]
mqtt: { broker: null }
`,
})
const soon = { timeout: 30_000 }
const ID = '356307042441014'
const MAPPING = {
  device: '$.tracker',
  each: '$.track[*]',
  time: 'ts',
  lat: 'y',
  lon: 'x',
  speed: { path: 'v', unit: 'kmh' },
}

async function gateway(): Promise<Role> {
  const live = await followConfig({ dir: admin.dir, protocols: protocolPorts, role: 'gateway', followsFiles: false })
  const role = await startGateway(live, { redisServer: admin.server.url, ports: {} })
  onTestFinished(() => role.close())
  return role
}

const post = async ({ ports }: Role, body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (await fetch(`http://127.0.0.1:${ports?.['http/osmand']}/`, { method: 'POST', body: text })).status
}

/** Returns the JSON of an unknown product. */
const track = (second: number) => ({
  tracker: ID,
  track: [
    {
      ts: Math.floor(Date.now() / 1000) - 100 + second,
      latitude: 52.5,
      longitude: 13.4,
      y: 52.5 + second / 1e4,
      x: 13.4,
      v: 36,
    },
  ],
})
const unread = async (headers?: Record<string, string>) =>
  (
    (await admin.ask('/admin/mappings/unread', headers && { headers })).json as {
      results: UnreadJson[]
    }
  ).results
const put = (name: string, body: unknown, query = '') =>
  admin.ask(`/admin/mappings/${name}${query}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const WEBHOOK = { method: 'POST', uri: '/', headers: {} }
const READ = { authorization: `Bearer ${READ_TOKEN}` }

const sender = (n: number) => ({ at: 1e12 + n, address: `192.0.2.1:${n}`, transport: 'http', evidence: [] })

describe('JSON that was not understood', () => {
  it('JSON that was not understood is listed with a proposed mapping, which can be tried and saved for all gateways', async () => {
    const [one, other] = [await gateway(), await gateway()]
    await expect.poll(() => post(one, track(0)), soon).toBe(400)
    await expect.poll(async () => (await unread()).length, soon).toBe(1)
    const [found] = await unread()
    expect(found).toMatchObject({ payloads: expect.any(Number), transport: 'http', protocol: 'osmand' })
    expect(JSON.parse(found.sample ?? '')).toMatchObject({ tracker: ID })
    expect(found.proposal).toMatchObject({
      mapping: {
        device: '$.tracker',
        each: '$.track[*]',
        lat: 'latitude',
        lon: 'longitude',
        time: 'ts',
        time_format: 's',
      },
    })
    // A read token sees no payload.
    expect((await unread(READ)).map(({ sample }) => sample)).toEqual([undefined])

    const tried = (await put('own', MAPPING, '?dry_run=true')).json as MappingPutJson
    expect(tried.tried).toMatchObject({
      understood: tried.tried.payloads,
      results: [{ device: ID, count: 1, fixes: [{ lat: 52.5, lon: 13.4, speed: 10 }] }],
    })
    expect(await post(one, track(1))).toBe(400)

    expect((await put('own', MAPPING)).status).toBe(200)
    let second = 2
    for (const each of [one, other]) await expect.poll(() => post(each, track(second++)), soon).toBe(200)
    expect((await custodyCounters(admin.redis)).get('received')).toBeGreaterThan(1)
    expect(await unread()).toEqual([])
    expect((await admin.ask('/admin/mappings')).json).toEqual({
      results: [{ name: 'own', source: 'saved', mapping: MAPPING, at: expect.any(String), by: 'admin.tokens[0]' }],
    })

    expect((await admin.ask('/admin/mappings/own', { method: 'DELETE' })).json).toEqual({ deleted: 1 })
    await expect.poll(() => post(other, track(second++)), soon).toBe(400)
    expect((await admin.ask('/admin/audit')).json).toMatchObject({
      results: [{ summary: { mapping: 'own' } }, { summary: { mapping: 'own', understood: expect.any(Number) } }],
    })
  })

  it('JSON that was not understood is listed once for each product, with a proposal if it has a place', async () => {
    const role = await gateway()
    await expect.poll(() => post(role, { position: { latitude: 52.5, longitude: 13.4 } }), soon).toBe(400)
    await post(role, { position: { latitude: 52.6, longitude: 13.4 } })
    await post(role, [{ temperature: 21, sensor: 'x' }])
    await expect.poll(async () => (await unread()).length, soon).toBe(2)
    const kinds = (await unread()).map(({ payloads, proposal }) => [payloads, proposal?.mapping])
    expect(kinds).toEqual(
      expect.arrayContaining([
        [expect.any(Number), { lat: '$.position.latitude', lon: '$.position.longitude' }],
        [1, undefined],
      ]),
    )
    const tried = await put('own', { lat: '$.position.latitude', lon: '$.position.longitude' }, '?dry_run=true')
    expect((tried.json as MappingPutJson).tried).toMatchObject({ understood: 0 })
    expect(JSON.stringify(tried.json)).toContain('the address has no id')
  })

  it('JSON that was not understood shows no secret of a device', async () => {
    const role = await gateway()
    const secret = { ...track(0), key: 'canary-secret', nested: [{ url: 'https://x/?t=canary-secret' }] }
    await expect.poll(() => post(role, secret), soon).toBe(400)
    await expect.poll(async () => (await unread()).length, soon).toBe(1)
    expect(JSON.stringify(await unread())).not.toContain('canary')
    expect(JSON.stringify((await admin.ask('/admin/arrivals')).json)).not.toContain('canary')
  })

  it('JSON that was not understood is listed in bounded steps in an answer of bounded length', async () => {
    const { redis } = admin
    const longName = 'x'.repeat(1400)
    const inside = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`lat${n}`, 1]))
    const json = (n: number) => JSON.stringify({ [`${n}${longName}`]: { ...inside, lat: 52.5, lon: 13.4 } })
    const senders = Array.from({ length: 500 }, (_, n) => JSON.stringify({ ...sender(n), json: json(n) }))
    const said: string[][] = []
    const monitor = await redis.shards[0].duplicate().monitor()
    monitor.on('monitor', (_: string, command: string[]) => void said.push(command))
    await redis.lpush(keys.arrivals, ...senders)
    // The index of the devices reads them once, all.
    await until(() => expect(said).toContainEqual(['lrange', keys.arrivals, '0', '-1']))
    const devices = Array.from({ length: 5000 }, (_, n) => [`d${n}`, JSON.stringify({ ...sender(n), device: `d${n}` })])
    await redis.hset(keys.arrivedDevices, ...devices.flat())
    const nested = Buffer.from('['.repeat(8000) + ']'.repeat(8000))
    for (let n = 0; n < 150; n++)
      await keepFrame(redis, ID, { at: 2e12 + n, transport: 'http', content: { ...WEBHOOK, body: nested } })

    said.length = 0
    const { text, json: answer } = await admin.ask('/admin/mappings/unread')
    await until(() => expect(said.length).toBeGreaterThan(10))
    monitor.disconnect()
    const kinds = (answer as { results: UnreadJson[] }).results
    expect(kinds.length).toBeGreaterThan(10)
    expect(Math.max(...kinds.map(({ kind }) => kind.length))).toBeLessThan(1000)
    expect(text.length).toBeLessThan(1_000_000)
    expect(said.filter(([, key]) => key === keys.arrivedDevices)).toEqual([])
    const lengths = said.map(([command, , ...more]) => {
      if (command === 'lrange') return Number(more[1]) < 0 ? Infinity : Number(more[1]) - Number(more[0]) + 1
      return command === 'hmget' ? more.length : 0
    })
    expect(Math.max(...lengths)).toBeLessThanOrEqual(50)
    // The name of a kind is part of a URL.
    const { status, json: tried } = await put(
      'own',
      MAPPING,
      `?dry_run=true&kind=${encodeURIComponent(kinds.at(-1)!.kind)}`,
    )
    expect([status, (tried as MappingPutJson).tried.payloads]).toEqual([200, expect.any(Number)])
    expect((tried as MappingPutJson).tried.payloads).toBeGreaterThan(0)
  })

  it('JSON that was not understood is in no other answer, and a body that is no JSON is not listed', async () => {
    const role = await gateway()
    await expect.poll(() => post(role, track(0)), soon).toBe(400)
    await post(role, 'lat=5')
    await expect.poll(async () => (await unread()).length, soon).toBe(1)
    const { results } = (await admin.ask('/admin/arrivals')).json as { results: object[] }
    expect(results.length).toBeGreaterThan(0)
    for (const each of results) expect(Object.keys(each)).not.toContain('json')
  })
})

describe('PUT /admin/mappings', () => {
  it.each([
    [{ lat: 'a' }, /^lon: missing/],
    [{ lat: 'a..b', lon: 'c' }, /^lat: expected a path to one value/],
    [{ lat: 'a', lon: 'c', colour: 'd' }, /^colour: unknown key/],
    [[], /^the body must be an object/],
    [{ lat: { code: 'x' }, lon: 'c' }, /^lat: /],
  ])('PUT /admin/mappings refuses %j', async (mapping, message) => {
    const { status, json } = await put('own', mapping)
    expect([status, (json as { message: string }).message]).toEqual([422, expect.stringMatching(message)])
    expect((await admin.ask('/admin/mappings')).json).toEqual({ results: [] })
  })

  it('PUT /admin/mappings refuses an invalid name, a misspelt dry run, and a token that may only read', async () => {
    expect((await put('a%20b', MAPPING)).status).toBe(422)
    expect((await put('own', MAPPING, '?dryrun=true')).status).toBe(422)
    const body = JSON.stringify(MAPPING)
    const headers = { ...READ, 'content-type': 'application/json' }
    expect((await admin.ask('/admin/mappings/own', { method: 'PUT', headers, body })).status).toBe(403)
    expect((await admin.ask('/admin/mappings/own?dry_run=true', { method: 'PUT', headers, body })).status).toBe(200)
    expect((await admin.ask('/admin/mappings/own', { method: 'DELETE' })).status).toBe(404)
  })

  it('PUT /admin/mappings answers 409 to a 51st mapping', async () => {
    const saved = Array.from({ length: 50 }, (_, index) => put(`m${index}`, MAPPING))
    expect((await Promise.all(saved)).every(({ status }) => status === 200)).toBe(true)
    expect((await put('one-more', MAPPING)).status).toBe(409)
    expect((await put('m7', { ...MAPPING, heading: 'h' })).status).toBe(200)
  })
})

const write = (dir: string, text: string) => writeFile(join(dir, 'mappings.yaml'), text)
const listed = async () =>
  ((await admin.ask('/admin/mappings')).json as { results: { name: string; source: string }[] }).results.map(
    ({ name, source }) => `${name} ${source}`,
  )
const codes = async () => {
  const { findings } = (await admin.ask('/admin/status')).json as {
    findings: { code: string; subject: { file?: string } }[]
  }
  return findings.filter(({ code }) => code === 'config_refused').map(({ subject }) => subject.file)
}
const isReloaded = async () => (await metrics.configReloadSuccessful.get()).values[0].value

describe('mappings.yaml', () => {
  it('mappings.yaml is reloaded, but a mistake in it becomes a finding and is not in effect', async () => {
    onTestFinished(() => rm(join(admin.dir, 'mappings.yaml'), { force: true }))
    await write(admin.dir, 'fleet: { device: a, lat: b, lon: c }\n')
    await expect.poll(listed, soon).toEqual(['fleet mappings.yaml'])
    expect((await put('fleet', MAPPING)).status).toBe(409)
    expect((await admin.ask('/admin/mappings/fleet', { method: 'DELETE' })).status).toBe(409)
    await write(admin.dir, 'fleet: { device: a, lat: b }\n')
    await expect.poll(codes, soon).toEqual(['mappings.yaml'])
    expect(await listed()).toEqual(['fleet mappings.yaml'])
    await write(admin.dir, 'fleet: { device: a, lat: b, lon: c }\nother: { lat: b, lon: c }\n')
    await expect.poll(listed, soon).toEqual(['fleet mappings.yaml', 'other mappings.yaml'])
    await expect.poll(codes, soon).toEqual([])
  })

  it('a mapping of mappings.yaml decodes a listener and a broker topic, also after a mistake and its removal', async () => {
    const dir = await folder({
      'gateway.yaml': `
redis: { url: "${admin.server.url}" }
data_dir: ${admin.dir}/other
companies: [{ company_id: 7, apikey: k }]
log: { level: fatal }
listeners: [{ transport: http, protocol: "map:fleet", port: 0, host: 127.0.0.1 }]
mqtt: { broker: { host: 127.0.0.1, port: 0 } }
`,
      'mappings.yaml': 'fleet: { device: a, lat: b, lon: c }\n',
    })
    const live = await followConfig({ dir, protocols: protocolPorts, role: 'gateway', followsFiles: false })
    const role = await startGateway(live, { redisServer: admin.server.url, ports: {} })
    onTestFinished(() => role.close())
    let place = 0
    const sends = async (key: string) => {
      const body = JSON.stringify({ [key]: ID, b: 52.5 + place++ / 1e4, c: 13.4 })
      return (await fetch(`http://127.0.0.1:${role.ports?.['http/map:fleet']}/x`, { method: 'POST', body })).status
    }
    await expect.poll(() => sends('a'), soon).toBe(200)
    expect(await sends('z')).toBe(400)

    const publisher = await client(role.ports?.mqtt ?? 0, { username: ID })
    const received = async () => (await custodyCounters(admin.redis)).get('received') ?? 0
    const before = await received()
    await publisher.publishAsync(`devices/${ID}/map:fleet`, JSON.stringify({ b: 52.6, c: 13.5 }), { qos: 1 })
    expect(await received()).toBe(before + 1)

    await write(dir, 'fleet: { device: z, lat: b, lon: c }\n')
    await expect.poll(() => sends('z'), soon).toBe(200)
    expect(await sends('a')).toBe(400)
    for (const text of ['fleet: { device: a }\n', 'another: { device: a, lat: b, lon: c }\n', '']) {
      await write(dir, text)
      await expect.poll(isReloaded, soon).toBe(0)
      expect([live.mappings().size, await sends('z')]).toEqual([1, 200])
      await write(dir, 'fleet: { device: z, lat: b, lon: c }\n')
      await expect.poll(isReloaded, soon).toBe(1)
    }
  })
})
