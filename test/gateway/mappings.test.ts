import { expect, it } from 'vitest'
import fix from '../../protocols/fix/index.ts'
import type { Protocol } from '../../protocols/kit/index.ts'
import osmand from '../../protocols/osmand/index.ts'
import { readMappings } from '../../src/config/mappings.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { Mappings } from '../../src/gateway/mappings.ts'
import type { Device } from '../../src/config/devices.ts'
import { custodyCounters, readFrames, type Store } from '../../src/store/index.ts'
import { deleteMapping, saveMapping } from '../../src/store/mappings.ts'
import { redisGateway } from '../support/redis-gateway.ts'
import { withRedis } from '../support/with-redis.ts'

const NOW = Math.floor(Date.now() / 1000)
const ID = '356307042441013'
const VAN: Device = { id: ID, company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }
const OWN = { device: '$.who', each: '$.points[*]', time: 't', lat: 'y', lon: 'x' }
const soon = { timeout: 30_000 }

let redis: Store
withRedis((_, connected) => (redis = connected))

const named = (list: readonly Protocol[]) => async (name: string) => list.find((protocol) => protocol.name === name)
const ofFile = (text = '') => readMappings({ text }).mappings ?? new Map()
const saved = (mapping: object) => ({ mapping, at: 0, by: 'test' })

/** The JSON of a product that nobody knows: `count` positions of a device. */
const json = (who: string, ...seconds: number[]) =>
  JSON.stringify({ who, points: seconds.map((second) => ({ t: NOW + second, y: 52.5 + second / 1e4, x: 13.4 })) })

const posted = (body: string, uri = '/') => ({ method: 'POST', uri, headers: {}, body: Buffer.from(body) })

async function opened(text = '') {
  let changes = 0
  const mappings = new Mappings(redis, ofFile(text), () => changes++)
  const gateway = await redisGateway(redis, { devices: [VAN], protocolNamed: named([osmand, fix]), mappings })
  const take = (body: string, protocol: Protocol = osmand) =>
    gateway.ingest.take(posted(body), new Conversation('http', '10.1.2.3:4001'), protocol)
  const publish = (body: string) => {
    const session = new Conversation('mqtt', 'bridge b', { device: ID, bridge: 'b', isRelayed: true })
    return gateway.ingest.take(Buffer.from(body), session, fix)
  }
  const received = async () => (await custodyCounters(redis)).get('received') ?? 0
  return { mappings, gateway, take, publish, received, changes: () => changes }
}

it('a mapping reads JSON that the protocol of its port cannot read, and only while it is saved', async () => {
  const { mappings, received, take } = await opened()
  expect((await take(json(ID, 0))).status).toBe('misunderstood')
  await saveMapping(redis, 'own', saved(OWN))
  await mappings.look()
  const outcome = await take(json(ID, 1, 2))
  expect([outcome.status, await received()]).toEqual(['stored', 2])
  expect(outcome.shares?.[0]).toMatchObject({ fixes: [{ latitude: 52.5001 }, { latitude: 52.5002 }] })
  expect(outcome.shares?.[0].source.protocol.name).toBe('map:own')
  await deleteMapping(redis, 'own')
  await mappings.look()
  expect((await take(json(ID, 3))).status).toBe('misunderstood')
})

it('tries no mapping if the protocol of the port reads the JSON', async () => {
  const { mappings, gateway } = await opened()
  await saveMapping(redis, 'own', saved({ lat: 'la', lon: 'lo' }))
  await mappings.look()
  const session = new Conversation('mqtt', 'bridge b', { device: ID, bridge: 'b', isRelayed: true })
  const message = JSON.stringify({ lat: 1, lon: 2, timestamp: NOW, la: 5, lo: 6 })
  const { shares } = await gateway.ingest.take(Buffer.from(message), session, fix)
  expect(shares?.[0]).toMatchObject({ fixes: [{ latitude: 1 }], source: { protocol: { name: 'fix' } } })
})

