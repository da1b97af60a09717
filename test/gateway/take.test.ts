import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { observations } from '../../src/observe/observations.ts'
import { deviceOf, timestampOf } from '../../src/store/record.ts'
import { at, gateway, type IngestSetup, line, NOW_S, placeOf, van } from '../support/ingest.ts'
import { count } from '../support/listen.ts'
import { records } from '../support/records.ts'
import { createDirectory } from '../support/roster.ts'
import { inEnglish } from '../support/texts.ts'

describe('a message', () => {
  it('is answered with its reply once its fixes are stored', async () => {
    const { say, stored } = await gateway()
    const outcome = await say({ device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' })
    expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('ok') })
    expect(stored).toHaveLength(1)
    const [record] = records(stored[0].parts[0].records)
    expect([placeOf(stored[0].parts[0]), timestampOf(record), deviceOf(record)]).toEqual(['7/42/1001', NOW_S, van.id])
  })

  it('is not answered when its fixes could not be stored', async () => {
    const { say } = await gateway({ fails: true })
    expect(await say({ device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' })).toMatchObject({
      status: 'not_stored',
    })
  })

  it('is neither stored, held, filtered nor refused while the roster is not current', async () => {
    const { say, stored, counted } = await gateway({ isCurrent: false, hold: { unknown: true } })
    for (const device of [van.id, 'unknown'])
      expect(await say({ device, fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'not_stored' })
    expect([stored, counted]).toEqual([[], []])
  })

  it('is answered without storing when all its fixes are filtered', async () => {
    const { say, stored, counted, heard } = await gateway({ fails: true })
    const outcome = await say({ device: van.id, fixes: [at(NOW_S * 1000, { valid: false })], reply: 'ok' })
    expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('ok') })
    expect([stored, counted]).toEqual([[], ['invalid']])
    expect(heard.get(van.id)?.filtered).toMatchObject({ reason: 'invalid' })
  })

  it('is answered at once without fixes', async () => {
    const { say } = await gateway({ fails: true })
    const outcome = await say({ device: van.id, none: 'login', reply: 'hello' })
    expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('hello'), isAtOnce: true })
  })

  it('that is refused has its secret noted, so that nobody is shown it', async () => {
    const { say, session } = await gateway()
    expect(await say({ device: 'nobody', secret: 'of nobody', none: 'login' })).toMatchObject({ status: 'refused' })
    expect([session.presented, session.secret]).toEqual(['of nobody', undefined])
  })

  it('belongs to the device that the connection named before', async () => {
    const { say, stored } = await gateway()
    await say({ device: '356307042441013', none: 'login' })
    await say({ fixes: [at(NOW_S * 1000)] })
    expect(deviceOf([...records(stored[0].parts[0].records)][0])).toBe(van.id)
  })

  it('is refused with the refusal of its protocol when the device is not configured', async () => {
    const { say, stored } = await gateway()
    const outcome = await say({ device: '1', fixes: [at(NOW_S * 1000)], reply: 'ok' })
    expect(outcome).toMatchObject({ status: 'refused', reason: 'unknown_device', refusal: Buffer.from('no') })
    expect(stored).toEqual([])
  })

  it('is refused if it has fixes but names no device', async () => {
    expect(await (await gateway()).say({ fixes: [at(NOW_S * 1000)] })).toMatchObject({
      status: 'refused',
      reason: 'unknown_device',
    })
  })

  it('is answered as a keepalive before the login', async () => {
    const outcome = await (await gateway()).say({ none: 'ping', reply: 'pong' })
    expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('pong') })
  })

  it('is decoded with the settings of the device that it names', async () => {
    const { say } = await gateway({ devices: [{ ...van, model: 'XT40' }] })
    expect(await say({ device: van.id, none: 'login', settled: true })).toEqual({
      status: 'stored',
      reply: Buffer.from('{"model":"XT40"}'),
      isAtOnce: true,
    })
  })

  it('is decoded with the settings of the device that logged in, as they are now', async () => {
    const { say, state } = await gateway({ devices: [{ ...van, model: 'XT40' }] })
    await say({ device: van.id, none: 'login' })
    expect(await say({ none: 'ping', settled: true })).toMatchObject({ reply: Buffer.from('{"model":"XT40"}') })
    Object.assign(state, { roster: await createDirectory([{ ...van, model: 'XT50' }], []), version: 1 })
    expect(await say({ none: 'ping', settled: true })).toMatchObject({ reply: Buffer.from('{"model":"XT50"}') })
  })

  it('is decoded without the settings of the device that spoke before on the connection', async () => {
    const { say } = await gateway({
      devices: [
        { ...van, model: 'XT40' },
        { ...van, id: '2' },
      ],
      hold: { unknown: true },
    })
    await say({ device: van.id, none: 'login' })
    for (const device of ['2', '3'])
      expect(await say({ device, none: 'ping', settled: true })).toMatchObject({ reply: Buffer.from('{}') })
  })

  it('is misunderstood with the reason of the decoder', async () => {
    expect(await (await gateway()).say({ fault: 'decode' })).toEqual({ status: 'misunderstood', reason: 'checksum' })
  })

  it('is misunderstood after a fault in a decoder, and other messages are taken', async () => {
    const { say } = await gateway()
    expect(await say({ fault: 'x is undefined' })).toEqual({ status: 'misunderstood', reason: 'malformed' })
    expect(await say({ none: 'ping', reply: 'pong' })).toMatchObject({ status: 'stored' })
  })
})

