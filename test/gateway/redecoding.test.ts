import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  DecodeError,
  type Fix,
  type HttpRequest,
  type Message,
  type Protocol,
  type Session,
  sessionState,
  type Transport,
} from '../../protocols/kit/index.ts'
import owntracks from '../../protocols/owntracks/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import {
  claimFrames,
  connect,
  custodyCounters,
  decodeAgain,
  keys,
  markReleasing,
  type Store,
  readFrames,
  receivedAt,
  type StoredFrame,
  surveyHeld,
  timestampOf,
} from '../../src/store/index.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { count, until } from '../support/listen.ts'
import { records } from '../support/records.ts'
import type { TestRedis } from '../support/redis.ts'
import { MAX_AGE_MS, redisGateway } from '../support/redis-gateway.ts'
import { createDirectory } from '../support/roster.ts'
import { encrypted } from '../support/secretbox.ts'
import { withRedis } from '../support/with-redis.ts'
import { setTimeout as sleep } from 'node:timers/promises'

const NOW_S = Math.floor(Date.now() / 1000)
const VAN: Device = { id: '0123', company_id: '7', courier_id: '42', route_id: '1', source: 'devices.yaml:1' }

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

const zoneOf = sessionState(() => ({ hours: 0 }))

/**
 * Lines: `login <device> [<secret>]`, `zone <hours>` (of the later fixes), `fix <s>`, and from version 2 on, or with the model
 * XT, `new <s> …` too: entries that are fixes, `?` or `none`. Every line is answered.
 */
function words(version: number, decoded: string[] = []): Protocol {
  function decode(frame: Buffer, session: Session): Message {
    decoded.push(frame.toString())
    const [word, ...rest] = frame.toString().split(' ')
    const reply = Buffer.from('ok')
    if (word === 'login') return { device: rest[0], secret: rest[1], none: 'login', reply }
    if (word === 'zone') zoneOf(session).hours = Number(rest[0])
    if (word === 'zone') return { none: 'zone', reply }
    if (word === 'damaged') throw new DecodeError('malformed')
    const isKnown = word === 'fix' || version > 1 || session.settingsOf().model === 'XT'
    if (!isKnown) return word === 'new' ? { fixes: [], reply } : { reply }
    if (rest[0] === 'none') return { none: 'no place', reply }
    const unreadable = rest.flatMap((entry, index) => (entry === '?' && version < 3 ? [index] : []))
    const readable = rest.filter((_, index) => !unreadable.includes(index))
    const fixes = readable.map((entry) => fixOf(entry === '?' ? `${NOW_S - 1}` : entry, session))
    return { fixes, reply, ...(unreadable.length > 0 && { unreadable }) }
  }

  return {
    name: 'words',
    devices: 'tests',
    acknowledges: 'fixes',
    decode,
    request: ({ body }: HttpRequest, session) => ({ ...decode(body, session), device: VAN.id }),
  }
}

/** `<device>/<s>`, `<s>`, or `now`: a fix without a time of its own. */
function fixOf(entry: string, session: Session): Fix {
  const [s, device] = entry.split('/').toReversed()
  const time = s === 'now' ? session.now : (Number(s) - zoneOf(session).hours * 3600) * 1000
  return { time, latitude: 52.5, longitude: 13.4, valid: true, ...(device !== undefined && { device }) }
}

/** A gateway on Redis, whose decoder is of this version. */
async function gateway(version: number, devices: Device[] = [VAN], lines: Assignment[] = []) {
  const decoded: string[] = []
  const protocol = words(version, decoded)
  const more = words(2, decoded)
  const named: Readonly<Record<string, Protocol>> = {
    words: protocol,
    more,
    owntracks,
    broken: { ...more, name: 'broken', tcp: { port: 1, frame: (bytes) => bytes.readInt32BE(bytes.length) } },
  }
  const { ingest, ...made } = await redisGateway(redis, { devices, lines, protocolNamed: async (name) => named[name] })
  return {
    ...made,
    /** Every line that was decoded. */
    decoded,
    /** Says the lines on a session of its own. Returns how many were answered. `about`: properties of the session. */
    async say(said: readonly (string | HttpRequest)[], transport: Transport = 'tcp', about: object = {}) {
      const session = Object.assign(new Conversation(transport, '127.0.0.1:1'), about)
      let answered = 0
      for (const each of said) {
        const frame = typeof each === 'string' ? Buffer.from(each) : each
        if ((await ingest.take(frame, session, protocol)).status === 'stored') answered++
      }
      return answered
    },
    /** Takes an encrypted location of OwnTracks. */
    post: (seconds: number, key: string) =>
      ingest.take(location(seconds, key), new Conversation('http', '127.0.0.1:1'), owntracks),
  }
}

