import { expect, it } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { observations } from '../../src/observe/observations.ts'
import { at, gateway, NOW_S, van } from '../support/ingest.ts'
import { count } from '../support/listen.ts'
import { inEnglish } from '../support/texts.ts'

const ANSWERED = { status: 'stored', reply: Buffer.from('ok') }
const NOT_READ = { device: van.id, fixes: [], reply: 'ok' }
const UNKNOWN_TYPE = { device: van.id, reply: 'ok' }
const SOME_READ = { device: van.id, fixes: [at(NOW_S * 1000)], unreadable: [1], reply: 'ok' }
const SILENT = { device: van.id }

const counted = () => count('misunderstood_total', { protocol: 'spoken' })
const base64 = (message: object) => Buffer.from(JSON.stringify(message)).toString('base64')

it.each([
  ['of a position type of which nothing is read', NOT_READ, { reason: 'not_read', fixes: [] }],
  ['of an unknown type that has an answer', UNKNOWN_TYPE, { reason: 'unknown_type' }],
  [
    'of which an entry cannot be read',
    SOME_READ,
    { reason: 'entries', fixes: [[NOW_S * 1000, 52.5, 13.4]], unreadable: [1] },
  ],
])('keeps a frame %s, before it is answered', async (_, message, view) => {
  const { say, kept, frames } = await gateway()
  const before = Date.now()
  expect(await say(message)).toEqual(ANSWERED)
  const about = { device: van.id, company: '7', protocol: 'spoken', transport: 'tcp', frame: base64(message) }
  expect(kept()).toMatchObject([{ ...about, ...view }])
  expect(kept()[0].at).toBeGreaterThanOrEqual(before)
  expect(frames[0]).toMatchObject({ isConfigured: true, isProven: true, rosterVersion: 0 })
})

it.each([
  ['of a position type', NOT_READ],
  ['of an unknown type that has an answer', UNKNOWN_TYPE],
  ['of which an entry cannot be read', SOME_READ],
])('does not answer a frame %s, if it cannot be stored', async (_, message) => {
  const notStored = { status: 'not_stored', reason: 'redis' }
  expect(await (await gateway({ fails: true })).say(message)).toEqual(notStored)
  const full = await gateway({ shortage: 'memory' })
  expect(await full.say(message)).toEqual({ status: 'not_stored', reason: 'memory' })
  expect(full.frames).toEqual([])
})

it('does not answer a frame that is not understood if there are too many, and reports it', async () => {
  const before = await count('not_stored_total', { reason: 'misunderstood' })
  const { say } = await gateway({ hasRoom: false, waitMs: 20_000 })
  expect(await say(NOT_READ)).toEqual({ status: 'not_stored', reason: 'misunderstood' })
  expect(await count('not_stored_total', { reason: 'misunderstood' })).toBe(before + 1)
  const finding = inEnglish(observations.current()).find(({ code }) => code === 'not_stored')
  expect(finding?.evidence).toContain('misunderstood')
})

it('a frame that is not understood waits for Redis, and is kept once', async () => {
  const all = await gateway({ fails: true, waitMs: 20_000 })
  const outcome = all.say(NOT_READ)
  await expect.poll(() => all.state.attempts).toBeGreaterThan(1)
  all.state.fails = false
  expect(await outcome).toEqual(ANSWERED)
  expect(all.frames).toHaveLength(1)
})

it('keeps a frame of an unknown type without an answer if possible, and ends no connection', async () => {
  const all = await gateway({ waitMs: 20_000 })
  expect(await all.say(SILENT)).toEqual({ status: 'stored' })
  expect(all.kept()).toMatchObject([{ reason: 'unknown_type' }])
  all.state.fails = true
  expect(await all.say(SILENT)).toEqual({ status: 'stored' })
})

it.each(['http', 'mqtt'] as const)(
  'keeps a frame of an unknown type before it is answered over %s',
  async (transport) => {
    const session = new Conversation(transport, '127.0.0.1:1', { device: van.id })
    const all = await gateway({ fails: true })
    expect(await all.say(SILENT, session)).toMatchObject({ status: 'not_stored' })
    all.state.fails = false
    expect(await all.say(SILENT, session)).toEqual({ status: 'stored' })
    expect(all.kept()).toMatchObject([{ transport }])
  },
)

it('neither keeps nor answers a frame that is not understood before the login', async () => {
  const { say, frames } = await gateway({ hold: { unknown: true } })
  for (const message of [{ fixes: [], reply: 'ok' }, { reply: 'ok' }, {}])
    expect(await say(message)).toEqual({ status: 'misunderstood', reason: 'unsupported' })
  expect(frames).toEqual([])
})

