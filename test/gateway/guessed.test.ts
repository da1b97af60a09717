import { createSocket } from 'node:dgram'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { DecodeError, endsWith, type Framer, line, type Message, type Protocol } from '../../protocols/kit/index.ts'
import { takeAccount } from '../../src/admin/custody.ts'
import type { Device } from '../../src/config/devices.ts'
import { Arrivals } from '../../src/gateway/arrivals.ts'
import { UnknownDeviceQuota } from '../../src/gateway/unknown-devices.ts'
import { FixStorage } from '../../src/gateway/fix-storage.ts'
import { GuessDelays } from '../../src/gateway/guesses.ts'
import { Holding } from '../../src/gateway/holding.ts'
import type { HoldOptions } from '../../src/gateway/place.ts'
import { Redecoding } from '../../src/gateway/redecoding.ts'
import { Trails } from '../../src/gateway/suspicion.ts'
import { Ingest } from '../../src/gateway/take.ts'
import { Detector } from '../../src/gateway/wire/detect.ts'
import { listenHttp } from '../../src/gateway/wire/http.ts'
import { listenMqtt } from '../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../src/gateway/wire/udp.ts'
import { createLogger } from '../../src/observe/log.ts'
import { surveyArrivals } from '../../src/store/arrivals.ts'
import {
  Appender,
  custodyCounters,
  DuplicateFilter,
  FrameStore,
  keys,
  positionOf,
  type Store,
  readFrames,
} from '../../src/store/index.ts'
import type { MisunderstoodFrame } from '../../src/store/misunderstood-frame.ts'
import { beating } from '../support/beat.ts'
import { journalOf } from '../support/journal.ts'
import { dial, gateway as listening, open, talk, until } from '../support/listen.ts'
import { connect, raw } from '../support/mqtt-bytes.ts'
import { records } from '../support/records.ts'
import { createDirectory } from '../support/roster.ts'
import { inEnglish } from '../support/texts.ts'
import { thrown } from '../support/thrown.ts'
import { withRedis } from '../support/with-redis.ts'
import { NO_MAPPINGS, NO_SECRETS } from '../support/unconfigured.ts'

/*
 * Three protocols that nothing tells apart: lines of `<word> <device> <degrees> <degrees>`. The first one has latitude and
 * longitude in this order, the second one in the other; the third one knows none of these words. The word `sure` is a checksum
 * that fits.
 */
const VAN: Device = {
  id: '356307042441013',
  company_id: '7',
  courier_id: '42',
  route_id: '1',
  source: 'devices.yaml:1',
}
const AT = { host: '127.0.0.1', port: 0 }
const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }
const HOLD = { unknown: true, no_route: true, clock: true, max_age: 86_400_000 }
const logger = createLogger('test', { level: 'fatal', format: 'json' })

function degrees(name: string, frame: Framer, order: readonly [number, number] | undefined): Protocol {
  return {
    name,
    devices: 'tests',
    acknowledges: 'fixes',
    tcp: { port: 1, frame },
    udp: { port: 1 },
    decode(bytes, session): Message {
      const [word, device, ...numbers] = bytes.toString().trim().replace(/;$/, '').split(' ')
      if (word === 'sure') session.hasVerified = true
      if (word === 'hello') return { device, none: 'login', reply: Buffer.from('hi\n') }
      if (!order || (word !== 'at' && word !== 'sure')) throw new DecodeError('malformed')
      const [latitude, longitude] = order.map((index) => Number.parseFloat(numbers[index]))
      return { device, fixes: [{ time: TIME, latitude, longitude, valid: true }], reply: Buffer.from('ok\n') }
    },
  }
}

const protocolNamed = async (name: string) => PROTOCOLS.find((protocol) => protocol.name === name)
const TIME = Math.floor(Date.now() / 1000) * 1000 - 60_000
const PROTOCOLS = [
  degrees('first', line, [0, 1]),
  degrees('second', endsWith(';', '\n'), [1, 0]),
  degrees('third', line, undefined),
]

let redis: Store
const closes: (() => Promise<void>)[] = []

withRedis((_, connection) => {
  redis = connection
})
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

