import { createSocket } from 'node:dgram'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { line, type Message, type Protocol } from '../../../protocols/kit/index.ts'
import { Detector, faultLogger } from '../../../src/gateway/wire/detect.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { dial, type Gateway, gateway, open, talk, until } from '../../support/listen.ts'
import { client } from '../../support/mqtt.ts'

/** `talk` with a fault in the part of its code that the bytes name. */
const faulty = {
  ...talk,
  name: 'faulty',
  tcp: {
    port: 2,
    frame: (bytes, session) => (failIf(bytes, 'frame!'), line(bytes, session)),
    starts: (bytes) => (failIf(bytes, 'starts!'), 'yes'),
  },
  udp: { port: 2, frame: (bytes, session) => (failIf(bytes, 'frame!'), line(bytes, session)) },
  http: { port: 2 },
  decode: (frame, session) => (failIf(frame, 'decode!'), wrong(frame) ?? talk.decode(frame, session)),
  request: (request, session) => (
    failIf(request.uri, 'request!'), wrong(request.uri) ?? talk.request(request, session)
  ),
} satisfies Protocol

function failIf(bytes: Buffer | string, part: string): void {
  if (bytes.includes(part)) (undefined as unknown as Buffer).fill(0)
}

/** An answer that no decoder may give. */
function wrong(bytes: Buffer | string): Message | undefined {
  const said = { device: 'van-1', fixes: [{ time: Date.now(), latitude: 50, longitude: 8, valid: true }] }
  if (bytes.includes('reply!')) return { ...said, reply: 7 as never }
  if (bytes.includes('body!')) return { ...said, response: { body: 7 as never } }
  return bytes.includes('header!') ? { ...said, response: { headers: { 'x-a': 'line\nend' } } } : undefined
}

const AT = { host: '127.0.0.1', port: 0 }
const escaped: unknown[] = []
const note = (error: unknown) => void escaped.push(error)

beforeEach(() => void process.on('uncaughtException', note).on('unhandledRejection', note))
afterEach(() => {
  process.off('uncaughtException', note).off('unhandledRejection', note)
  expect(escaped.splice(0)).toEqual([])
})

/** A gateway, and what it logs. */
function logging(detects = false) {
  const shared: Gateway = gateway({ admitsUnknown: true })
  const logged = vi.spyOn(shared.logger, 'error')
  const configured = (device: string) => (shared.replica.roster.find(device) ? '' : undefined)
  const onFault = faultLogger(shared.logger)
  const detector = detects ? new Detector({ protocols: [faulty, talk], configured, onFault }) : undefined
  return { shared: { ...shared, detector }, logged }
}

async function serves(port: number): Promise<void> {
  const van = await dial(port)
  van.say('id van-1\nfix 1\n')
  await until(() => expect(van.heard).toBe('hi\nok 1\n'))
}

it.each(['frame!', 'decode!', 'reply!'])(
  'serves other devices over TCP after a fault in a protocol (%s), and logs it once',
  async (part) => {
    const { shared, logged } = logging()
    const { port } = await open(listenTcp({ ...AT, protocol: faulty }, shared))
    for (let n = 0; n < 20; n++) {
      const peer = await dial(port)
      peer.say(`id van-1\n${part}\n`)
      await until(() => expect(peer.heard).toMatch(/^hi\n|^$/))
      peer.socket.end()
      await until(() => expect(peer.over).toBe(true))
    }
    await serves(port)
    expect(logged.mock.calls.map(([about]) => about)).toEqual([expect.objectContaining({ protocol: 'faulty' })])
  },
)

it.each(['frame!', 'starts!', 'decode!'])(
  'leaves a faulty protocol out on the TCP port for all protocols (%s)',
  async (part) => {
    const { shared, logged } = logging(true)
    const { port } = await open(listenTcp({ ...AT, protocol: undefined }, shared))
    for (let n = 0; n < 20; n++) {
      const peer = await dial(port)
      peer.say(`by van-1 fix ${part}\n`)
      await until(() => expect(peer.heard).toBe(`ok ${part}\n`))
    }
    expect(logged.mock.calls.map(([, what]) => what)).toEqual(['fault in finding out a protocol'])
  },
)

it.each([
  ['for all protocols', undefined],
  ['of another protocol', talk],
])('keeps a connection and all others after a fault in detecting its protocol, on a port %s', async (_, protocol) => {
  const { shared, logged } = logging(true)
  const { port } = await open(listenTcp({ ...AT, protocol }, shared))
  const peer = await dial(port)
  peer.say(`by van-1 fix ${'.'.repeat(80)}`)
  await until(() => expect(peer.socket.bytesWritten).toBeGreaterThan(80))
  peer.say('frame!')
  await until(() => expect(logged).toHaveBeenCalledTimes(1))
  await serves(port)
  peer.say('\n')
  await until(() => expect(peer.heard).toMatch(/^ok \.+frame!\n$/))
})