/** An encrypted location of OwnTracks. */
function location(seconds: number, key: string): HttpRequest {
  const content = { _type: 'location', tst: NOW_S - seconds, lat: 52.5, lon: 13.4 }
  const body = Buffer.from(JSON.stringify(encrypted(content, key)))
  return { method: 'POST', uri: `/pub?u=${VAN.id}`, headers: {}, body }
}

const login = `login ${VAN.id}`
const withSecret = (secret: string): Device[] => [{ ...VAN, secret }]
const entry = (seconds: number) => `new ${NOW_S - seconds}`
const frames = () => readFrames(redis, { count: 1000 })
const waiting = async (route = '1', courier = '42', company = '7') =>
  records(Buffer.concat(await redis.lrangeBuffer(keys.lane(`${company}/${courier}/${route}`), 0, -1)))
const timesIn = async (...lane: string[]) => (await waiting(...lane)).map((record) => timestampOf(record) - NOW_S)
const left = (reason: string) => count('misunderstood_left_total', { reason })
const line = (route_id: string, from: number, to: number): Assignment => {
  return { device: VAN.id, courier_id: '42', route_id, from, until: to, source: 'routes.csv:2' }
}
/** Waits until every device has been looked at once, and none is due. */
async function settled(): Promise<void> {
  await until(async () => {
    const scores = await redis.zrange(keys.misunderstood('due'), '0', '-1', 'WITHSCORES')
    const dueAt = scores.filter((_, index) => index % 2 === 1).map(Number)
    expect(dueAt.filter((at) => at < Date.now() || at === Infinity)).toEqual([])
  })
}

const dueInMs = async () => Number(await redis.zscore(keys.misunderstood('due'), VAN.id)) - Date.now()

it.each(['tcp', 'udp', 'mqtt', 'http'] as const)(
  'decodes a frame over %s again after an upgrade, and stores its fixes by their own times, in order',
  async (transport) => {
    const before = await gateway(1)
    const said = [entry(30), entry(20)].map((each) =>
      transport === 'http' ? { method: 'POST', uri: '/', headers: {}, body: Buffer.from(each) } : each,
    )
    expect(await before.say(said, transport, { device: VAN.id })).toBe(2)
    expect([(await frames()).length, await timesIn()]).toEqual([2, []])
    const after = await gateway(2, [VAN], [line('9', NOW_S - 25, NOW_S)])
    after.decodeAgain()
    await until(async () => expect(await frames()).toEqual([]))
    expect([await timesIn(), await timesIn('9')]).toEqual([[-30], [-20]])
    expect(await redis.keys('*misunderstood*')).toEqual([])
    const counters = await custodyCounters(redis)
    expect([counters.get('received'), counters.get('filtered:duplicate')]).toEqual([2, undefined])
  },
)

it('keeps a frame as long as no version understands it', async () => {
  const all = await gateway(1)
  await all.say([login, entry(30)])
  const kept = await frames()
  all.decodeAgain()
  await settled()
  expect(await frames()).toEqual(kept)
})

it('decodes a frame again with what the beginning of its conversation said', async () => {
  await (await gateway(1)).say([login, 'zone 3', entry(-3 * 3600 + 40)])
  const after = await gateway(2)
  after.decodeAgain()
  await until(async () => expect(await timesIn()).toEqual([-40]))
})

it('a fix without a time that is decoded again has the time of its arrival, and counts as received now', async () => {
  const began = Date.now()
  const zoned = { ...VAN, time_zone: '+03:00' }
  await (await gateway(1, [zoned])).say([login, 'new now'])
  const [{ text }] = await frames()
  const { at } = JSON.parse(text) as { at: number }
  const after = await gateway(2, [zoned])
  after.decodeAgain()
  await until(async () => expect(await timesIn()).toHaveLength(1))
  const [record] = await waiting()
  expect(timestampOf(record)).toBe(Math.floor(at / 1000))
  expect(receivedAt(record)).toBeGreaterThan(at)
  expect(at).toBeGreaterThanOrEqual(began)
})