const ofVan = () => inEnglish(observations.current()).filter(({ subject }) => subject.device === van.id)

describe('the observation of a device', () => {
  it('has its damaged frames, and ends with a good one', async () => {
    const { say } = await gateway()
    await say({ device: van.id, fixes: [at(NOW_S * 1000)] })
    await say({ fault: 'decode' })
    expect(ofVan()).toMatchObject([
      { code: 'checksum_errors', evidence: [expect.stringMatching(/ from 127\.0\.0\.1$/)] },
    ])
    vi.useFakeTimers({ now: Date.now() + 6000, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await say({ device: van.id, fixes: [at(NOW_S * 1000 + 1000)] })
    expect(ofVan()).toEqual([])
  })
})

describe('a secret', () => {
  const guarded = { devices: [{ ...van, secret: 'canary' }] }

  it.each([[undefined], ['wrong'], ['']])('is wrong when %s is presented', async (secret) => {
    expect(await (await gateway(guarded)).say({ device: van.id, secret })).toMatchObject({
      status: 'refused',
      reason: 'wrong_secret',
    })
  })

  it('that is right once is enough for the connection', async () => {
    const { say } = await gateway(guarded)
    expect(await say({ device: van.id, secret: 'canary', none: 'login' })).toMatchObject({ status: 'stored' })
    expect(await say({ fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'stored' })
  })
})

const guarded = (proof: object) => gateway({ devices: [{ ...van, model: 'XT40', ...proof }], hold: { unknown: true } })
const from = (transport: 'tcp' | 'udp', remote: string, certificate?: string) =>
  new Conversation(transport, remote, { certificate })

describe('the settings of a device that has to prove itself', () => {
  const asked = { device: van.id, none: 'ping', settled: true }
  const settings = Buffer.from('{"model":"XT40"}')
  it.each<[string, object, Conversation | undefined]>([
    ['the secret', { secret: 'canary' }, undefined],
    ['the transport', { transports: ['udp'] }, undefined],
    ['the network', { networks: ['10.0.0.0/8'] }, undefined],
    ['a certificate', { client_certificate: ['van-1'] }, undefined],
    ['the certificate of the device', {}, from('tcp', '127.0.0.1:1', 'van-2')],
    ['the protocol', { protocol: 'teltonika' }, undefined],
  ])('do not count for a sender without %s, whose answer is that to an unknown device', async (_, proof, session) => {
    const { say } = await guarded(proof)
    const unknown = await gateway({ devices: [], hold: { unknown: true } })
    expect(await say(asked, session)).toEqual(
      await unknown.say(asked, session && from('tcp', session.remote, session.certificate)),
    )
  })

  it.each<[string, object, Conversation | undefined]>([
    ['transport', { transports: ['tcp'] }, undefined],
    ['network', { networks: ['10.0.0.0/8'] }, from('tcp', '10.1.2.3:4')],
    ['certificate', { client_certificate: ['van-1'] }, from('tcp', '127.0.0.1:1', 'van-1')],
    ['protocol', { protocol: 'spoken' }, undefined],
  ])('count for its first frame if it has the right %s', async (_, proof, session) => {
    const { say } = await guarded(proof)
    expect(await say(asked, session)).toMatchObject({ reply: settings })
  })

  it('count once it has presented its secret, and until the secret is another one', async () => {
    const { say, state } = await guarded({ secret: 'canary' })
    await say({ device: van.id, secret: 'canary', none: 'login' })
    expect(await say(asked)).toMatchObject({ reply: settings })
    const renamed = await createDirectory([{ ...van, model: 'XT50', secret: 'canary' }], [])
    Object.assign(state, { roster: renamed, version: 1 })
    expect(await say(asked)).toMatchObject({ reply: Buffer.from('{"model":"XT50"}') })
    Object.assign(state, { roster: await createDirectory([{ ...van, model: 'XT60', secret: 'new' }], []), version: 2 })
    expect(await say(asked)).toMatchObject({ status: 'refused', reason: 'wrong_secret' })
  })

  it('are looked up without a finding, since the frame may be damaged', async () => {
    const { say } = await guarded({ id: 'quiet', secret: 'canary' })
    expect(await say({ ...asked, device: 'quiet', fault: 'decode' })).toMatchObject({ status: 'misunderstood' })
    expect(observations.current().filter(({ subject }) => subject.device === 'quiet')).toEqual([])
  })
})

describe('a frame over MQTT', () => {
  it('may not name another device than its topic', async () => {
    const { say } = await gateway({ devices: [van, { ...van, id: '2' }] })
    const session = new Conversation('mqtt', '127.0.0.1:1', { device: '2' })
    expect(await say({ device: van.id }, session)).toMatchObject({ status: 'refused', reason: 'other_device' })
    expect(await say({ none: 'no fix' }, session)).toMatchObject({ status: 'stored' })
  })
})

describe('fixes', () => {
  it('go to the courier and route of their own time, in their order', async () => {
    const lines = [line('1', NOW_S - 300, NOW_S - 200), line('2', NOW_S - 200, NOW_S - 100)]
    const { say, stored } = await gateway({ lines })
    const times = [NOW_S - 300, NOW_S - 201, NOW_S - 200, NOW_S - 101, NOW_S - 100, NOW_S - 250]
    await say({ device: van.id, fixes: times.map((time) => at(time * 1000)) })
    expect(stored[0].parts.map((part) => [placeOf(part), [...records(part.records)].map(timestampOf)])).toEqual([
      ['7/1/9', [NOW_S - 300, NOW_S - 201]],
      ['7/2/9', [NOW_S - 200, NOW_S - 101]],
      ['7/42/1001', [NOW_S - 100]],
      ['7/1/9', [NOW_S - 250]],
    ])
  })

  it('without a route at their time are filtered as no_route, and the others are stored', async () => {
    const devices = [{ ...van, route_id: undefined }]
    const { say, stored } = await gateway({ devices, lines: [line('1', NOW_S - 100, NOW_S)] })
    await say({ device: van.id, fixes: [at((NOW_S - 50) * 1000), at((NOW_S - 500) * 1000)] })
    expect(stored[0]).toMatchObject({ received: 2, filtered: ['no_route'] })
    expect(stored[0].parts).toHaveLength(1)
  })

  it('of a device that reports local time are converted to UTC', async () => {
    const { say, session, stored, heard } = await gateway({ devices: [{ ...van, time_zone: '+03:00' }] })
    await say({ device: van.id, fixes: [at((NOW_S + 3 * 3600 - 7) * 1000)] })
    expect(timestampOf([...records(stored[0].parts[0].records)][0])).toBe(NOW_S - 7)
    expect(heard.get(van.id)?.fix?.fix).toEqual(at((NOW_S - 7) * 1000))
    expect(session.settingsOf().timeZone).toBe('+03:00')
  })

  it('are not stored by another time zone than that by which they were read', async () => {
    const { say, state, stored } = await gateway({
      devices: [{ ...van, time_zone: '+03:00' }],
      fails: true,
      waitMs: 60_000,
    })
    const said = say({ device: van.id, fixes: [at(NOW_S * 1000)] })
    Object.assign(state, {
      roster: await createDirectory([{ ...van, time_zone: '+02:00' }], []),
      version: 1,
      fails: false,
    })
    expect(await said).toMatchObject({ status: 'not_stored', reason: 'redis' })
    expect(stored).toEqual([])
  })
})

describe('a held fix', () => {
  const all = { unknown: true, no_route: true, clock: true }

  it('is stored for an unknown device', async () => {
    const { say, session, stored, heard } = await gateway({ hold: all })
    const outcome = await say({ device: '00123', fixes: [at(NOW_S * 1000)], reply: 'ok' })
    expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('ok') })
    expect(stored[0].parts.map((part) => [placeOf(part), part.device])).toEqual([['held: unknown', '123']])
    expect([session.device, heard.size]).toEqual(['123', 0])
  })

  it('is refused for the third unknown device of an address if twenty are held in all', async () => {
    const { say } = await gateway({ hold: all })
    const outcomes = await Promise.all(['1', '2', '3', '1'].map((device) => say({ device, fixes: [at(NOW_S * 1000)] })))
    expect(outcomes.map(({ status }) => status)).toEqual(['stored', 'stored', 'refused', 'stored'])
  })

  it('is refused when Redis holds too many unknown devices', async () => {
    const { say } = await gateway({ hold: all, answer: { refused: true } })
    expect(await say({ device: '1', fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'refused' })
  })

  it('without a route keeps its own time, and is the last fix of the device in UTC', async () => {
    const { say, stored, heard } = await gateway({
      hold: all,
      devices: [{ ...van, route_id: undefined, time_zone: '+03:00' }],
    })
    await say({ device: van.id, fixes: [at(NOW_S * 1000)] })
    const [part] = stored[0].parts
    expect([placeOf(part), timestampOf([...records(part.records)][0])]).toEqual(['held: no_route', NOW_S])
    expect(heard.get(van.id)).toMatchObject({
      fix: { fix: at((NOW_S - 3 * 3600) * 1000) },
      filtered: { reason: 'no_route', held: true },
    })
  })

  it('stays the last fix of the device after a duplicate', async () => {
    const lines = [line('1', NOW_S - 100, NOW_S - 50)]
    const { say, heard } = await gateway({
      hold: all,
      devices: [{ ...van, route_id: undefined }],
      lines,
      answer: { duplicates: 1 },
    })
    for (const time of [NOW_S - 60, NOW_S - 40]) await say({ device: van.id, fixes: [at(time * 1000)] })
    expect(heard.get(van.id)).toMatchObject({
      fix: { fix: { time: (NOW_S - 40) * 1000 } },
      filtered: { reason: 'duplicate' },
    })
  })

  it('is the last one of its device if it is the newest of its frame, in whatever order they came', async () => {
    const { say, heard } = await gateway({ hold: all })
    await say({ device: van.id, fixes: [-40, -10, -20].map((s) => at((NOW_S + s) * 1000)) })
    expect(heard.get(van.id)).toMatchObject({ fix: { fix: { time: (NOW_S - 10) * 1000 } } })
  })

  it('from the future keeps the time that the device reported', async () => {
    const { say, stored, heard } = await gateway({ hold: all })
    await say({ device: van.id, fixes: [at(NOW_S * 1000), at((NOW_S + 3 * 3600) * 1000)] })
    expect(stored[0].parts.map(placeOf)).toEqual(['7/42/1001', 'held: clock'])
    expect(timestampOf([...records(stored[0].parts[1].records)][0])).toBe(NOW_S + 3 * 3600)
    expect(heard.get(van.id)).toMatchObject({
      fix: { fix: { time: NOW_S * 1000 } },
      filtered: { reason: 'clock', held: true },
    })
  })

  it('from the future never stops other devices from being acknowledged, however many devices are ahead', async () => {
    const devices = ['1', '2', '3', '4'].map((id) => ({ ...van, id }))
    const { say } = await gateway({ devices, hold: all })
    for (const device of ['1', '2', '3'])
      expect(await say({ device, fixes: [at(Date.now() + 7_200_000)] })).toMatchObject({ status: 'stored' })
    expect(await say({ device: '4', fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'stored' })
    const ahead = inEnglish(observations.current()).find(
      ({ code, subject }) => code === 'clock_ahead' && subject.device === '1',
    )
    expect(ahead?.evidence).toEqual(['about 120 min ahead: time_zone "+02:00" would fit'])
  })

  it('of an unknown device is held as unknown, whatever its time', async () => {
    const { say, stored } = await gateway({ hold: all })
    await say({ device: '1', fixes: [at(NOW_S * 1000), at((NOW_S + 7200) * 1000)] })
    expect(stored[0].parts.map(placeOf)).toEqual(['held: unknown'])
  })

  it('is held as clock if it is too old by a clock that is in doubt', async () => {
    const filter = { maxAgeMs: 86_400_000 }
    const old = { device: van.id, fixes: [at((NOW_S - 90_000) * 1000)] }
    const trusted = await gateway({ hold: all, filter })
    await trusted.say(old)
    expect(trusted.stored).toEqual([])
    const doubted = await gateway({ hold: all, filter, isClockInDoubt: true })
    await doubted.say(old)
    expect(doubted.stored[0].parts.map(placeOf)).toEqual(['held: clock'])
  })
})

describe('nothing is acknowledged', () => {
  it('while Redis has no room', async () => {
    const { say, stored } = await gateway({ shortage: 'memory' })
    expect(await say({ device: van.id, fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'not_stored' })
    expect(stored).toEqual([])
  })
})

describe('while Redis does not answer or the roster is not current', () => {
  const frame = { device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' }
  const stored = { status: 'stored', reply: Buffer.from('ok') }

  it('keeps a frame, and answers it once it is stored', async () => {
    const all = await gateway({ fails: true, waitMs: 20_000 })
    const outcome = all.say(frame)
    await expect.poll(() => all.state.attempts).toBeGreaterThan(1)
    all.state.fails = false
    expect(await outcome).toEqual(stored)
    expect(all.stored).toHaveLength(1)
  })

  it('keeps the order of the frames of a connection', async () => {
    const all = await gateway({ isCurrent: false, waitMs: 20_000 })
    const outcomes = Promise.all([
      all.say({ device: van.id }),
      all.say({ fixes: [at((NOW_S - 1) * 1000)] }),
      all.say({ fixes: [at(NOW_S * 1000)] }),
    ])
    await passes(300)
    all.state.current = true
    expect((await outcomes).map(({ status }) => status)).toEqual(['stored', 'stored', 'stored'])
    const times = all.stored.flatMap(({ parts }) =>
      parts.flatMap((part) => [...records(part.records)].map(timestampOf)),
    )
    expect(times).toEqual([NOW_S - 1, NOW_S])
  })

  it('gives a frame up at its deadline', async () => {
    for (const options of [{ fails: true }, { isCurrent: false }, { shortage: 'memory' as const }]) {
      const all = await gateway({ ...options, waitMs: 600 })
      expect(await all.say(frame)).toMatchObject({ status: 'not_stored' })
    }
  })

  it('gives a frame up at once over UDP, for a crowded lane, and when the gateway closes', async () => {
    const all = await gateway({ fails: true, waitMs: 20_000 })
    expect(await all.say(frame, new Conversation('udp', '127.0.0.1:1'))).toMatchObject({ status: 'not_stored' })
    const crowded = await gateway({ shortage: 'parked', waitMs: 20_000 })
    expect(await crowded.say(frame)).toMatchObject({ status: 'not_stored' })
    const outcome = all.say(frame)
    await expect.poll(() => all.state.attempts).toBeGreaterThan(1)
    all.ingest.close()
    expect(await outcome).toMatchObject({ status: 'not_stored' })
  })

  it('answers a frame without fixes if the roster is current', async () => {
    const all = await gateway({ fails: true, waitMs: 20_000 })
    const outcome = await all.say({ device: van.id, none: 'login', reply: 'hi' })
    expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('hi'), isAtOnce: true })
  })

  it('places a fix that waited by the roster of that time', async () => {
    const all = await gateway({ fails: true, waitMs: 20_000 })
    const outcome = all.say(frame)
    await expect.poll(() => all.state.attempts).toBeGreaterThan(0)
    all.state.roster = await createDirectory([{ ...van, route_id: '2' }], [])
    all.state.fails = false
    await outcome
    expect(all.stored[0].parts.map(placeOf)).toEqual(['7/42/2'])
  })

  it('fixes stay those of their device, though another one speaks on the session meanwhile', async () => {
    const { say, state, ...all } = await gateway({
      devices: [van, { ...van, id: '2', courier_id: '43' }],
      fails: true,
      waitMs: 20_000,
    })
    await say({ device: van.id, none: 'login' })
    const outcome = say({ fixes: [at(NOW_S * 1000)], reply: 'ok' })
    await expect.poll(() => state.attempts).toBeGreaterThan(0)
    await say({ device: '2', none: 'login' })
    state.fails = false
    expect(await outcome).toMatchObject({ status: 'stored' })
    expect(all.stored.flatMap(({ parts }) => parts.map(placeOf))).toEqual(['7/42/1001'])
  })
})

describe('a frame behind another one of its session', () => {
  const fixes = [at(NOW_S * 1000)]

  it('goes where the roster says by then', async () => {
    const all = await gateway()
    await all.say({ device: van.id, fixes })
    all.state.roster = await createDirectory([{ ...van, route_id: '2' }], [])
    all.state.version++
    await all.say({ fixes })
    expect(all.stored.map(({ parts }) => placeOf(parts[0]))).toEqual(['7/42/1001', '7/42/2'])
  })

  it.each([
    ['is removed', [], 'unknown_device'],
    ['needs a secret', [{ ...van, secret: 'right-secret' }], 'wrong_secret'],
  ] as const)('is refused if its device %s meanwhile', async (_, devices, reason) => {
    const all = await gateway()
    await all.say({ device: van.id, fixes })
    all.state.roster = await createDirectory([...devices], [])
    all.state.version++
    expect(await all.say({ fixes })).toMatchObject({ status: 'refused', reason })
  })

  it('belongs to another device if it names that one, or presents another secret', async () => {
    const other = { ...van, id: '2', route_id: '2' }
    const all = await gateway({ devices: [{ ...van, secret: 'right-secret' }, other] })
    await all.say({ device: van.id, secret: 'right-secret', fixes })
    await all.say({ device: other.id, fixes })
    await all.say({ fixes })
    const lane = ({ parts }: (typeof all.stored)[number]) => placeOf(parts[0])
    expect(all.stored.map(lane)).toEqual(['7/42/1001', '7/42/2', '7/42/2'])
    await all.say({ device: van.id, secret: 'right-secret', fixes })
    expect(await all.say({ secret: 'wrong-secret', fixes })).toMatchObject({ reason: 'wrong_secret' })
  })
})

describe('the metrics', () => {
  const rollover = 1024 * 7 * 86_400_000

  it('count received, repaired and filtered fixes, and the last fix changes, once they are stored', async () => {
    const all = await gateway({ fails: true })
    const before = await counts()
    const fixes = [at(NOW_S * 1000 - rollover), at(NOW_S * 1000), at(NOW_S * 1000, { valid: false })]
    await all.say({ device: van.id, fixes })
    expect(await counts()).toEqual(before)
    expect(all.heard.get(van.id)).toEqual({ at: 0, gateway: '', transport: 'tcp', remote: '' })
    all.state.fails = false
    await all.say({ device: van.id, fixes })
    const [received, repaired, filtered] = before
    expect(await counts()).toEqual([received + 3, repaired + 1, filtered + 1])
    expect(all.heard.get(van.id)).toMatchObject({ fix: { fix: at(NOW_S * 1000) }, filtered: { reason: 'invalid' } })
  })

  it('do not count fixes of unknown devices that are refused', async () => {
    const before = await counts()
    const all = await gateway({ hold: { unknown: true }, answer: { refused: true } })
    await all.say({ device: '1', fixes: [at(NOW_S * 1000)] })
    await (await gateway()).say({ device: '1', fixes: [at(NOW_S * 1000)] })
    expect(await counts()).toEqual(before)
  })
})

async function counts(): Promise<number[]> {
  return [
    await count('fixes_received_total', { protocol: 'spoken' }),
    await count('fixes_repaired_total', { reason: 'gps_week' }),
    await count('fixes_filtered_total', { reason: 'invalid' }),
  ]
}

async function passes(ms: number): Promise<void> {
  const since = Date.now()
  await expect.poll(() => Date.now() - since, { timeout: ms + 5000 }).toBeGreaterThan(ms)
}

describe('a duplicate', () => {
  it('is acknowledged like anything else, and noted', async () => {
    const { say, heard } = await gateway({ answer: { duplicates: 1 } })
    expect(await say({ device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' })).toMatchObject({ status: 'stored' })
    expect(heard.get(van.id)?.filtered?.reason).toBe('duplicate')
  })
})

describe('the treatment of a message of a configured device', () => {
  const hold = { unknown: true, no_route: true, clock: true }
  const now = at(NOW_S * 1000)
  const invalid = at(NOW_S * 1000, { valid: false })

  it('is noted once for each lane and reason of the fixes of a frame, in order', async () => {
    const { say, told } = await gateway({ hold, lines: [line('1', NOW_S - 100, NOW_S - 50)] })
    await say({ device: van.id, fixes: [at((NOW_S - 60) * 1000), at((NOW_S + 7200) * 1000), invalid, now] })
    expect(told).toEqual([`${van.id} routed 7/1/9`, `${van.id} held clock`, `${van.id} routed 7/42/1001`])
  })

  it('is the last reason when all fixes are filtered', async () => {
    const { say, told } = await gateway()
    await say({ device: van.id, fixes: [invalid, at(NOW_S * 1000, { latitude: 0, longitude: 0 })] })
    expect(told).toEqual([`${van.id} filtered zero`])
  })

  it.each([
    ['was not stored', { fails: true }],
    ['was there before', { answer: { duplicates: 1 } }],
  ])('is not noted for a fix that %s', async (_, options: IngestSetup) => {
    const { say, told } = await gateway(options)
    await say({ device: van.id, fixes: [now] })
    expect(told).toEqual([])
  })

  it('is the reason when a message is refused or not understood', async () => {
    const { say, session, told } = await gateway({ devices: [{ ...van, secret: 'canary' }] })
    await say({ device: '356307042441013', secret: 'wrong' })
    await say({ device: '356307042441013', secret: 'canary', none: 'login' })
    await say({ fault: 'decode' })
    expect([told, session.device]).toEqual([
      [`${van.id} refused wrong_secret`, `${van.id} misunderstood checksum`],
      van.id,
    ])
  })

  it('is noted for the device that used the id of another, not for the other', async () => {
    const { say, told } = await gateway({ devices: [van, { ...van, id: '2' }] })
    await say({ device: van.id }, new Conversation('mqtt', '127.0.0.1:1', { device: '2' }))
    expect(told).toEqual(['2 refused other_device'])
  })

  it('is not noted for an unknown device', async () => {
    const { say, told } = await gateway({ hold })
    await say({ device: '77', fixes: [now] })
    await say({ fault: 'decode' })
    await (await gateway()).say({ device: '78', fixes: [now] })
    expect(told).toEqual([])
  })
})