it('creates the detector of a port for all protocols although one protocol is faulty', () => {
  const onFault = vi.fn<(error: unknown) => void>()
  const broken = { ...faulty, tcp: { port: 2, frame: () => failIf('frame!', 'frame!') as never } } satisfies Protocol
  const detector = new Detector({ protocols: [broken, talk], configured: () => '', onFault })
  const { found } = detector.look({ bytes: Buffer.from('id van-1\n'), transport: 'tcp', now: Date.now() })
  expect(found.map(({ protocol }) => protocol.name)).toEqual(['talk'])
  expect(onFault).toHaveBeenCalled()
})

it.each(['frame!', 'decode!', 'reply!'])(
  'serves other devices over UDP after a fault in a protocol (%s), and logs it once',
  async (part) => {
    const { shared, logged } = logging()
    const { port } = await open(listenUdp({ ...AT, protocol: faulty }, shared))
    const answers = await datagrams(port, [...Array.from({ length: 20 }, () => part), 'fixof van-1'])
    await until(() => expect(answers).toEqual(['ok\n']))
    expect(logged.mock.calls.map(([about]) => about)).toEqual([expect.objectContaining({ protocol: 'faulty' })])
  },
)

it('leaves a faulty protocol out on the UDP port for all protocols', async () => {
  const { shared, logged } = logging(true)
  const { port } = await open(listenUdp({ ...AT, protocol: undefined }, shared))
  const answers = await datagrams(port, ['by van-1 fix frame!', 'by van-1 fix decode!'])
  await until(() => expect(answers.toSorted()).toEqual(['ok decode!\n', 'ok frame!\n']))
  expect(logged.mock.calls.length).toBeLessThanOrEqual(2)
})

it.each(['request!', 'body!', 'header!', 'reply!'])(
  'serves other devices over HTTP after a fault in a protocol (%s), and logs it once',
  async (part) => {
    const { shared, logged } = logging()
    const { port } = await open(listenHttp({ ...AT, protocol: faulty }, shared))
    const ask = (said: string) =>
      fetch(`http://127.0.0.1:${port}/${encodeURIComponent(said)}`).then(
        ({ status }) => status,
        () => 0,
      )
    for (let n = 0; n < 20; n++) expect(await ask(part)).not.toBe(200)
    expect(await ask('fixof van-1')).toBe(200)
    expect(logged.mock.calls.map(([about]) => about)).toEqual([expect.objectContaining({ protocol: 'faulty' })])
  },
)

it('answers an HTTP request despite a fault in detecting another protocol', async () => {
  const { shared, logged } = logging(true)
  const { port } = await open(listenHttp({ ...AT, protocol: talk }, shared))
  expect((await fetch(`http://127.0.0.1:${port}/request!`)).status).toBe(400)
  expect(logged).toHaveBeenCalledTimes(1)
})

it.each(['decode!', 'reply!'])(
  'serves other devices over MQTT after a fault in a protocol (%s), and logs it once',
  async (part) => {
    const { shared, logged } = logging()
    const { port } = await open(listenMqtt(AT, { ...shared, protocolNamed: async () => faulty }))
    for (let n = 0; n < 5; n++) {
      const van = await client(port)
      van.publish('devices/van-1/faulty', part, { qos: 1 }, () => {})
      await until(() => expect(shared.frames.length + shared.stored.length).toBeGreaterThan(n))
    }
    const other = await client(port, { username: '007' })
    await other.publishAsync('devices/007/faulty', 'fix', { qos: 1 })
    expect(logged.mock.calls.length).toBeLessThanOrEqual(1)
  },
)

it('ends an MQTT connection alone after a fault in looking up its device', async () => {
  const { shared, logged } = logging()
  const { find } = shared.replica.roster
  vi.spyOn(shared.replica.roster, 'find').mockImplementation(function (this: Gateway['replica']['roster'], id) {
    failIf(id, 'login!')
    return find.call(this, id)
  })
  const { port } = await open(listenMqtt(AT, { ...shared, protocolNamed: async () => faulty }))
  for (let n = 0; n < 5; n++) {
    const bad = await client(port, { username: 'login!', connects: false })
    await new Promise((resolve) => bad.once('close', () => resolve(undefined)))
  }
  await (await client(port)).publishAsync('devices/van-1/faulty', 'fix', { qos: 1 })
  expect(logged.mock.calls.map(([, what]) => what)).toEqual(['fault in handling an MQTT packet'])
})

/** Sends datagrams from one peer. Returns the list to which its answers are added. */
async function datagrams(port: number, said: readonly string[]): Promise<string[]> {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const answers: string[] = []
  socket.on('message', (answer) => answers.push(answer.toString()))
  for (const each of said) await new Promise((resolve) => socket.send(`${each}\n`, port, '127.0.0.1', resolve))
  return answers
}
