import { createSocket } from 'node:dgram'
import { expect, it, onTestFinished, vi } from 'vitest'
import { loadProtocols, protocolPorts } from '../../../protocols/index.ts'
import { usualListeners } from '../../../src/config/listener.ts'
import { Conversation } from '../../../src/gateway/conversation.ts'
import { Detector, QUIET_MS, Undecided } from '../../../src/gateway/wire/detect.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { english } from '../../../src/texts/text.ts'
import { avlDatagram, avlLogin, avlPacket, bytes, gt06Frame, gt06Gps } from '../../support/encode.ts'
import { count, dial, type Gateway, gateway, open, talk, until } from '../../support/listen.ts'
import { spent } from '../../support/spent.ts'
import { thrown } from '../../support/thrown.ts'
import { datagramPeer } from '../../support/udp.ts'

const protocols = await loadProtocols()
const named = (name: string) => protocols.find((protocol) => protocol.name === name)

/** Valid IMEIs. */
const VAN = '356307042441013'
const OTHER = '352093081452251'
/** The id of a van that is never reported on a wrong port. */
const QUIET = '490154203237518'
const AT = { host: '127.0.0.1', port: 0 }
const RECORD = { time: Date.now() - 60_000, longitude: 13.41, latitude: 52.52, satellites: 9 }
const PLACE = { date: '261120120000', latitude: 52.52, longitude: 13.41, satellites: 9 }

const GT06_LOGIN = gt06Frame(0x01, bytes(`0${VAN}`))
const GT06_FIX = gt06Frame(0x12, gt06Gps(PLACE))
/** An id that is no IMEI. */
const PLAIN = '4209951296'
/** A frame that avema, ardi01, intellitrac and wondex read alike. */
const ALIKE_FIX = Buffer.from(`${VAN},20261120120000,13.41,52.52,0,0,30,9,2\r\n`)
const H02_FIX = `*HQ,${VAN},V1,120000,A,5231.2000,N,01324.6000,E,0.00,0,201126,FFFFFFFF#`
/** A frame whose protocol is decided only once the device is silent. */
const UNSURE = H02_FIX.replace(VAN, PLAIN)

/** A gateway that detects the protocols of its senders. */
function detecting(options: Parameters<typeof gateway>[0] = {}): Gateway {
  const shared: Gateway = gateway({
    admitsUnknown: true,
    detector: new Detector({
      protocols,
      configured: (...claim) => shared.configured(...claim),
      onFault: thrown,
    }),
    ...options,
  })
  return shared
}