it('gives up a frame with positions after filter.max_age, and counts it', async () => {
  const before = await left('max_age')
  for (const [kind, ageMs] of [
    ['position', 600_000],
    ['unknown', -600_000],
    ['position', -600_000],
  ] as const)
    await keepFrame(redis, VAN.id, { kind, at: Date.now() - MAX_AGE_MS - ageMs, protocol: 'words' })
  ;(await gateway(1)).decodeAgain()
  await until(async () => expect(await frames()).toHaveLength(2))
  expect(await left('max_age')).toBe(before + 1)
})

it('does not give up a frame because its own clock has jumped ahead', async () => {
  await (await gateway(1)).say([login, entry(30)])
  const after = await gateway(1)
  after.clock.now = () => {
    after.clock.isInDoubt = true
    return Date.now()
  }
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * MAX_AGE_MS })
  onTestFinished(() => void vi.useRealTimers())
  after.decodeAgain()
  await until(() => expect(after.decoded).toContain(entry(30)))
  expect(await frames()).toHaveLength(1)
})

it('drops a frame that turns out to hold no position, and counts it', async () => {
  const before = await left('no_position')
  await (await gateway(1)).say([login, 'new none'])
  ;(await gateway(2)).decodeAgain()
  await until(async () => expect(await frames()).toEqual([]))
  expect([await left('no_position'), await timesIn()]).toEqual([before + 1, []])
})

it('delivers the fixes of a frame of an unknown type after an upgrade', async () => {
  const before = await left('understood')
  await (await gateway(1)).say([login, `other ${NOW_S - 5}`])
  ;(await gateway(2)).decodeAgain()
  await until(async () => expect(await timesIn()).toEqual([-5]))
  await until(async () => expect(await frames()).toEqual([]))
  expect(await left('understood')).toBe(before + 1)
})

it('stores only the entries that could not be read before, though the marks of duplicates are gone', async () => {
  await (await gateway(2)).say([login, `fix ${NOW_S - 3} ? ${NOW_S - 2}`])
  expect([await timesIn(), (await frames()).length]).toEqual([[-3, -2], 1])
  const marks = await redis.keys(`${keys.marksPrefix}*`)
  await redis.del(...marks)
  ;(await gateway(3)).decodeAgain()
  await until(async () => expect(await timesIn()).toEqual([-3, -2, -1]))
  await until(async () => expect(await frames()).toEqual([]))
})

it('keeps a frame for its entries that are still not read, and reads none twice', async () => {
  await (await gateway(1)).say([login, `new ${NOW_S - 3} ?`])
  const second = await gateway(2)
  second.decodeAgain()
  await until(async () => expect(await timesIn()).toEqual([-3]))
  await until(async () => expect(view(await frames())).toMatchObject([{ unreadable: [1], reason: 'entries' }]))
  await redis.del(...(await redis.keys(`${keys.marksPrefix}*`)))
  ;(await gateway(3)).decodeAgain()
  await until(async () => expect(await timesIn()).toEqual([-3, -1]))
  await until(async () => expect(await frames()).toEqual([]))
})

it('holds the fixes of a frame that is decoded again if the device has no route', async () => {
  const { route_id: _, ...unrouted } = VAN
  await (await gateway(1)).say([login, entry(30)])
  ;(await gateway(2, [unrouted])).decodeAgain()
  await until(async () => expect(await frames()).toEqual([]))
  const held = await Array.fromAsync(surveyHeld(redis))
  expect(held.map(({ device, fixes, reason }) => [device, fixes, reason])).toEqual([['0123', 1, 'no_route']])
})

it('stores fixes of a frame that is decoded again for the devices of its company alone', async () => {
  const others = ['5', '6', '7'].map((id) => ({ ...VAN, id, courier_id: id }))
  const foreign = { ...others[1], company_id: '8' }
  const guarded = { ...others[2], secret: 'canary' }
  await (await gateway(1)).say([login, `new 0123/${NOW_S - 4} 5/${NOW_S - 3} 6/${NOW_S - 2} 7/${NOW_S - 1}`])
  ;(await gateway(2, [VAN, others[0], foreign, guarded])).decodeAgain()
  await until(async () => expect(await frames()).toEqual([]))
  const lanes = [await timesIn(), await timesIn('1', '5'), await timesIn('1', '6', '8'), await timesIn('1', '7')]
  expect(lanes).toEqual([[-4], [-3], [], []])
})

