import { expect, it, onTestFinished, vi } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { observations } from '../../src/observe/observations.ts'
import { deviceOf, timestampOf } from '../../src/store/record.ts'
import { at, gateway, type IngestSetup, line, NOW_S, placeOf, van } from '../support/ingest.ts'
import { count } from '../support/listen.ts'
import { records } from '../support/records.ts'
import { createDirectory } from '../support/roster.ts'
import { inEnglish } from '../support/texts.ts'

it('answers a message with its reply once its fixes are stored', async () => {
  const { say, stored } = await gateway()
  const outcome = await say({ device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' })
  expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('ok') })
  expect(stored).toHaveLength(1)
  const [record] = records(stored[0].parts[0].records)
  expect([placeOf(stored[0].parts[0]), timestampOf(record), deviceOf(record)]).toEqual(['7/42/1001', NOW_S, van.id])
})

it('does not answer a message whose fixes could not be stored', async () => {
  const { say } = await gateway({ fails: true })
  expect(await say({ device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' })).toMatchObject({
    status: 'not_stored',
  })
})

it('neither stores, holds, filters nor refuses a message while the roster is not current', async () => {
  const { say, stored, counted } = await gateway({ isCurrent: false, hold: { unknown: true } })
  for (const device of [van.id, 'unknown'])
    expect(await say({ device, fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'not_stored' })
  expect([stored, counted]).toEqual([[], []])
})

it('answers a message without storing it when all its fixes are filtered', async () => {
  const { say, stored, counted, heard } = await gateway({ fails: true })
  const outcome = await say({ device: van.id, fixes: [at(NOW_S * 1000, { valid: false })], reply: 'ok' })
  expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('ok') })
  expect([stored, counted]).toEqual([[], ['invalid']])
  expect(heard.get(van.id)?.filtered).toMatchObject({ reason: 'invalid' })
})

it('answers a message without fixes at once', async () => {
  const { say } = await gateway({ fails: true })
  const outcome = await say({ device: van.id, none: 'login', reply: 'hello' })
  expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('hello'), isAtOnce: true })
})

it('notes the secret of a refused message as presented, not as accepted', async () => {
  const { say, session } = await gateway()
  expect(await say({ device: 'nobody', secret: 'of nobody', none: 'login' })).toMatchObject({ status: 'refused' })
  expect([session.presented, session.secret]).toEqual(['of nobody', undefined])
})

it('assigns a message without a device to the device that the connection named before', async () => {
  const { say, stored } = await gateway()
  await say({ device: '356307042441013', none: 'login' })
  await say({ fixes: [at(NOW_S * 1000)] })
  expect(deviceOf([...records(stored[0].parts[0].records)][0])).toBe(van.id)
})

it('refuses a message of an unknown device with the refusal of its protocol', async () => {
  const { say, stored } = await gateway()
  const outcome = await say({ device: '1', fixes: [at(NOW_S * 1000)], reply: 'ok' })
  expect(outcome).toMatchObject({ status: 'refused', reason: 'unknown_device', refusal: Buffer.from('no') })
  expect(stored).toEqual([])
})

it('refuses a message that has fixes but names no device', async () => {
  expect(await (await gateway()).say({ fixes: [at(NOW_S * 1000)] })).toMatchObject({
    status: 'refused',
    reason: 'unknown_device',
  })
})

it('answers a keepalive before the login', async () => {
  const outcome = await (await gateway()).say({ none: 'ping', reply: 'pong' })
  expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('pong') })
})

it('decodes a message with the settings of the device that it names', async () => {
  const { say } = await gateway({ devices: [{ ...van, model: 'XT40' }] })
  expect(await say({ device: van.id, none: 'login', settled: true })).toEqual({
    status: 'stored',
    reply: Buffer.from('{"model":"XT40"}'),
    isAtOnce: true,
  })
})