const configure = (shared: Gateway, id: string) =>
  shared.configure({ id, company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' })

const listenAuto = (shared: Gateway) => open(listenTcp({ ...AT, protocol: undefined }, shared))

function wrongPorts(): (readonly string[])[] {
  return observations
    .current()
    .filter(({ code }) => code === 'wrong_port')
    .map(({ evidence }) => evidence.map(english))
}

function isOnWrongPort(device: string): boolean {
  return observations.current().some(({ code, subject }) => code === 'wrong_port' && subject.device === device)
}

/** A gateway, and what its detector was told to remember. */
function remembering() {
  const learnt: string[] = []
  const detector = new Detector({ protocols, configured: () => undefined, onFault: thrown })
  const remember = (device: string, { name }: { name: string }) => void learnt.push(`${device} ${name}`)
  return { learnt, shared: detecting({ detector: Object.assign(detector, { learn: remember }) }) }
}

const guarded = { id: VAN, company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }

it('remembers the protocol of a device over TCP once a fix of it is stored, and not at its login', async () => {
  const { learnt, shared } = remembering()
  await configure(shared, VAN)
  const peer = await dial((await listenAuto(shared)).port)
  peer.socket.write(avlLogin(VAN))
  await until(() => expect(peer.heard).toBe('\x01'))
  expect(learnt).toEqual([])
  shared.store = 'fails'
  peer.socket.write(avlPacket(0x08, [RECORD]))
  await until(() => expect(peer.over).toBe(true))
  expect(learnt).toEqual([])
  shared.store = 'takes'
  const again = await dial((await listenAuto(shared)).port)
  again.socket.write(Buffer.concat([avlLogin(VAN), avlPacket(0x08, [RECORD])]))
  await until(() => expect(again.heard).toBe('\x01\0\0\0\x01'))
  again.socket.write(avlPacket(0x08, [RECORD]))
  await until(() => expect(again.heard).toBe('\x01\0\0\0\x01\0\0\0\x01'))
  expect(learnt).toEqual([`${VAN} teltonika`])
})

it('remembers the protocol of a device over UDP once a fix of it is stored', async () => {
  const { learnt, shared } = remembering()
  await configure(shared, VAN)
  const peer = await datagramPeer((await open(listenUdp({ ...AT, protocol: undefined }, shared))).port)
  for (let sent = 1; sent < 3; sent++) {
    peer.say(avlDatagram(VAN, 0x08, [RECORD]))
    await until(() => expect(peer.heard).toHaveLength(sent))
  }
  expect(learnt).toEqual([`${VAN} teltonika`])
})

it.each([
  ['a secret', { secret: 'canary of the van' }],
  ['other networks', { networks: ['192.0.2.0/24'] }],
  ['another protocol', { protocol: 'h02' }],
  ['a certificate', { client_certificate: ['van'] }],
])('does not remember the protocol of a sender that lacks what its entry asks for: %s', async (_, guard) => {
  const { learnt, shared } = remembering()
  await shared.configure({ ...guarded, ...guard })
  const peer = await dial((await listenAuto(shared)).port)
  peer.socket.write(Buffer.concat([avlLogin(VAN), avlPacket(0x08, [RECORD])]))
  await until(() => expect(peer.heard).toBe('\x01\0\0\0\x01'))
  const datagrams = await datagramPeer((await open(listenUdp({ ...AT, protocol: undefined }, shared))).port)
  datagrams.say(avlDatagram(VAN, 0x08, [RECORD]))
  await until(() => expect(datagrams.heard).toHaveLength(1))
  expect(shared.places).toEqual([`unknown ${VAN}`, `unknown ${VAN}`])
  expect(learnt).toEqual([])
})

it('does not remember a protocol for another device that logs in while a fix waits for Redis', async () => {
  const learnt: string[] = []
  const detector = new Detector({ protocols: [talk], configured: () => undefined, onFault: thrown })
  const learn = (device: string) => void learnt.push(device)
  const shared = detecting({ detector: Object.assign(detector, { learn }), waitMs: 20_000 })
  const { port } = await open(listenTcp({ ...AT, protocol: talk }, shared))
  const peer = await dial(port)
  shared.store = 'waits'
  peer.say('id van-1\nfix 1\nid 007\n')
  await until(() => expect(shared.tries).toBe(1))
  shared.store = 'takes'
  await until(() => expect(peer.heard).toBe('hi\nok 1\nhi\n'))
  expect([learnt, shared.places]).toEqual([[], ['7/42/1001']])
})

it.each([
  ['teltonika', avlLogin(VAN), Buffer.of(1)],
  ['gt06', GT06_LOGIN, GT06_LOGIN.subarray(0, 0)],
  ['wialon', Buffer.from(`#L#${VAN};NA\r\n`), Buffer.from('#AL#1\r\n')],
])('answers the login of %s on the TCP port for all protocols', async (_, login, answer) => {
  const shared = detecting()
  await configure(shared, VAN)
  const { port } = await listenAuto(shared)
  const peer = await dial(port)
  peer.socket.write(login)
  await until(() => expect(peer.heard.length).toBeGreaterThan(0))
  if (answer.length > 0) expect(peer.heard).toBe(answer.toString('latin1'))
})

it.each([
  ['an IMEI', avlLogin(VAN), VAN, 'teltonika'],
  ['a checksum', GT06_LOGIN, VAN, 'gt06'],
  ['neither', Buffer.from(UNSURE), PLAIN, undefined],
])(
  'decides a protocol by the bytes alone, never by the roster, before the device is silent: %s',
  async (_, first, id, expected) => {
    const entry = { id, company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }
    for (const guard of [undefined, {}, { secret: 'right-secret' }, { protocol: 'wialon' }]) {
      const shared = detecting()
      if (guard) await shared.configure({ ...entry, ...guard })
      const undecided = new Undecided(shared.detector as Detector, new Conversation('tcp', '127.0.0.1:5'))
      expect(undecided.decide(first, { isQuiet: false, now: Date.now() })?.protocol.name).toBe(expected)
    }
  },
)

it('takes the fixes that follow a login in the detected protocol', async () => {
  const shared = detecting()
  await configure(shared, VAN)
  const { port } = await listenAuto(shared)
  const peer = await dial(port)
  peer.socket.write(Buffer.concat([avlLogin(VAN), avlPacket(0x08, [RECORD])]))
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
  await until(() => expect(peer.heard).toBe('\x01\0\0\0\x01'))
})

it('detects a protocol whose bytes arrive one by one', async () => {
  const shared = detecting()
  await configure(shared, VAN)
  const { port } = await listenAuto(shared)
  const peer = await dial(port)
  for (const byte of GT06_LOGIN) {
    peer.socket.write(Buffer.of(byte))
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  peer.socket.write(GT06_FIX)
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
})

it.each([
  ['configured', '7/42/1001'],
  ['not configured', `unknown ${PLAIN}`],
])(
  'takes the likeliest protocol of an id that is no IMEI once the device is silent, if it is %s',
  async (which, place) => {
    const shared = detecting()
    if (which === 'configured') await configure(shared, PLAIN)
    const { port } = await listenAuto(shared)
    const peer = await dial(port)
    const asked = performance.now()
    peer.socket.write(UNSURE)
    await until(() => expect(shared.places).toEqual([place]))
    expect(performance.now() - asked).toBeGreaterThanOrEqual(QUIET_MS - 20)
  },
)

it.each([
  ['free', false],
  ['out of time', true],
])('takes the fixes of a device that ended its connection at once, while detection is %s', async (_, isBusy) => {
  const shared = detecting()
  await configure(shared, PLAIN)
  const { port } = await listenAuto(shared)
  if (isBusy) await spent(shared.detector as Detector)
  const peer = await dial(port)
  peer.socket.end(UNSURE + UNSURE.replace('V1,120000', 'V1,120001'))
  await until(() => expect(shared.places.filter((place) => place === '7/42/1001')).toHaveLength(2))
  expect(shared.notUnderstood).toEqual([])
  await until(() => expect(peer.over).toBe(true))
})

it('takes the fix of a device that reset its connection at once', async () => {
  const shared = detecting()
  await configure(shared, PLAIN)
  const { port } = await listenAuto(shared)
  const peer = await dial(port)
  await new Promise((resolve) => peer.socket.write(UNSURE, resolve))
  peer.socket.resetAndDestroy()
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
  expect(shared.notUnderstood).toEqual([])
})

it.each([
  ['stores the fixes that it has read', 'free', false, ['7/42/1001']],
  ['reports nothing that it has not looked at', 'out of time', true, []],
])('%s when its port closes while detection is %s', async (_, __, isBusy, places) => {
  const shared = detecting()
  await configure(shared, PLAIN)
  const listener = await listenAuto(shared)
  const detector = shared.detector as Detector
  if (isBusy) await spent(detector)
  const asked = vi.spyOn(detector.budget, 'inTurn')
  const peer = await dial(listener.port)
  peer.say(UNSURE)
  await until(() => expect(asked).toHaveBeenCalled())
  await listener.close()
  await until(() => expect(shared.goneDevices).toHaveLength(1))
  expect([shared.places, shared.notUnderstood]).toEqual([places, []])
})

it.each([
  ['for all protocols', undefined],
  ['of another protocol', named('gt06')],
])('keeps a connection if noise follows its login, on a port %s', async (_, protocol) => {
  const shared = detecting()
  await configure(shared, VAN)
  const { port } = await open(listenTcp({ ...AT, protocol }, shared))
  const peer = await dial(port)
  peer.socket.write(Buffer.concat([avlLogin(VAN), Buffer.of(0xfe, 0xfe, 0xfe, 0xfe, 0xfe)]))
  await until(() => expect(peer.over || peer.heard !== '').toBe(true))
  peer.socket.write(avlPacket(0x08, [RECORD]))
  await until(() => expect(peer.heard).toBe('\x01\0\0\0\x01'))
  expect(shared.places).toEqual(['7/42/1001'])
})

it('keeps the first bytes of a TCP connection that no protocol understands', async () => {
  const shared = detecting()
  const { port } = await listenAuto(shared)
  const peer = await dial(port)
  peer.say('?? hello ??\r\n')
  peer.socket.end()
  await until(() => expect(shared.notUnderstood).toHaveLength(1))
  expect(shared.notUnderstood[0]).toMatchObject({ protocol: undefined, port })
  expect(String(shared.notUnderstood[0].bytes)).toBe('?? hello ??\r\n')
})

it.each([
  ['uses the protocol of an entry to decide between protocols that read a frame alike', { protocol: 'avema' }, 'avema'],
  [
    'ignores the protocol of an entry whose other conditions the sender has not proved',
    { protocol: 'avema', networks: ['192.0.2.0/24'] },
    'wondex',
  ],
])('%s', async (_, entry, expected) => {
  const shared = detecting()
  await shared.configure({ id: VAN, company_id: '7', courier_id: '42', source: 'devices.yaml:1', ...entry })
  const { found } = (shared.detector as Detector).look({ bytes: ALIKE_FIX, transport: 'tcp', now: Date.now() })
  const [best] = (shared.detector as Detector).ranked(found, new Conversation('tcp', '127.0.0.1:5'))
  expect(best.protocol.name).toBe(expected)
})

it('takes the fixes of a device on the port of another protocol, and reports which port is its own', async () => {
  const shared = detecting()
  await configure(shared, OTHER)
  const { port } = await open(listenTcp({ ...AT, protocol: named('gt06') }, shared))
  const peer = await dial(port)
  peer.socket.write(Buffer.concat([avlLogin(OTHER), avlPacket(0x08, [RECORD])]))
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
  expect(wrongPorts()).toContainEqual([
    `speaks teltonika on port ${port} (gt06); port 5027 is for that; port 5000 is for all protocols`,
  ])
})

it('names no port of its own protocol to a tracker on a wrong port if none is configured', async () => {
  const listeners = usualListeners(protocolPorts).filter(({ protocol }) => protocol !== 'teltonika')
  const shared = detecting({ listeners })
  await configure(shared, OTHER)
  const { port } = await open(listenTcp({ ...AT, protocol: named('gt06') }, shared))
  const peer = await dial(port)
  peer.socket.write(Buffer.concat([avlLogin(OTHER), avlPacket(0x08, [RECORD])]))
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
  expect(wrongPorts().flat()).toContain(`speaks teltonika on port ${port} (gt06); port 5000 is for all protocols`)
})

it('reports the HTTP port of a protocol that has a TCP port, too', async () => {
  const shared = detecting()
  await configure(shared, OTHER)
  const { port } = await open(listenHttp({ ...AT, protocol: named('osmand') }, shared))
  const record = { ts: RECORD.time, latlng: '52.52,13.41', sat: 9 }
  const body = JSON.stringify({ state: { reported: record } })
  await fetch(`http://127.0.0.1:${port}/${OTHER}/data`, { method: 'POST', body })
  expect(shared.places).toEqual(['7/42/1001'])
  expect(wrongPorts().flat()).toContain(`speaks teltonika on port ${port} (osmand); port 5028 is for that`)
})

it('takes no other protocol on a port if no port is for all protocols', async () => {
  const shared = detecting({ detector: undefined })
  await configure(shared, OTHER)
  const { port } = await open(listenTcp({ ...AT, protocol: named('gt06') }, shared))
  const peer = await dial(port)
  peer.socket.write(avlLogin(OTHER))
  peer.socket.end()
  await until(() => expect(shared.notUnderstood).toHaveLength(1))
  expect(peer.heard).toBe('')
})

it('takes an OwnTracks request on the HTTP port of OsmAnd by what it holds', async () => {
  const shared = detecting()
  await configure(shared, VAN)
  const { port } = await open(listenHttp({ ...AT, protocol: named('osmand') }, shared))
  const body = JSON.stringify({
    _type: 'location',
    tst: 1_763_640_000,
    lat: 52.5,
    lon: 13.4,
    topic: `owntracks/${VAN}/x`,
  })
  const response = await fetch(`http://127.0.0.1:${port}/pub`, { method: 'POST', body })
  expect(response.status).toBe(200)
  expect(shared.places).toEqual(['7/42/1001'])
})

const osmandPort = async (shared: Gateway) =>
  (await open(listenHttp({ ...AT, protocol: named('osmand') }, shared))).port

const refusedLines = () => count('decode_errors_total', { protocol: 'alematics' })

/** A gateway whose detector knows `talk` alone; its `ping` has no position and is answered. */
const talking = () =>
  detecting({ detector: new Detector({ protocols: [talk], configured: () => '', onFault: thrown }) })

it.each([
  ['the query of OsmAnd with a bad time', `/?id=${QUIET}&lat=51.01&lon=13.4&timestamp=soon`],
  ['a query with an id alone', `/?dev=${QUIET}&batt=80`],
  ['flat JSON', '/', JSON.stringify({ device: QUIET, lat: 51.03, lon: 13.4, time: 1_763_640_000 })],
  ['flat JSON without a place', '/', JSON.stringify({ device: QUIET, temperature: 20 })],
])('refuses an HTTP request in which no protocol reads a position: %s', async (_, path, body = '') => {
  const shared = detecting()
  await configure(shared, QUIET)
  const port = await osmandPort(shared)
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })
  expect([response.status, shared.stored.length, shared.frames.length]).toEqual([400, 0, 0])
  expect([shared.notUnderstood.length, isOnWrongPort(QUIET)]).toEqual([1, false])
})

it('refuses a line without a readable position over TCP, and keeps the protocol of the port', async () => {
  const shared = detecting()
  await configure(shared, QUIET)
  const { port } = await open(listenTcp({ ...AT, protocol: named('alematics') }, shared))
  const peer = await dial(port)
  const line = (time: string) => `$T,2,552,${QUIET},${time},${time},52.525,-13.41,36,270,34,0.9,9,1,0,0.000,12.768\r\n`
  const before = await refusedLines()
  peer.say(line('20261320150012'))
  await until(async () => expect(await refusedLines()).toBe(before + 1))
  peer.say(line('20261120150012'))
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
})

it('does not answer a message without a position on the TCP port of another protocol', async () => {
  const shared = talking()
  const { port } = await open(listenTcp({ ...AT, protocol: named('gt06') }, shared))
  const peer = await dial(port)
  peer.say('by van-1 ping\n')
  peer.socket.end()
  await until(() => expect(shared.notUnderstood).toHaveLength(1))
  expect(peer.heard).toBe('')
})

it('answers a datagram on the UDP port of another protocol only if it has a position', async () => {
  const shared = talking()
  const { port } = await open(listenUdp({ ...AT, protocol: named('gt06') }, shared))
  const peer = await datagramPeer(port)
  peer.say('by van-1 ping\n')
  await until(() => expect(shared.notUnderstood).toHaveLength(1))
  peer.say('by van-1 fix\n')
  await until(() => expect(peer.heard).toEqual(['ok\n']))
})

it.each(['tcp', 'http'] as const)('does not report a wrong port while the fixes cannot be stored: %s', async (over) => {
  const shared = detecting()
  await configure(shared, QUIET)
  shared.store = 'fails'
  if (over === 'tcp') {
    const { port } = await open(listenTcp({ ...AT, protocol: named('gt06') }, shared))
    const peer = await dial(port)
    peer.say(`*HQ,${QUIET},V1,120000,A,5231.2000,N,01324.6000,E,0.00,0,201126,FFFFFFFF#`)
    await until(() => expect(peer.over).toBe(true))
  } else {
    const location = { _type: 'location', tst: 1_763_640_000, lat: 52.5, lon: 13.4, topic: `owntracks/${QUIET}/x` }
    const body = JSON.stringify(location)
    const response = await fetch(`http://127.0.0.1:${await osmandPort(shared)}/`, { method: 'POST', body })
    expect(response.status).toBe(503)
  }
  expect(shared.tries).toBe(1)
  expect(isOnWrongPort(QUIET)).toBe(false)
})

it('takes each datagram on the UDP port for all protocols, and answers a peer again', async () => {
  const shared = detecting()
  await configure(shared, VAN)
  const { port } = await open(listenUdp({ ...AT, protocol: undefined }, shared))
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const answers: string[] = []
  socket.on('message', (answer) => answers.push(answer.toString('hex')))
  socket.send(avlDatagram(VAN, 0x08, [RECORD]), port, '127.0.0.1')
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
  socket.send(avlDatagram(VAN, 0x08, [{ ...RECORD, time: RECORD.time + 1000 }]), port, '127.0.0.1')
  await until(() => expect(answers).toHaveLength(2))
})

it('keeps a datagram that no protocol understands', async () => {
  const shared = detecting()
  const { port } = await open(listenUdp({ ...AT, protocol: undefined }, shared))
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  socket.send('hello', port, '127.0.0.1')
  await until(() => expect(shared.notUnderstood).toHaveLength(1))
})