it('stores a frame once though two gateways decode it, and one ends before it has dropped it', async () => {
  await (await gateway(1)).say([login, entry(30), entry(20), entry(10)])
  const kept = await redis.dumpBuffer(keys.misunderstood('frames'))
  const [one, other] = [await gateway(2), await gateway(2)]
  one.decodeAgain()
  other.decodeAgain()
  await until(async () => expect(await frames()).toEqual([]))
  // As if none had been dropped: the frames are there again.
  await redis.restore(keys.misunderstood('frames'), 0, kept)
  const again = await redis.hgetall(keys.misunderstood('frames'))
  for (const id of Object.keys(again)) {
    await redis.zadd(keys.misunderstood('position'), 0, id)
    await redis.zadd(keys.misunderstood('position:0123'), 0, id)
  }
  await redis.zadd(keys.misunderstood('due'), 0, '0123')
  await until(async () => expect(await frames()).toEqual([]))
  // Each gateway takes the frames in their order, and either may be ahead.
  expect((await timesIn()).toSorted((a, b) => a - b)).toEqual([-30, -20, -10])
  const counters = await custodyCounters(redis)
  const duplicates = counters.get('filtered:duplicate') ?? 0
  // Both gateways may have decoded them at the same time as well.
  expect([duplicates >= 3, (counters.get('received') ?? 0) - duplicates]).toEqual([true, 3])
})

it('keeps a frame while Redis is away, and delivers its fixes afterwards', async () => {
  await (await gateway(1)).say([login, entry(30)])
  const after = await gateway(2)
  after.replica.current = false
  after.decodeAgain()
  await server.kill('SIGKILL')
  after.replica.current = true
  await until(() => expect(redis.status).not.toBe('ready'))
  await server.restart()
  await until(async () => expect(await timesIn()).toEqual([-30]))
})

it('decodes the frames that another gateway had claimed when its machine was lost', async () => {
  await (await gateway(1)).say([login, entry(30)])
  const after = await gateway(2)
  after.decodeAgain()
  await until(async () => expect([await frames(), await timesIn()]).toEqual([[], [-30]]))
  after.replica.current = false
  // The end of a look.
  await sleep(100)
  await (await gateway(1)).say([login, entry(20)])
  await decodeAgain(redis)
  expect(await claimFrames(redis)).toBe(VAN.id)
  // Ten minutes pass.
  await redis.zincrby(keys.misunderstood('due'), -600_000, VAN.id)
  after.replica.current = true
  await until(async () => expect(await timesIn()).toEqual([-30, -20]))
})

it('decodes the frames of a device again when its model changes, and none of other devices', async () => {
  const other = { ...VAN, id: '9', courier_id: '9' }
  const all = await gateway(1, [VAN, other])
  await all.say([login, entry(30)])
  await all.say(['login 9', entry(20)])
  const redecoding = all.decodeAgain()
  for (const each of [entry(30), entry(20)])
    await until(() => expect(all.decoded.filter((said) => said === each)).toHaveLength(2))
  await settled()
  all.replica.roster = await createDirectory(
    [VAN, other].map((device) => ({ ...device, model: 'XT' })),
    [],
  )
  redecoding.rosterChanged(new Set(['123']))
  await until(async () => expect(await timesIn()).toEqual([-30]))
  await settled()
  expect([await timesIn('1', '9'), (await frames()).length]).toEqual([[], 1])
  redecoding.rosterChanged(undefined)
  await until(async () => expect(await timesIn('1', '9')).toEqual([-20]))
})

it('decodes a frame again that another gateway kept by the earlier mapping after the mapping had changed', async () => {
  const [before, after] = [await gateway(1), await gateway(2)]
  const redecoding = after.decodeAgain()
  onTestFinished(() => void vi.restoreAllMocks())
  const looked = vi.spyOn(redis, 'zunionstore')
  redecoding.mappingsChanged()
  await until(() => expect(looked).toHaveBeenCalled())
  await before.say([login, entry(30)])
  await sleep(1500)
  expect([(await frames()).length, await timesIn()]).toEqual([1, []])
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
  await until(async () => expect(await timesIn()).toEqual([-30]))
})

it('reads frames as they came if the framer of the new protocol of their device has a fault', async () => {
  const all = await gateway(1)
  await all.say([login, entry(30)], 'tcp', { evidence: ['it is a login'] })
  const redecoding = all.decodeAgain()
  await settled()
  all.replica.roster = await createDirectory([{ ...VAN, protocol: 'broken' }], [])
  redecoding.rosterChanged(new Set(['123']))
  await until(async () => expect(await timesIn()).toEqual([-30]))
})