it('keeps unread JSON over MQTT, and stores it once when a mapping is saved that reads it', async () => {
  const { mappings, gateway, publish, received, changes } = await opened()
  expect((await publish(json(ID, 0, 1))).status).toBe('stored')
  expect([await received(), (await readFrames(redis, { count: 9 })).length]).toEqual([0, 1])
  const redecoding = gateway.decodeAgain()
  await saveMapping(redis, 'own', saved(OWN))
  await mappings.look()
  expect(changes()).toBe(1)
  redecoding.rosterChanged(undefined)
  await expect.poll(received, soon).toBe(2)
  await expect.poll(async () => (await readFrames(redis, { count: 9 })).length, soon).toBe(0)
  // The same message again, as a broker may send it.
  await publish(json(ID, 0, 1))
  expect((await custodyCounters(redis)).get('filtered:duplicate')).toBe(2)
})

it('keeps JSON over MQTT that names another device than its topic', async () => {
  const { mappings, publish, received } = await opened()
  await saveMapping(redis, 'own', saved(OWN))
  await mappings.look()
  expect((await publish(json('356307042441021', 0))).status).toBe('stored')
  expect([await received(), (await readFrames(redis, { count: 9 })).length]).toEqual([0, 1])
  expect((await publish(json(`0${ID}`, 0))).status).toBe('stored')
  expect(await received()).toBe(1)
})

it('reads each message by the old or the new mapping while the mapping changes', async () => {
  const { mappings, take } = await opened()
  await saveMapping(redis, 'own', saved(OWN))
  await mappings.look()
  const swapped = { ...OWN, lat: 'x', lon: 'y' }
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      if (index % 10 === 5) {
        await saveMapping(redis, 'own', saved(index % 20 === 5 ? swapped : OWN))
        await mappings.look()
      }
      return take(json(ID, index))
    }),
  )
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['stored']))
  for (const { shares = [] } of outcomes)
    for (const { fixes } of shares)
      for (const { latitude, longitude } of fixes) {
        const [small, large] = [latitude, longitude].toSorted((one, other) => one - other)
        expect([small, large > 52]).toEqual([13.4, true])
      }
})

it('tries no mapping on a message that is longer than 8 KiB or no JSON', async () => {
  const { mappings, take } = await opened()
  await saveMapping(redis, 'own', saved(OWN))
  await mappings.look()
  const long = Array.from({ length: 400 }, (_, index) => index)
  expect((await take(json(ID, ...long))).status).toBe('misunderstood')
  expect((await take(`who=${ID}`)).status).not.toBe('stored')
})

const FILE = 'own: { device: a, lat: b, lon: c }\n'

it('mappings in effect are those of the file, and saved ones of other names', async () => {
  const { mappings } = await opened(FILE)
  await saveMapping(redis, 'own', saved(OWN))
  await saveMapping(redis, 'other', saved(OWN))
  await saveMapping(redis, 'later', saved({ mood: 'x' }))
  await mappings.look()
  expect(mappings.named('map:later')).toBeUndefined()
  expect(mappings.named('map:other')?.name).toBe('map:other')
  const session = new Conversation('http', '10.1.2.3:4001')
  const read = mappings.named('map:own')?.request?.(posted('{"a": "1", "b": 2, "c": 3}'), session)
  expect(read).toMatchObject({ device: '1' })
})

it('a mapping keeps its protocol object, and reads by the new definition when the file changes', async () => {
  const { changes, mappings } = await opened(FILE)
  const before = mappings.named('map:own')
  mappings.fileChanged(ofFile('own: { device: q, lat: b, lon: c }\n'))
  expect([mappings.named('map:own') === before, changes()]).toEqual([true, 1])
  const session = new Conversation('http', '10.1.2.3:4001')
  expect(before?.request?.(posted('{"q": "9", "b": 2, "c": 3}'), session)).toMatchObject({ device: '9' })
})
