import { expect, it, vi } from 'vitest'
import { loadProtocols } from '../../../protocols/index.ts'
import { line, type Protocol } from '../../../protocols/kit/index.ts'
import { Detector } from '../../../src/gateway/wire/detect.ts'
import { GuessBudget } from '../../../src/gateway/wire/guess-budget.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { bufferShortage, listenUdp } from '../../../src/gateway/wire/udp.ts'
import { avlDatagram, avlLogin, avlPacket } from '../../support/encode.ts'
import { dial, gateway, open, refusals, talk, until } from '../../support/listen.ts'
import { thrown } from '../../support/thrown.ts'
import { datagramPeer } from '../../support/udp.ts'

const protocols = await loadProtocols()
const AT = { host: '127.0.0.1', port: 0 }
const VAN = '356307042441013'
const FIX = { time: Date.now() - 60_000, longitude: 13.41, latitude: 52.52, satellites: 9 }

/** A gateway with a detector of these protocols, and a van. */
async function detecting(all: readonly Protocol[] = protocols) {
  const clock = new StopWatch()
  const budget = new GuessBudget(() => clock.now)
  const detector = new Detector({ protocols: all, configured: () => undefined, onFault: thrown, budget })
  const shared = gateway({ detector, limits: { max_frame_bytes: 65_536 } })
  await shared.configure({ id: VAN, company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' })
  return { shared, detector, clock }
}

/** A clock that can be stopped: a time budget does not refill while it stands. */
class StopWatch {
  #stoppedAt: number | undefined
  #stood = 0

  get now(): number {
    return (this.#stoppedAt ?? performance.now()) - this.#stood
  }

  stop(): void {
    this.#stoppedAt ??= performance.now()
  }

  goOn(): void {
    if (this.#stoppedAt !== undefined) this.#stood += performance.now() - this.#stoppedAt
    this.#stoppedAt = undefined
  }
}

/** Uses up the detection time of connections and requests, and stops the clock. */
async function useUp({ budget }: Detector, clock: StopWatch): Promise<void> {
  for (clock.stop(); !budget.mustWait; clock.stop()) {
    clock.goOn()
    await budget.inTurn('192.0.2.0/24', { isGone: () => false, look: busyLook })
  }
}

function busyLook(): void {
  const begun = performance.now()
  while (performance.now() < begun + 50);
}

/** `talk` that notes how many bytes its framer and its decoder get, over any transport. */
function measuring() {
  const seen: number[] = []
  const frame: Protocol['tcp'] = { port: 1, frame: (bytes, session) => (seen.push(bytes.length), line(bytes, session)) }
  const decode: Protocol['decode'] = (bytes, session) => (seen.push(bytes.length), talk.decode(bytes, session))
  const request: Protocol['request'] = (asked, session) => (seen.push(asked.body.length), talk.request(asked, session))
  return { seen, protocol: { ...talk, name: 'measured', tcp: frame, udp: frame, decode, request } satisfies Protocol }
}

it('looks at 4 KiB of a connection at most to detect its protocol', async () => {
  const { seen, protocol } = measuring()
  const { shared } = await detecting([protocol])
  const { port } = await open(listenTcp({ ...AT, protocol: undefined }, shared))
  const peer = await dial(port)
  const ended = await refusals('frame_too_long')
  seen.length = 0
  peer.say(Buffer.alloc(60_000, 'x'))
  await until(async () => expect(await ended()).toBe(1))
  expect([seen.length > 0, Math.max(...seen)]).toEqual([true, 4096])
})

it('looks for no protocol in a datagram of more than 4 KiB', async () => {
  const { seen, protocol } = measuring()
  const { shared } = await detecting([protocol])
  const { port } = await open(listenUdp({ ...AT, protocol: undefined }, shared))
  const peer = await datagramPeer(port)
  seen.length = 0
  peer.say(Buffer.alloc(5000, 'x'))
  peer.say(Buffer.alloc(4096, 'y'))
  await until(() => expect(shared.notUnderstood.length).toBe(2))
  expect([seen.length > 0, Math.max(...seen)]).toEqual([true, 4096])
})

it('looks for no protocol in a request of more than 8 KiB', async () => {
  const { seen, protocol } = measuring()
  const { shared } = await detecting([protocol])
  const { port } = await open(listenHttp({ ...AT, protocol: protocols.find(({ name }) => name === 'osmand') }, shared))
  seen.length = 0
  const post = async (length: number) =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x'.repeat(length) })).status
  expect([await post(9000), await post(8000)]).toEqual([400, 400])
  expect(seen).toEqual([8000])
})

it('looks for no protocol as long as only line ends have come', async () => {
  const { seen, protocol } = measuring()
  const { detector } = await detecting([protocol])
  seen.length = 0
  const found = detector.look({ bytes: Buffer.alloc(4096, '\r\n'), transport: 'tcp', now: 0 })
  expect([found.found, seen]).toEqual([[], []])
})

it('parses a request as JSON once for all protocols', async () => {
  const { detector } = await detecting()
  const parsing = vi.spyOn(JSON, 'parse')
  const body = Buffer.from(JSON.stringify({ some: { thing: [1, 2, 3] } }))
  detector.look({ bytes: { method: 'POST', uri: '/', headers: {}, body }, transport: 'http', now: 0 })
  const whole = parsing.mock.calls.filter(([text]) => text === body.toString()).length
  parsing.mockRestore()
  expect(whole).toBe(1)
})

it('serves others while noise follows a beginning that several protocols understand', async () => {
  const { shared } = await detecting()
  const { port } = await open(listenTcp({ ...AT, protocol: undefined }, shared))
  // A record that galileo and blackkite read alike.
  const record = Buffer.from('011500033836313233343536373839303132332012cd32660386', 'hex')
  const noise = Buffer.from('0001c3bfc3be', 'hex')
  const stranger = await dial(port)
  stranger.say(Buffer.concat([record, noise]))
  const van = await dial(port)
  van.say(Buffer.concat([avlLogin(VAN), avlPacket(0x08, [FIX])]))
  await until(() => expect([van.heard, stranger.over]).toEqual(['\u0001\0\0\0\u0001', true]))
})

it('loses nothing of a login in pieces that waits for detection time', async () => {
  const { shared, detector, clock } = await detecting()
  const { port } = await open(listenTcp({ ...AT, protocol: undefined }, shared))
  await useUp(detector, clock)
  const asked = vi.spyOn(detector.budget, 'inTurn')
  const van = await dial(port)
  const login = avlLogin(VAN)
  van.say(login.subarray(0, 5))
  await until(() => expect(asked).toHaveBeenCalled())
  van.say(login.subarray(5))
  van.say(avlPacket(0x08, [FIX]))
  clock.goOn()
  await until(() => expect(van.heard).toBe('\u0001\0\0\0\u0001'))
  expect(shared.places).toEqual(['7/42/1001'])
})

it('loses nothing that comes in pieces to the port of another protocol while detection has no time', async () => {
  const { shared, detector, clock } = await detecting()
  const gt06 = protocols.find(({ name }) => name === 'gt06')
  const { port } = await open(listenTcp({ ...AT, protocol: gt06 }, shared))
  await useUp(detector, clock)
  const van = await dial(port)
  const asked = vi.spyOn(detector.budget, 'inTurn')
  const login = avlLogin(VAN)
  van.say(login)
  await until(() => expect(asked).toHaveBeenCalled())
  van.say(avlPacket(0x08, [FIX]))
  clock.goOn()
  await until(() => expect(van.heard).toBe('\u0001\0\0\0\u0001'))
  expect(shared.places).toEqual(['7/42/1001'])
})

it('lets a login wait for detection longer than identify_timeout', async () => {
  const { shared, detector, clock } = await detecting()
  const limits = { ...shared.limits, identify_timeout: 500 }
  const { port } = await open(listenTcp({ ...AT, protocol: undefined }, { ...shared, limits }))
  await useUp(detector, clock)
  clock.goOn()
  const van = await dial(port)
  // Each uses up the detection time of a second.
  const others = Array.from({ length: 3 }, () =>
    detector.budget.inTurn('127.0.0.0/24', { isGone: () => false, look: busyLook }),
  )
  van.say(Buffer.concat([avlLogin(VAN), avlPacket(0x08, [FIX])]))
  await until(() => expect([van.heard, van.over]).toEqual(['\u0001\0\0\0\u0001', false]))
  await Promise.all(others)
})

it('serves devices that speak the protocol of their port while detection has no time', async () => {
  const { shared, detector, clock } = await detecting()
  const teltonika = protocols.find(({ name }) => name === 'teltonika')
  const [tcp, udp] = [
    await open(listenTcp({ ...AT, protocol: teltonika }, shared)),
    await open(listenUdp({ ...AT, protocol: teltonika }, shared)),
  ]
  const look = vi.spyOn(detector, 'look')
  await useUp(detector, clock)
  const [van, other] = [await dial(tcp.port), await datagramPeer(udp.port)]
  van.say(avlLogin(VAN))
  other.say(avlDatagram(VAN, 0x08, [FIX]))
  await until(() => expect([van.heard, other.heard.length]).toEqual(['\u0001', 1]))
  expect(look).not.toHaveBeenCalled()
})

it('detects a new van and answers a known one on the UDP port amid a flood of junk datagrams', async () => {
  const { shared } = await detecting()
  const { port } = await open(listenUdp({ ...AT, protocol: undefined }, shared))
  const [known, flooder] = [await datagramPeer(port), await datagramPeer(port)]
  known.say(avlDatagram(VAN, 0x08, [FIX]))
  await until(() => expect(known.heard.length).toBe(1))
  const dropped = await refusals('guesses')
  const flooding = setInterval(() => {
    for (let n = 0; n < 30; n++) flooder.say(Buffer.from('000fcafe0133000f333536', 'hex'))
  }, 5)
  await until(async () => expect(await dropped()).toBeGreaterThan(100))
  const newcomer = await datagramPeer(port)
  const fix = avlDatagram(VAN, 0x08, [{ ...FIX, time: FIX.time + 1000 }])
  newcomer.say(fix)
  // Trackers repeat a fix that is not answered.
  const again = setInterval(() => newcomer.say(fix), 1000)
  known.say(avlDatagram(VAN, 0x08, [{ ...FIX, time: FIX.time + 2000 }]))
  await until(() => expect([newcomer.heard.length > 0, known.heard.length]).toEqual([true, 2])).finally(() => {
    clearInterval(flooding)
    clearInterval(again)
  })
})

it.each([
  ['linux', 8 << 20, undefined],
  ['linux', 425_984, /208 KiB, not 4096 KiB/],
  ['darwin', 4 << 20, undefined],
  ['darwin', 786_896, /768 KiB, not 4096 KiB/],
] as const)(
  'reports a UDP receive buffer on %s of %i bytes if it is smaller than requested',
  (platform, size, said) => {
    const shortage = bufferShortage(size, platform)
    if (said) expect(shortage).toMatch(said)
    else expect(shortage).toBeUndefined()
  },
)