it('reads frames whose protocol was guessed by the new protocol of their device, and no others', async () => {
  const all = await gateway(1)
  await all.say([login, entry(30)], 'tcp', { evidence: ['it is a login'] })
  await all.say([login, entry(20)])
  const redecoding = all.decodeAgain()
  await settled()
  all.replica.roster = await createDirectory([{ ...VAN, protocol: 'more' }], [])
  redecoding.rosterChanged(new Set(['123']))
  await until(async () => expect(await timesIn()).toEqual([-30]))
  await settled()
  expect(view(await frames())).toMatchObject([{ frame: Buffer.from(entry(20)).toString('base64') }])
})

it('discards frames of a device that is given to another company, and counts them', async () => {
  const before = await left('other_company')
  const all = await gateway(1)
  await all.say([login, entry(30)])
  ;(await gateway(2, [{ ...VAN, company_id: '8' }])).decodeAgain()
  await until(async () => expect(await frames()).toEqual([]))
  expect([await left('other_company'), await timesIn(), await timesIn('1', '42', '8')]).toEqual([before + 1, [], []])
})

it('keeps frames of a device that is taken away until it is configured again', async () => {
  await (await gateway(1)).say([login, entry(30)])
  const after = await gateway(2, [])
  const redecoding = after.decodeAgain()
  await settled()
  expect(await frames()).toHaveLength(1)
  after.replica.roster = await createDirectory([VAN], [])
  redecoding.rosterChanged(new Set(['123']))
  await until(async () => expect(await timesIn()).toEqual([-30]))
})

it('delivers frames from before a device was configured, unless its entry asks for a proof', async () => {
  const all = await gateway(1, [])
  await all.say(['login 0123', entry(30)])
  const after = await gateway(2, [{ ...VAN, secret: 'canary' }])
  const redecoding = after.decodeAgain()
  await settled()
  expect(view(await frames())).toMatchObject([{ device: '123' }])
  after.replica.roster = await createDirectory([VAN], [])
  redecoding.rosterChanged(new Set(['123']))
  await until(async () => expect(await timesIn()).toEqual([-30]))
})

const SECRET = 'a secret of the van'

it('reads an encrypted frame once its device has the secret that opens it, which proves the device', async () => {
  const { post } = await gateway(1)
  expect(await post(30, SECRET)).toMatchObject({ status: 'stored' })
  expect(await post(20, 'another secret')).toMatchObject({ status: 'stored' })
  expect(view(await frames())).toMatchObject([{ reason: 'not_read' }, { reason: 'not_read' }])
  ;(await gateway(1, withSecret(SECRET))).decodeAgain(SECRET)
  await until(async () => expect(await timesIn()).toEqual([-30]))
  await settled()
  expect(await frames()).toHaveLength(1)
})

it.each([
  ['the roster has another secret', withSecret('put by the admin port'), SECRET],
  ['its entry asks for another network', [{ ...VAN, secret: SECRET, networks: ['198.51.100.0/24'] }], SECRET],
  ['no file has its secret', withSecret(SECRET), undefined],
])('keeps an encrypted frame if %s', async (_, devices, secret) => {
  await (await gateway(1)).post(30, SECRET)
  ;(await gateway(1, devices)).decodeAgain(secret)
  await settled()
  expect([await timesIn(), await frames()]).toMatchObject([[], [{}]])
})

it('decodes an encrypted frame again soon if the files of one gateway do not have its secret yet', async () => {
  await (await gateway(1)).post(30, SECRET)
  const [lagging, latest] = [await gateway(1, withSecret(SECRET)), await gateway(1, withSecret(SECRET))]
  const redecoding = lagging.decodeAgain()
  await until(async () => expect(await dueInMs()).toBeGreaterThan(0))
  await until(async () => expect(await dueInMs()).toBeLessThan(300_001))
  await redecoding.close()
  latest.decodeAgain(SECRET)
  await until(async () => expect(await timesIn()).toEqual([-30]))
})

it('decodes an encrypted frame again by the protocol of the entry where another one was guessed', async () => {
  const content = location(30, SECRET)
  await keepFrame(redis, VAN.id, { protocol: 'gone', isGuess: true, transport: 'http', content })
  ;(await gateway(1, [{ ...VAN, secret: SECRET, protocol: 'owntracks' }])).decodeAgain(SECRET)
  await until(async () => expect(await timesIn()).toEqual([-30]))
})

it('decodes a frame again in which a secret is masked', async () => {
  await (await gateway(1, withSecret('canary'))).say([`${login} canary`, `${entry(30)} canary?`])
  const [{ text }] = await frames()
  expect(text).not.toContain(Buffer.from('canary').toString('base64').slice(0, 6))
  ;(await gateway(2, withSecret('canary'))).decodeAgain()
  await until(async () => expect(await timesIn()).toContain(-30))
})