/** A gateway on Redis with a port for all protocols. */
async function gateway(hold: HoldOptions = HOLD, waitMs = 0) {
  const replica = { current: true, version: 1, roster: await createDirectory([], []) }
  await redis.set(keys.roster('version'), 1)
  const shares = { markBytes: 1e9, heldFixes: 1e9, misunderstoodBytes: 1e9 }
  const duplicates = new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 })
  const limits = { maxFixesPerDevice: 100, maxFixesConfigured: 100, maxUnknownDevices: 10 }
  const appending = { maxWaitMs: 0, duplicates, shares, hold: limits }
  const appender = new Appender(redis, appending)
  const clock = { isInDoubt: false, jumps: 0, now: () => Date.now() }
  const arrivals = beating(new Arrivals({ redis, maxDevices: 10, replica, logger }), (each) => each.write())
  const journal = journalOf({ arrivals })
  const placing = { replica, filter: FILTER, hold, clock, journal, logger }
  const holding = beating(new Holding({ ...placing, redis, appender: appending }), (each) => each.look())
  const capacity = { hasShortage: false, isFull: false, shortageFor: () => undefined }
  const reading = { secrets: NO_SECRETS, mappings: NO_MAPPINGS }
  const storing = { ...placing, appender, capacity, holding, trails: new Trails() }
  const storage = new FixStorage(storing)
  const ingest = new Ingest({
    ...storing,
    storage,
    frameStore: new FrameStore(redis, shares),
    unknownDevices: new UnknownDeviceQuota(1000),
    guesses: new GuessDelays(),
    ...reading,
    enrolment: { isOpen: false },
    waitMs: { tcp: waitMs, mqtt: 0, http: 0, udp: 0 },
  })
  const decodeAgain = () => {
    const options = { ...reading, redis, protocolNamed, replica, storage, clock, journal, maxAgeMs: null, logger }
    const redecoding = beating(new Redecoding(options), (each) => each.look())
    closes.unshift(() => redecoding.close())
    return redecoding
  }
  const redecoding = decodeAgain()
  closes.push(
    () => holding.close(),
    () => arrivals.close(),
    () => appender.close(),
  )
  const configured = (id: string) => {
    const entry = replica.roster.find(id)
    return entry && (entry.protocol ?? '')
  }
  const detector = new Detector({ protocols: PROTOCOLS, configured, onFault: thrown })
  const shared = listening({ detector, ingest, journal })
  return {
    shared,
    replica,
    decodeAgain,
    async listen() {
      const { port } = await open(listenTcp({ ...AT, protocol: undefined }, shared))
      const peer = await dial(port)
      return { peer, port }
    },
    async configure(device: Device) {
      replica.roster = await createDirectory([device], [])
      replica.version++
      await redis.set(keys.roster('version'), replica.version)
      holding.rosterChanged(new Set([device.id]))
      redecoding.rosterChanged(new Set([device.id]))
    },
  }
}

/** A gateway to which the van has sent a line over TCP that was answered. */
async function heardOverTcp(text = `at ${VAN.id} 10 20\n`) {
  const all = await gateway()
  const { peer, port } = await all.listen()
  peer.say(text)
  await until(() => expect(peer.heard).toBe('ok\n'))
  return { ...all, peer, port }
}

const frames = async () =>
  (await readFrames(redis, { count: 100 })).map(({ text }) => JSON.parse(text) as MisunderstoodFrame)
const delivered = async () =>
  records(Buffer.concat(await redis.lrangeBuffer(keys.lane('7/42/1'), 0, -1)))
    .map((record) => positionOf(record))
    .map(({ latitude, longitude }) => [latitude, longitude])