it('decodes a message with the current settings of the device that logged in', async () => {
  const { say, state } = await gateway({ devices: [{ ...van, model: 'XT40' }] })
  await say({ device: van.id, none: 'login' })
  expect(await say({ none: 'ping', settled: true })).toMatchObject({ reply: Buffer.from('{"model":"XT40"}') })
  Object.assign(state, { roster: await createDirectory([{ ...van, model: 'XT50' }], []), version: 1 })
  expect(await say({ none: 'ping', settled: true })).toMatchObject({ reply: Buffer.from('{"model":"XT50"}') })
})

it('decodes a message without the settings of the device that spoke before on the connection', async () => {
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

it('reports a message as misunderstood with the reason of the decoder', async () => {
  expect(await (await gateway()).say({ fault: 'decode' })).toEqual({ status: 'misunderstood', reason: 'checksum' })
})

it('reports a message as misunderstood after a fault in a decoder, and takes other messages', async () => {
  const { say } = await gateway()
  expect(await say({ fault: 'x is undefined' })).toEqual({ status: 'misunderstood', reason: 'malformed' })
  expect(await say({ none: 'ping', reply: 'pong' })).toMatchObject({ status: 'stored' })
})

const ofVan = () => inEnglish(observations.current()).filter(({ subject }) => subject.device === van.id)

it('reports damaged frames of a device until a good one comes', async () => {
  const { say } = await gateway()
  await say({ device: van.id, fixes: [at(NOW_S * 1000)] })
  await say({ fault: 'decode' })
  expect(ofVan()).toMatchObject([{ code: 'checksum_errors', evidence: [expect.stringMatching(/ from 127\.0\.0\.1$/)] }])
  vi.useFakeTimers({ now: Date.now() + 6000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  await say({ device: van.id, fixes: [at(NOW_S * 1000 + 1000)] })
  expect(ofVan()).toEqual([])
})

const locked = { devices: [{ ...van, secret: 'canary' }] }

it.each([[undefined], ['wrong'], ['']])('refuses a device that presents %j as its secret', async (secret) => {
  expect(await (await gateway(locked)).say({ device: van.id, secret })).toMatchObject({
    status: 'refused',
    reason: 'wrong_secret',
  })
})

it('accepts the messages of a connection whose secret was right once', async () => {
  const { say } = await gateway(locked)
  expect(await say({ device: van.id, secret: 'canary', none: 'login' })).toMatchObject({ status: 'stored' })
  expect(await say({ fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'stored' })
})

const guarded = (proof: object) => gateway({ devices: [{ ...van, model: 'XT40', ...proof }], hold: { unknown: true } })
const from = (transport: 'tcp' | 'udp', remote: string, certificate?: string) =>
  new Conversation(transport, remote, { certificate })

const asked = { device: van.id, none: 'ping', settled: true }
const settings = Buffer.from('{"model":"XT40"}')
it.each<[string, object, Conversation | undefined]>([
  ['the secret', { secret: 'canary' }, undefined],
  ['the transport', { transports: ['udp'] }, undefined],
  ['the network', { networks: ['10.0.0.0/8'] }, undefined],
  ['a certificate', { client_certificate: ['van-1'] }, undefined],
  ['the certificate of the device', {}, from('tcp', '127.0.0.1:1', 'van-2')],
  ['the protocol', { protocol: 'teltonika' }, undefined],
])(
  'hides the settings of a device from a sender without %s, and answers it as an unknown device',
  async (_, proof, session) => {
    const { say } = await guarded(proof)
    const unknown = await gateway({ devices: [], hold: { unknown: true } })
    expect(await say(asked, session)).toEqual(
      await unknown.say(asked, session && from('tcp', session.remote, session.certificate)),
    )
  },
)

it.each<[string, object, Conversation | undefined]>([
  ['transport', { transports: ['tcp'] }, undefined],
  ['network', { networks: ['10.0.0.0/8'] }, from('tcp', '10.1.2.3:4')],
  ['certificate', { client_certificate: ['van-1'] }, from('tcp', '127.0.0.1:1', 'van-1')],
  ['protocol', { protocol: 'spoken' }, undefined],
])('uses the settings of a device for its first frame if it has the right %s', async (_, proof, session) => {
  const { say } = await guarded(proof)
  expect(await say(asked, session)).toMatchObject({ reply: settings })
})

it('uses the settings of a device once it has presented its secret, until the secret changes', async () => {
  const { say, state } = await guarded({ secret: 'canary' })
  await say({ device: van.id, secret: 'canary', none: 'login' })
  expect(await say(asked)).toMatchObject({ reply: settings })
  const renamed = await createDirectory([{ ...van, model: 'XT50', secret: 'canary' }], [])
  Object.assign(state, { roster: renamed, version: 1 })
  expect(await say(asked)).toMatchObject({ reply: Buffer.from('{"model":"XT50"}') })
  Object.assign(state, { roster: await createDirectory([{ ...van, model: 'XT60', secret: 'new' }], []), version: 2 })
  expect(await say(asked)).toMatchObject({ status: 'refused', reason: 'wrong_secret' })
})

it('looks up the settings of a device without a finding, since the frame may be damaged', async () => {
  const { say } = await guarded({ id: 'quiet', secret: 'canary' })
  expect(await say({ ...asked, device: 'quiet', fault: 'decode' })).toMatchObject({ status: 'misunderstood' })
  expect(observations.current().filter(({ subject }) => subject.device === 'quiet')).toEqual([])
})

it('refuses a frame over MQTT that names another device than its topic', async () => {
  const { say } = await gateway({ devices: [van, { ...van, id: '2' }] })
  const session = new Conversation('mqtt', '127.0.0.1:1', { device: '2' })
  expect(await say({ device: van.id }, session)).toMatchObject({ status: 'refused', reason: 'other_device' })
  expect(await say({ none: 'no fix' }, session)).toMatchObject({ status: 'stored' })
})

it('stores fixes for the courier and route of their own time, in order', async () => {
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

it('filters fixes without a route at their time as no_route, and stores the others', async () => {
  const devices = [{ ...van, route_id: undefined }]
  const { say, stored } = await gateway({ devices, lines: [line('1', NOW_S - 100, NOW_S)] })
  await say({ device: van.id, fixes: [at((NOW_S - 50) * 1000), at((NOW_S - 500) * 1000)] })
  expect(stored[0]).toMatchObject({ received: 2, filtered: ['no_route'] })
  expect(stored[0].parts).toHaveLength(1)
})

it('converts the fixes of a device that reports local time to UTC', async () => {
  const { say, session, stored, heard } = await gateway({ devices: [{ ...van, time_zone: '+03:00' }] })
  await say({ device: van.id, fixes: [at((NOW_S + 3 * 3600 - 7) * 1000)] })
  expect(timestampOf([...records(stored[0].parts[0].records)][0])).toBe(NOW_S - 7)
  expect(heard.get(van.id)?.fix?.fix).toEqual(at((NOW_S - 7) * 1000))
  expect(session.settingsOf().timeZone).toBe('+03:00')
})

it('does not store fixes by another time zone than the one they were read by', async () => {
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

const HOLD_ALL = { unknown: true, no_route: true, clock: true }

it('holds a fix of an unknown device', async () => {
  const { say, session, stored, heard } = await gateway({ hold: HOLD_ALL })
  const outcome = await say({ device: '00123', fixes: [at(NOW_S * 1000)], reply: 'ok' })
  expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('ok') })
  expect(stored[0].parts.map((part) => [placeOf(part), part.device])).toEqual([['held: unknown', '123']])
  expect([session.device, heard.size]).toEqual(['123', 0])
})

it('refuses the third unknown device of an address if twenty are held in all', async () => {
  const { say } = await gateway({ hold: HOLD_ALL })
  const outcomes = await Promise.all(['1', '2', '3', '1'].map((device) => say({ device, fixes: [at(NOW_S * 1000)] })))
  expect(outcomes.map(({ status }) => status)).toEqual(['stored', 'stored', 'refused', 'stored'])
})

it('refuses an unknown device when Redis holds too many', async () => {
  const { say } = await gateway({ hold: HOLD_ALL, answer: { refused: true } })
  expect(await say({ device: '1', fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'refused' })
})

it('holds a fix without a route by its own time, and notes it as the last fix of the device in UTC', async () => {
  const { say, stored, heard } = await gateway({
    hold: HOLD_ALL,
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

it('keeps a held fix as the last one of the device after a duplicate', async () => {
  const lines = [line('1', NOW_S - 100, NOW_S - 50)]
  const { say, heard } = await gateway({
    hold: HOLD_ALL,
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

it('takes the newest fix of a frame as the last one of the device, in whatever order they came', async () => {
  const { say, heard } = await gateway({ hold: HOLD_ALL })
  await say({ device: van.id, fixes: [-40, -10, -20].map((s) => at((NOW_S + s) * 1000)) })
  expect(heard.get(van.id)).toMatchObject({ fix: { fix: { time: (NOW_S - 10) * 1000 } } })
})

it('holds a fix from the future by the time that the device reported', async () => {
  const { say, stored, heard } = await gateway({ hold: HOLD_ALL })
  await say({ device: van.id, fixes: [at(NOW_S * 1000), at((NOW_S + 3 * 3600) * 1000)] })
  expect(stored[0].parts.map(placeOf)).toEqual(['7/42/1001', 'held: clock'])
  expect(timestampOf([...records(stored[0].parts[1].records)][0])).toBe(NOW_S + 3 * 3600)
  expect(heard.get(van.id)).toMatchObject({
    fix: { fix: { time: NOW_S * 1000 } },
    filtered: { reason: 'clock', held: true },
  })
})

it('acknowledges other devices, however many devices send fixes from the future', async () => {
  const devices = ['1', '2', '3', '4'].map((id) => ({ ...van, id }))
  const { say } = await gateway({ devices, hold: HOLD_ALL })
  for (const device of ['1', '2', '3'])
    expect(await say({ device, fixes: [at(Date.now() + 7_200_000)] })).toMatchObject({ status: 'stored' })
  expect(await say({ device: '4', fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'stored' })
  const ahead = inEnglish(observations.current()).find(
    ({ code, subject }) => code === 'clock_ahead' && subject.device === '1',
  )
  expect(ahead?.evidence).toEqual(['about 120 min ahead: time_zone "+02:00" would fit'])
})

it('says of no device that its clock is ahead while the own clock is in doubt', async () => {
  const { say, stored } = await gateway({ devices: [{ ...van, id: '15' }], hold: HOLD_ALL, isClockInDoubt: true })
  await say({ device: '15', fixes: [at(Date.now() + 7_200_000)] })
  expect(stored[0].parts.map(placeOf)).toEqual(['held: clock'])
  expect(observations.current().filter(({ subject }) => subject.device === '15')).toEqual([])
})

it('holds fixes of an unknown device as unknown, whatever their time', async () => {
  const { say, stored } = await gateway({ hold: HOLD_ALL })
  await say({ device: '1', fixes: [at(NOW_S * 1000), at((NOW_S + 7200) * 1000)] })
  expect(stored[0].parts.map(placeOf)).toEqual(['held: unknown'])
})

it('holds a fix as clock that is too old by a clock that is in doubt', async () => {
  const filter = { maxAgeMs: 86_400_000 }
  const old = { device: van.id, fixes: [at((NOW_S - 90_000) * 1000)] }
  const trusted = await gateway({ hold: HOLD_ALL, filter })
  await trusted.say(old)
  expect(trusted.stored).toEqual([])
  const doubted = await gateway({ hold: HOLD_ALL, filter, isClockInDoubt: true })
  await doubted.say(old)
  expect(doubted.stored[0].parts.map(placeOf)).toEqual(['held: clock'])
})

it('acknowledges nothing while Redis has no room', async () => {
  const { say, stored } = await gateway({ shortage: 'memory' })
  expect(await say({ device: van.id, fixes: [at(NOW_S * 1000)] })).toMatchObject({ status: 'not_stored' })
  expect(stored).toEqual([])
})

const frame = { device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' }
const stored = { status: 'stored', reply: Buffer.from('ok') }

it('keeps a frame while Redis does not answer, and answers it once it is stored', async () => {
  const all = await gateway({ fails: true, waitMs: 20_000 })
  const outcome = all.say(frame)
  await expect.poll(() => all.state.attempts).toBeGreaterThan(1)
  all.state.fails = false
  expect(await outcome).toEqual(stored)
  expect(all.stored).toHaveLength(1)
})

it('keeps the order of the frames of a connection while the roster is not current', async () => {
  const all = await gateway({ isCurrent: false, waitMs: 20_000 })
  const outcomes = Promise.all([
    all.say({ device: van.id }),
    all.say({ fixes: [at((NOW_S - 1) * 1000)] }),
    all.say({ fixes: [at(NOW_S * 1000)] }),
  ])
  await passes(300)
  all.state.current = true
  expect((await outcomes).map(({ status }) => status)).toEqual(['stored', 'stored', 'stored'])
  const times = all.stored.flatMap(({ parts }) => parts.flatMap((part) => [...records(part.records)].map(timestampOf)))
  expect(times).toEqual([NOW_S - 1, NOW_S])
})

it('gives a waiting frame up at its deadline', async () => {
  for (const options of [{ fails: true }, { isCurrent: false }, { shortage: 'memory' as const }]) {
    const all = await gateway({ ...options, waitMs: 600 })
    expect(await all.say(frame)).toMatchObject({ status: 'not_stored' })
  }
})

it('gives a waiting frame up at once over UDP, for a crowded lane, and when the gateway closes', async () => {
  const all = await gateway({ fails: true, waitMs: 20_000 })
  expect(await all.say(frame, new Conversation('udp', '127.0.0.1:1'))).toMatchObject({ status: 'not_stored' })
  const crowded = await gateway({ shortage: 'parked', waitMs: 20_000 })
  expect(await crowded.say(frame)).toMatchObject({ status: 'not_stored' })
  const outcome = all.say(frame)
  await expect.poll(() => all.state.attempts).toBeGreaterThan(1)
  all.ingest.close()
  expect(await outcome).toMatchObject({ status: 'not_stored' })
})

it('answers a frame without fixes while Redis does not answer if the roster is current', async () => {
  const all = await gateway({ fails: true, waitMs: 20_000 })
  const outcome = await all.say({ device: van.id, none: 'login', reply: 'hi' })
  expect(outcome).toEqual({ status: 'stored', reply: Buffer.from('hi'), isAtOnce: true })
})

it('places a fix that waited by the roster at the end of its wait', async () => {
  const all = await gateway({ fails: true, waitMs: 20_000 })
  const outcome = all.say(frame)
  await expect.poll(() => all.state.attempts).toBeGreaterThan(0)
  all.state.roster = await createDirectory([{ ...van, route_id: '2' }], [])
  all.state.fails = false
  await outcome
  expect(all.stored[0].parts.map(placeOf)).toEqual(['7/42/2'])
})

it('keeps waiting fixes with their device, though another one speaks on the session meanwhile', async () => {
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

const fixes = [at(NOW_S * 1000)]

it('places a later frame of a session by the changed roster', async () => {
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
] as const)('refuses a later frame of a session if its device %s meanwhile', async (_, devices, reason) => {
  const all = await gateway()
  await all.say({ device: van.id, fixes })
  all.state.roster = await createDirectory([...devices], [])
  all.state.version++
  expect(await all.say({ fixes })).toMatchObject({ status: 'refused', reason })
})

it('checks a later frame of a session again if it names another device or presents another secret', async () => {
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

const rollover = 1024 * 7 * 86_400_000

it('counts received, repaired and filtered fixes, and notes the last fix, once they are stored', async () => {
  const all = await gateway({ fails: true })
  const before = await counts()
  const sent = [at(NOW_S * 1000 - rollover), at(NOW_S * 1000), at(NOW_S * 1000, { valid: false })]
  await all.say({ device: van.id, fixes: sent })
  expect(await counts()).toEqual(before)
  expect(all.heard.get(van.id)).toEqual({ at: 0, gateway: '', transport: 'tcp', remote: '' })
  all.state.fails = false
  await all.say({ device: van.id, fixes: sent })
  const [received, repaired, filtered] = before
  expect(await counts()).toEqual([received + 3, repaired + 1, filtered + 1])
  expect(all.heard.get(van.id)).toMatchObject({ fix: { fix: at(NOW_S * 1000) }, filtered: { reason: 'invalid' } })
})

it('does not count fixes of unknown devices that are refused', async () => {
  const before = await counts()
  const all = await gateway({ hold: { unknown: true }, answer: { refused: true } })
  await all.say({ device: '1', fixes: [at(NOW_S * 1000)] })
  await (await gateway()).say({ device: '1', fixes: [at(NOW_S * 1000)] })
  expect(await counts()).toEqual(before)
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

it('acknowledges a duplicate like any other fix, and notes it', async () => {
  const { say, heard } = await gateway({ answer: { duplicates: 1 } })
  expect(await say({ device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' })).toMatchObject({ status: 'stored' })
  expect(heard.get(van.id)?.filtered?.reason).toBe('duplicate')
})

const hold = { unknown: true, no_route: true, clock: true }
const now = at(NOW_S * 1000)
const invalid = at(NOW_S * 1000, { valid: false })

it('notes the treatment of a frame once for each lane and reason of its fixes, in order', async () => {
  const { say, told } = await gateway({ hold, lines: [line('1', NOW_S - 100, NOW_S - 50)] })
  await say({ device: van.id, fixes: [at((NOW_S - 60) * 1000), at((NOW_S + 7200) * 1000), invalid, now] })
  expect(told).toEqual([`${van.id} routed 7/1/9`, `${van.id} held clock`, `${van.id} routed 7/42/1001`])
})

it('notes the last reason when all fixes of a frame are filtered', async () => {
  const { say, told } = await gateway()
  await say({ device: van.id, fixes: [invalid, at(NOW_S * 1000, { latitude: 0, longitude: 0 })] })
  expect(told).toEqual([`${van.id} filtered zero`])
})

it.each([
  ['was not stored', { fails: true }],
  ['was there before', { answer: { duplicates: 1 } }],
])('notes no treatment of a fix that %s', async (_, options: IngestSetup) => {
  const { say, told } = await gateway(options)
  await say({ device: van.id, fixes: [now] })
  expect(told).toEqual([])
})

it('notes why a message is refused or not understood', async () => {
  const { say, session, told } = await gateway({ devices: [{ ...van, secret: 'canary' }] })
  await say({ device: '356307042441013', secret: 'wrong' })
  await say({ device: '356307042441013', secret: 'canary', none: 'login' })
  await say({ fault: 'decode' })
  expect([told, session.device]).toEqual([
    [`${van.id} refused wrong_secret`, `${van.id} misunderstood checksum`],
    van.id,
  ])
})

it('notes a refusal for the device that used the id of another one, not for the other', async () => {
  const { say, told } = await gateway({ devices: [van, { ...van, id: '2' }] })
  await say({ device: van.id }, new Conversation('mqtt', '127.0.0.1:1', { device: '2' }))
  expect(told).toEqual(['2 refused other_device'])
})

it('notes no treatment of messages of an unknown device', async () => {
  const { say, told } = await gateway({ hold })
  await say({ device: '77', fixes: [now] })
  await say({ fault: 'decode' })
  await (await gateway()).say({ device: '78', fixes: [now] })
  expect(told).toEqual([])
})