it('keeps a frame whose masked secret is so short that it may have been something else', async () => {
  await (await gateway(1, withSecret('30'))).say([`${login} 30`, `new ${NOW_S} 30`])
  ;(await gateway(2, withSecret('30'))).decodeAgain()
  await settled()
  expect(view(await frames())).toMatchObject([{ masked: 'short' }])
})

function view(stored: readonly StoredFrame[]): object[] {
  return stored.map(({ text }) => JSON.parse(text) as object)
}

describe('three shards', () => {
  const before: { redis?: Store } = {}

  beforeAll(async () => {
    before.redis = redis
    redis = connect({ url: server.url, shards: 3 }, 'test')
    await until(() => expect(redis.shards.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready']))
  })
  afterAll(() => {
    redis.disconnect()
    if (before.redis) redis = before.redis
  })

  it.each(
    ['1', '3', '7'].flatMap((id, shard) =>
      ['before the shard is told', 'before its devices are read', 'after its devices are read'].map(
        (moment) => [moment, shard, id] as const,
      ),
    ),
  )('decodes a frame of an outdated gateway again that comes %s, in shard %i', async (moment, number, id) => {
    const shard = redis.shards[number]
    expect(redis.shardOf(id)).toBe(shard)
    const van = { ...VAN, id }
    const lagging = await gateway(1, [van])
    const latest = await gateway(1, [van])
    lagging.replica.version = 1
    latest.replica.version = 1
    await redis.set(keys.rosterVersion, 1)
    await markReleasing(redis, 1, [])
    onTestFinished(() => void vi.restoreAllMocks())
    const begun = vi.spyOn(shard, 'zunionstore')
    const redecoding = latest.decodeAgain()
    await until(() => expect(begun).toHaveBeenCalled())
    let isComing = true
    let answered = 0
    const come = async () => {
      if (!isComing) return
      isComing = false
      answered = await lagging.say([`login ${id}`, entry(30)])
    }
    const [run, zrange] = [shard.run.bind(shard), shard.zrange.bind(shard)]
    vi.spyOn(shard, 'run').mockImplementation(async (script, ...rest) => {
      if (script === 'mark_releasing' && moment.startsWith('before the shard')) await come()
      return run(script, ...rest)
    })
    vi.spyOn(shard, 'zrange').mockImplementation(async (...args: unknown[]) => {
      if (moment.startsWith('before its')) await come()
      const found = await (zrange as (...args: unknown[]) => Promise<string[]>)(...args)
      if (moment.startsWith('after its')) await come()
      return found
    })
    // As if the gateway that lags behind ends before it has applied the change.
    await redis.set(keys.rosterVersion, 2)
    latest.replica.version = 2
    latest.replica.roster = await createDirectory([{ ...van, model: 'XT' }], [])
    redecoding.rosterChanged(new Set([id]))
    await until(async () => expect([answered, await frames()]).toEqual([2, []]))
    const lane = await shard.lrangeBuffer(shard.keyNames.lane('7/42/1'), 0, -1)
    expect(records(Buffer.concat(lane)).map((record) => timestampOf(record) - NOW_S)).toEqual([-30])
  })
})

it.each(['claimed', 'given back'])(
  'delivers a kept frame though Redis fails while its device is %s',
  async (moment) => {
    await (await gateway(1)).say([login, entry(30)])
    const after = await gateway(2)
    const [shard] = redis.shards
    const lost = new Error('Connection is closed.')
    onTestFinished(() => void vi.restoreAllMocks())
    const run = shard.run.bind(shard)
    const faults = vi.fn()
    if (moment === 'claimed')
      vi.spyOn(shard, 'run').mockImplementation(async (script, ...rest) => {
        const answer = await run(script, ...rest)
        if (script !== 'claim_held' || faults.mock.calls.length > 0) return answer
        faults()
        throw lost
      })
    else {
      vi.spyOn(shard, 'hmget').mockRejectedValueOnce(lost)
      vi.spyOn(shard, 'run').mockImplementation(async (script, ...rest) => {
        if (script !== 'end_claim' || faults.mock.calls.length > 0) return run(script, ...rest)
        faults()
        throw lost
      })
    }
    after.decodeAgain()
    await until(async () => expect(await timesIn()).toEqual([-30]))
    expect(faults).toHaveBeenCalledOnce()
  },
)