it('keeps a frame of an unknown device that is not understood if unknown devices are held', async () => {
  const admitted = await gateway({ hold: { unknown: true } })
  expect(await admitted.say({ ...NOT_READ, device: '0099' })).toEqual(ANSWERED)
  expect(admitted.frames[0].isConfigured).toBe(false)
  expect(admitted.kept()).toMatchObject([{ device: '99' }])
  expect(admitted.kept()[0]).not.toHaveProperty('company')
  const refused = await gateway()
  expect(await refused.say({ ...NOT_READ, device: '0099' })).toMatchObject({ status: 'refused' })
  expect(refused.frames).toEqual([])
})

it('keeps a frame with the frames without a position that began its conversation', async () => {
  const { say, kept } = await gateway()
  const opening = [
    { none: 'hello' },
    { device: van.id, none: 'login' },
    { none: 'layout' },
    { fixes: [at(NOW_S * 1000)] },
    { none: 'heartbeat' },
    { none: 'one more heartbeat' },
  ]
  for (const message of opening) await say(message)
  await say(NOT_READ)
  expect(kept()[0].opening).toEqual([0, 1, 2, 4].map((index) => base64(opening[index])))
})

it('counts a frame that is not understood as an event of its device, and reports it if it holds positions', async () => {
  const before = await counted()
  const id = '352000000000017'
  const { say, told } = await gateway({ devices: [{ ...van, id }] })
  await say({ device: id })
  expect(observations.current().filter(({ subject }) => subject.device === id)).toEqual([])
  await say({ device: id, fixes: [] })
  expect(await counted()).toBe(before + 2)
  expect(told).toEqual([`${id} misunderstood unknown_type`, `${id} misunderstood not_read`])
  const [finding] = inEnglish(observations.current()).filter(({ subject }) => subject.device === id)
  expect(finding).toMatchObject({ code: 'not_understood', count: 1, evidence: ['spoken: {"device":"3520000000000'] })
})

it('never keeps the secret of the device that a frame names, whoever sent it, and wherever it is', async () => {
  const { say, kept } = await gateway({ devices: [{ ...van, secret: 'moss-owl-7' }], hold: { unknown: true } })
  await say({ device: van.id, fixes: [], word: 'moss-owl-7', pwd: 'of another' })
  const [text] = kept().map(({ frame = '' }) => Buffer.from(frame, 'base64').toString())
  expect(text).toContain('"word":"**********","pwd":"**********"')
})

it('never keeps the secret of the session or the message in a frame', async () => {
  const { say, kept } = await gateway({ devices: [{ ...van, secret: 'canary' }] })
  await say({ device: van.id, secret: 'canary', none: 'login' })
  await say({ fixes: [], password: 'canary' })
  await say({ fixes: [], secret: 'canary' })
  const text = kept()
    .flatMap(({ frame = '', opening = [] }) => [frame, ...opening])
    .map((bytes) => Buffer.from(bytes, 'base64').toString())
    .join()
  expect(text).toContain('"password":"******"')
  expect(text).not.toContain('canary')
})

it('keeps and acknowledges a damaged frame over MQTT, which would come again for ever', async () => {
  const { say, kept } = await gateway()
  const session = new Conversation('mqtt', '127.0.0.1:1', { device: van.id })
  expect(await say({ fault: 'decode' }, session)).toEqual({ status: 'stored' })
  expect(kept()).toMatchObject([{ reason: 'checksum', error: 'the checksum does not match', transport: 'mqtt' }])
})

it('does not acknowledge a damaged frame over MQTT if it cannot be kept', async () => {
  const { say } = await gateway({ fails: true })
  const session = new Conversation('mqtt', '127.0.0.1:1', { device: van.id })
  expect(await say({ fault: 'decode' }, session)).toMatchObject({ status: 'not_stored' })
})

it.each(['tcp', 'udp', 'http'] as const)('neither keeps nor answers a damaged frame over %s', async (transport) => {
  const { say, frames } = await gateway()
  const session = new Conversation(transport, '127.0.0.1:1', { device: van.id })
  expect(await say({ fault: 'decode' }, session)).toEqual({ status: 'misunderstood', reason: 'checksum' })
  expect(frames).toEqual([])
})

it('answers frames that are understood although there is no room for frames that are not', async () => {
  const { say, frames } = await gateway({ hasRoom: false })
  expect(await say({ device: van.id, fixes: [at(NOW_S * 1000)], reply: 'ok' })).toEqual(ANSWERED)
  expect(await say({ device: van.id, none: 'heartbeat', reply: 'ok' })).toEqual({ ...ANSWERED, isAtOnce: true })
  expect(frames).toEqual([])
})