const account = async () => {
  const { custody, discardedFor } = await takeAccount(redis)
  return { held: custody.held, difference: custody.difference, discarded: Object.fromEntries(discardedFor) }
}
/** How often lists were read. */
const reads = async () => Number(/cmdstat_lrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
const NOTHING_LOST = { held: 0, difference: 0, discarded: {} }
const GUESS_DISCARDED = { held: 0, difference: 0, discarded: { other_protocol: 1 } }

it('holds fixes with a guessed protocol and their frames, and shows in the arrivals why it is guessed', async () => {
  const { port } = await heardOverTcp()
  expect(await frames()).toMatchObject([{ reason: 'guessed', isGuess: true, protocol: 'first', device: VAN.id }])
  expect(await account()).toEqual({ held: 1, difference: 0, discarded: {} })
  await until(async () => {
    const [arrival] = await surveyArrivals(redis, () => false)
    expect(arrival).toMatchObject({ device: VAN.id, protocol: 'first', isGuess: true, port, waiting: 1 })
    expect(inEnglish(arrival.evidence)).toContain(`${VAN.id} is an IMEI`)
    expect(arrival.position).toMatchObject({ latitude: 10, longitude: 20 })
  })
})

it.each([
  ['no protocol', undefined],
  ['the guessed protocol', 'first'],
])('releases fixes with a guessed protocol, and drops their frames, if the entry names %s', async (_, protocol) => {
  const { configure } = await heardOverTcp()
  await configure({ ...VAN, protocol })
  await until(async () => expect(await delivered()).toEqual([[10, 20]]))
  await until(async () => expect(await frames()).toEqual([]))
  expect(await account()).toEqual(NOTHING_LOST)
  await until(async () => expect(await surveyArrivals(redis, (id) => id === VAN.id)).toEqual([]))
})

it('stores a fix with a guessed protocol in its lane if its device is configured meanwhile', async () => {
  const { configure, listen } = await gateway(HOLD, 60_000)
  const { peer } = await listen()
  const { keep } = FrameStore.prototype
  const keeping = vi.spyOn(FrameStore.prototype, 'keep').mockImplementationOnce(async function keepSlowly(
    this: FrameStore,
    frame,
  ) {
    const isKept = await keep.call(this, frame)
    await configure(VAN)
    return isKept
  })
  onTestFinished(() => keeping.mockRestore())
  peer.say(`at ${VAN.id} 10 20\n`)
  await until(() => expect(peer.heard).toBe('ok\n'))
  await until(async () => expect(await delivered()).toEqual([[10, 20]]))
  expect(await account()).toEqual(NOTHING_LOST)
})

it('discards fixes with a guessed protocol if the entry names another one, which then decodes the frames', async () => {
  const { configure } = await heardOverTcp()
  await configure({ ...VAN, protocol: 'second' })
  await until(async () => expect(await delivered()).toEqual([[20, 10]]))
  await until(async () => expect([await frames(), await account()]).toEqual([[], GUESS_DISCARDED]))
})

it('decodes a datagram as the protocol of the entry if its protocol was guessed', async () => {
  const all = await gateway()
  const { port } = await open(listenUdp({ ...AT, protocol: undefined }, all.shared))
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  socket.send(`at ${VAN.id} 10 20\n`, port, '127.0.0.1')
  await until(async () => expect(await account()).toMatchObject({ held: 1 }))
  await all.configure({ ...VAN, protocol: 'second' })
  await until(async () => expect(await delivered()).toEqual([[20, 10]]))
  await until(async () => expect([await frames(), await account()]).toEqual([[], GUESS_DISCARDED]))
})

it('cuts guessed frames anew if the protocol of the entry ends its frames elsewhere', async () => {
  const { configure, peer } = await heardOverTcp()
  peer.say(`at ${VAN.id} 30 40;at ${VAN.id} 50 60\n`)
  await until(() => expect(peer.heard).toBe('ok\nok\n'))
  expect((await frames()).map(({ protocol }) => protocol)).toEqual(['first', 'first'])
  await configure({ ...VAN, protocol: 'second' })
  const places = [
    [20, 10],
    [40, 30],
    [60, 50],
  ]
  await until(async () => expect(await delivered()).toEqual(places))
  await until(async () => expect(await account()).toMatchObject({ held: 0, discarded: { other_protocol: 2 } }))
})

it('keeps decoding as the protocol of the entry on a connection that stays open', async () => {
  const { configure, peer } = await heardOverTcp()
  await configure({ ...VAN, protocol: 'second' })
  await until(async () => expect(await delivered()).toEqual([[20, 10]]))
  peer.say(`at ${VAN.id} 30 40\n`)
  await until(async () =>
    expect(await delivered()).toEqual([
      [20, 10],
      [40, 30],
    ]),
  )
  await until(async () => expect((await account()).held).toBe(0))
  await until(() => expect(peer.heard).toBe('ok\nok\n'))
  expect((await account()).difference).toBe(0)
})

it('keeps fixes with a guessed protocol, and their frames, if the entry asks for a secret', async () => {
  const { configure } = await heardOverTcp()
  await configure({ ...VAN, protocol: 'second', secret: 'canary' })
  await until(async () => expect(Number(await redis.zscore(keys.misunderstood('due'), VAN.id))).toBeGreaterThan(0))
  expect([(await frames()).length, await account()]).toEqual([1, { held: 1, difference: 0, discarded: {} }])
})

it('does not lose fixes with a guessed protocol if the first choice of the entry cannot read them', async () => {
  const { configure } = await heardOverTcp()
  await configure({ ...VAN, protocol: 'third' })
  await until(async () => expect(await frames()).toMatchObject([{ reason: 'malformed', fixes: [] }]))
  await until(async () => expect(await account()).toEqual(GUESS_DISCARDED))
  await configure({ ...VAN, protocol: 'first' })
  await until(async () => expect(await delivered()).toEqual([[10, 20]]))
  await until(async () => expect([await frames(), await account()]).toEqual([[], GUESS_DISCARDED]))
})

it('delivers fixes with a guessed protocol once though their decoder ended before it dropped the frame', async () => {
  const { configure, decodeAgain } = await heardOverTcp()
  const prefix = keys.misunderstood('')
  const kept = await Promise.all(
    (await redis.keys(`${prefix}*`)).map(async (key) => [key, await redis.dumpBuffer(key)] as const),
  )
  await configure({ ...VAN, protocol: 'second' })
  await until(async () => expect([await delivered(), await frames()]).toEqual([[[20, 10]], []]))
  for (const [key, dump] of kept) await redis.restore(key, 0, dump)
  decodeAgain()
  await until(async () => expect(await frames()).toEqual([]))
  await until(async () => expect(await account()).toEqual(GUESS_DISCARDED))
  expect([await delivered(), (await custodyCounters(redis)).get('filtered:duplicate')]).toEqual([[[20, 10]], 1])
})

it('holds fixes with a fitting checksum, not their frames, and releases them if the entry names their protocol', async () => {
  const { configure } = await heardOverTcp(`sure ${VAN.id} 10 20\n`)
  expect(await frames()).toEqual([])
  await configure({ ...VAN, protocol: 'first' })
  await until(async () => expect(await delivered()).toEqual([[10, 20]]))
  expect(await account()).toEqual(NOTHING_LOST)
})

it('keeps holding fixes with a fitting checksum if the entry names another protocol', async () => {
  const { configure } = await heardOverTcp(`sure ${VAN.id} 10 20\n`)
  const before = await reads()
  await configure({ ...VAN, protocol: 'second' })
  await until(async () => expect(await reads()).toBeGreaterThan(before))
  expect(await account()).toEqual({ held: 1, difference: 0, discarded: {} })
})

it('lists among the arrivals an unknown device that has only logged in', async () => {
  const { listen } = await gateway()
  const { peer, port } = await listen()
  peer.say(`hello ${VAN.id}\n`)
  await until(async () =>
    expect(await surveyArrivals(redis, () => false)).toMatchObject([
      { device: VAN.id, protocol: 'first', transport: 'tcp', port, waiting: 0 },
    ]),
  )
  expect(await surveyArrivals(redis, (id) => id === VAN.id)).toEqual([])
})

it('lists among the arrivals an unknown device that sent only its MQTT user name', async () => {
  const { shared, replica } = await gateway()
  const { port } = await open(listenMqtt(AT, { ...shared, replica, protocolNamed }))
  const peer = await raw(port)
  peer.say(connect({ user: VAN.id }))
  const arrival = { device: VAN.id, transport: 'mqtt', waiting: 0 }
  await until(async () => expect(await surveyArrivals(redis, () => false)).toMatchObject([arrival]))
})

it('lists among the arrivals an unknown device with an HTTP request without a position', async () => {
  const { shared } = await gateway()
  const { port } = await open(listenHttp({ ...AT, protocol: talk }, shared))
  await fetch(`http://127.0.0.1:${port}/by%20${VAN.id}%20ping`)
  const arrival = { device: VAN.id, transport: 'http', protocol: 'talk', port, waiting: 0 }
  await until(async () => expect(await surveyArrivals(redis, () => false)).toMatchObject([arrival]))
})

it('lists among the arrivals an unknown device that is refused', async () => {
  const { shared } = await gateway({ ...HOLD, unknown: false })
  const { port } = await open(listenTcp({ ...AT, protocol: talk }, shared))
  const peer = await dial(port)
  peer.say(`id ${VAN.id} canary\n`)
  await until(() => expect(peer.heard).toBe('no\n'))
  const arrival = { device: VAN.id, protocol: 'talk', waiting: 0 }
  await until(async () => expect(await surveyArrivals(redis, () => false)).toMatchObject([arrival]))
})

it('lists among the arrivals an unknown device with its last position, also after frames without one', async () => {
  const { peer } = await heardOverTcp()
  await until(async () => expect(await surveyArrivals(redis, () => false)).toHaveLength(1))
  const [{ at }] = await surveyArrivals(redis, () => false)
  peer.say(`hello ${VAN.id}\n`)
  await until(async () => {
    const [arrival] = await surveyArrivals(redis, () => false)
    expect(arrival.at).toBeGreaterThan(at)
    expect(arrival).toMatchObject({ position: { latitude: 10, longitude: 20 }, isGuess: true, waiting: 1 })
  })
})

it('lists a limited number of arrivals, and drops the oldest without held fixes first', async () => {
  await heardOverTcp()
  const { listen } = await gateway()
  for (let n = 0; n < 15; n++) (await listen()).peer.say(`hello 86000000000000${n}\n`)
  await until(async () => {
    const devices = (await surveyArrivals(redis, () => false)).map(({ device }) => device)
    expect(devices).toContain(VAN.id)
    expect(devices.length).toBe(10)
  })
})
