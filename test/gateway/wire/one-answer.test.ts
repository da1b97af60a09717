import { once } from 'node:events'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import h02 from '../../../protocols/h02/index.ts'
import osmand from '../../../protocols/osmand/index.ts'
import teltonika from '../../../protocols/teltonika/index.ts'
import type { Device } from '../../../src/config/devices.ts'
import { Detector } from '../../../src/gateway/wire/detect.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { FrameStore, type Store } from '../../../src/store/index.ts'
import { dial, type Gateway, gateway, open, SECRET, talk, until, untilHeard } from '../../support/listen.ts'
import { listen as listenMqtt, position } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, raw } from '../../support/mqtt-bytes.ts'
import { createDirectory } from '../../support/roster.ts'
import { randomOf } from '../../support/rough.ts'
import { thrown } from '../../support/thrown.ts'
import { datagramPeer } from '../../support/udp.ts'
import { withRedis } from '../../support/with-redis.ts'

const AT = { host: '127.0.0.1', port: 0 }
const COMMON = { company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }

/** What guards the ids 0, 4, 8 …, 1, 5, 9 … and 2, 6, 10 …; the ids 3, 7, 11 … are not configured. */
const GUARDS: (Partial<Device> | undefined)[] = [
  { secret: 'right-secret' },
  { networks: ['192.0.2.0/24'] },
  { client_certificate: ['van'] },
  undefined,
]
/** Also one that speaks another protocol than its entry names. */
const GUARDS_AND_PROTOCOL = [{ protocol: 'gt06' }, ...GUARDS]

/** A gateway where all ids but those of the last kind are configured; `ids`: all. They are no IMEIs. */
async function guarded(admitsUnknown: boolean, count: number, { guards = GUARDS, ...options }: Options = {}) {
  const shared: Gateway = gateway({ admitsUnknown, maxUnknownDevices: 100_000, ...options })
  const ids = Array.from({ length: count }, (_, number) => `${4_200_000_000 + number}`)
  const devices = ids.flatMap((id, number): Device[] => {
    const guard = guards[number % guards.length]
    return guard ? [{ ...COMMON, id, ...guard }] : []
  })
  shared.replica.roster = await createDirectory(devices, [])
  return { shared, ids }
}

type Options = NonNullable<Parameters<typeof gateway>[0]> & {
  readonly guards?: readonly (Partial<Device> | undefined)[]
}

/** With a port for all protocols, which are three. */
async function detecting(admitsUnknown: boolean, count: number) {
  const configured: Gateway['configured'] = (...claim) => made.shared.configured(...claim)
  const detector = new Detector({ protocols: [talk, h02, teltonika], configured, onFault: thrown })
  const made = await guarded(admitsUnknown, count, { detector, guards: GUARDS_AND_PROTOCOL })
  return made
}

/** Each different answer, and to how many ids of each kind it was given. */
function tally(answers: readonly string[], kinds = GUARDS.length): Map<string, number[]> {
  const counts = new Map<string, number[]>()
  for (const [number, answer] of answers.entries()) {
    const ofKind = counts.get(answer) ?? Array.from({ length: kinds }, () => 0)
    ofKind[number % kinds]++
    counts.set(answer, ofKind)
  }
  return counts
}

const each = (count: number, kinds = GUARDS.length) => Array.from({ length: kinds }, () => count / kinds)

/** Asks for several ids at once, which is faster. */
async function answersTo(ids: readonly string[], ask: (id: string) => Promise<string>, atOnce = 20): Promise<string[]> {
  const answers: string[] = []
  for (let at = 0; at < ids.length; at += atOnce)
    answers.push(...(await Promise.all(ids.slice(at, at + atOnce).map(ask))))
  return answers
}

/** Returns the different answers to a UDP peer, which repeats its datagrams because a busy gateway drops some. */
async function answersOverUdp(port: number, texts: readonly string[]): Promise<string[]> {
  const peer = await datagramPeer(port)
  const say = () => texts.forEach((text) => peer.say(text))
  const again = setInterval(say, 1000)
  say()
  await peer.answered()
  clearInterval(again)
  return [...new Set(peer.heard)]
}

const trimmed = (text: string) => text.trim()

/**
 * Asks for the ids in a random order, and fails if the answers to one kind take longer than those to unknown ids. Resolves
 * to the answers: those to the first hundred ids of each kind if their times are clearly alike, else all.
 */
async function answersAlikeInTime(
  { ids, kinds }: { readonly ids: readonly string[]; readonly kinds: number },
  ask: (id: string) => Promise<string>,
  atOnce: number,
): Promise<string[]> {
  const random = randomOf(7)
  const answers: string[] = []
  const times: number[] = []
  const timed = async (number: number) => {
    const asked = performance.now()
    answers[number] = await ask(ids[number])
    times[number] = performance.now() - asked
  }
  for (const [perKind, bound] of [
    [100, 0.1],
    [ids.length / kinds, 0.15],
  ]) {
    const next = Array.from({ length: perKind * kinds - times.length }, (_, at) => times.length + at)
    const order = next.map((number) => ({ number, at: random(1 << 30) })).toSorted((one, other) => one.at - other.at)
    for (let at = 0; at < order.length; at += atOnce)
      await Promise.all(order.slice(at, at + atOnce).map(({ number }) => timed(number)))
    if (slower(times, kinds).every((share) => Math.abs(share - 0.5) < bound)) return answers
  }
  return expect.fail(slower(times, kinds).join())
}

/**
 * How likely an answer to an id of each configured kind takes longer than one to an id that is not configured: 0.5 where the
 * times cannot be told apart. Of 100 times of each kind chance makes it 0.04 more or less, of 200 0.03.
 */
function slower(times: readonly number[], kinds: number): number[] {
  const ofKind = Array.from({ length: kinds }, (_, kind) => times.filter((__, number) => number % kinds === kind))
  const unknown = ofKind.pop() ?? []
  return ofKind.map((some) => {
    const wins = some.map((time) => unknown.filter((other) => time > other).length)
    return wins.reduce((sum, count) => sum + count, 0) / (some.length * unknown.length)
  })
}

const CASES = [
  ['refused', false, ''],
  ['refused', false, 'wrong-guess'],
  ['admitted', true, ''],
  ['refused', true, 'wrong-guess'],
] as const

describe.for(CASES)('ids without a proof that are %s (hold.unknown: %s, secret "%s")', ([, admits, secret]) => {
  const isAdmitted = admits && secret === ''

  it('answers 1,000 ids without a proof alike over HTTP, by status, headers and body', async () => {
    const { shared, ids } = await guarded(admits, 1000)
    const { port } = await open(listenHttp({ ...AT, protocol: osmand }, shared))
    const token = secret === '' ? '' : `&token=${secret}`
    const answers = await answersTo(ids, async (id) => {
      const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}/?id=${id}&lat=50&lon=8${token}`)
      return JSON.stringify([statusCode, { ...headers, date: '' }, await body.text()])
    })
    expect([...tally(answers).values()]).toEqual([each(1000)])
    expect(answers[0]).toMatch(isAdmitted ? /^\[200,/ : /^\[403,/)
    expect(shared.places.every((place) => place.startsWith('unknown '))).toBe(true)
  })

  it('answers ids without a proof alike over TCP, by the bytes and the end of the connection', async () => {
    const { shared, ids } = await guarded(admits, 200)
    const { port } = await open(listenTcp({ ...AT, protocol: talk }, shared))
    const answers = await answersTo(ids, async (id) => {
      const peer = await dial(port)
      peer.say(`id ${id} ${secret}`.trim())
      peer.say('\nfix 1\n')
      await untilHeard(peer, () => peer.over || peer.heard.includes('ok 1\n'))
      peer.socket.destroy()
      return `${peer.heard}${peer.over ? 'closed' : 'open'}`
    })
    expect(tally(answers)).toEqual(new Map([[isAdmitted ? 'hi\nok 1\nopen' : 'no\nclosed', each(200)]]))
  })

  it('answers ids without a proof alike over UDP, by the bytes', async () => {
    const { shared, ids } = await guarded(admits, 200)
    const { port } = await open(listenUdp({ ...AT, protocol: talk }, shared))
    const answers = await answersTo(ids, async (id) => {
      const [first] = await answersOverUdp(port, [`fixof ${id} ${secret}`, `id ${id} ${secret}`].map(trimmed))
      return first
    })
    expect(tally(answers)).toEqual(new Map([[isAdmitted ? 'ok\n' : 'no\n', each(200)]]))
  })

  it('answers ids without a proof alike over MQTT, by the bytes and the end of the connection', async () => {
    const { shared, ids } = await guarded(admits, 200)
    const { port } = await listenMqtt(shared)
    const answers = await answersTo(ids, async (id) => {
      const peer = await raw(port)
      peer.say(connect({ user: id, password: secret === '' ? undefined : secret }))
      peer.say(publish({ topic: `devices/${id}/fix`, payload: position(), qos: 1 }))
      await untilHeard(peer, () => peer.over || peer.hex.includes(puback(1)))
      peer.socket.destroy()
      return `${peer.hex} ${peer.over ? 'closed' : 'open'}`
    })
    const expected = isAdmitted ? `${connack(0)}${puback(1)} open` : `${connack(5)} closed`
    expect(tally(answers)).toEqual(new Map([[expected, each(200)]]))
  })
})

let redis: Store
withRedis((_, connection) => {
  redis = connection
})

/** 64 KB as it is stored. */
const LONG = 'x'.repeat(60_000)

it('keeps and acknowledges partly read frames of 60 KB alike for all ids, also without a guard', async () => {
  const guards = [{}, ...GUARDS]
  const frameStore = new FrameStore(redis, { misunderstoodBytes: 1e9 })
  const { shared, ids } = await guarded(true, 50, { guards, frameStore, limits: { max_frame_bytes: 65_536 } })
  const { port } = await open(listenHttp({ ...AT, protocol: talk }, shared))
  const answers = await answersTo(ids, async (id) => {
    const url = `http://127.0.0.1:${port}/by%20${id}%20part%20`
    const { statusCode, body } = await request(url, { method: 'POST', body: LONG })
    return `${statusCode} ${await body.text()}`
  })
  expect(tally(answers, guards.length)).toEqual(new Map([['200 ok\n', each(50, guards.length)]]))
})

const KINDS = GUARDS_AND_PROTOCOL.length

describe.for(CASES)('ids without a proof that are %s (hold.unknown: %s, secret "%s")', ([, admits, secret]) => {
  const isAdmitted = admits && secret === ''

  it('answers ids without a proof alike on the TCP port for all protocols, also in time', async () => {
    const { shared, ids } = await detecting(admits, 1000)
    const { port } = await open(listenTcp({ ...AT, protocol: undefined }, shared))
    const ask = async (id: string) => {
      const peer = await dial(port)
      peer.say(`${`id ${id} ${secret}`.trim()}\n`)
      await untilHeard(peer, () => peer.over || peer.heard === 'hi\n')
      peer.socket.destroy()
      return `${peer.heard}${peer.over ? 'closed' : 'open'}`
    }
    const answers = await answersAlikeInTime({ ids, kinds: KINDS }, ask, 100)
    const expected = isAdmitted ? 'hi\nopen' : 'no\nclosed'
    expect(tally(answers, KINDS)).toEqual(new Map([[expected, each(answers.length, KINDS)]]))
  })

  it('answers ids without a proof alike on the UDP port for all protocols, also in time', async () => {
    const { shared, ids } = await detecting(admits, 1000)
    const { port } = await open(listenUdp({ ...AT, protocol: undefined }, shared))
    const ask = async (id: string) => (await answersOverUdp(port, [trimmed(`id ${id} ${secret}`)])).join()
    const answers = await answersAlikeInTime({ ids, kinds: KINDS }, ask, 10)
    expect(tally(answers, KINDS)).toEqual(new Map([[isAdmitted ? 'hi\n' : 'no\n', each(answers.length, KINDS)]]))
  })

  it('answers ids without a proof alike on the TCP port of another protocol', async () => {
    const { shared, ids } = await detecting(admits, 200)
    const { port } = await open(listenTcp({ ...AT, protocol: h02 }, shared))
    const answers = await answersTo(ids, async (id) => {
      const peer = await dial(port)
      peer.socket.end(`${`id ${id} ${secret}`.trim()}\n`)
      await untilHeard(peer, () => peer.over)
      return peer.heard
    })
    expect(tally(answers, KINDS)).toEqual(new Map([['', each(200, KINDS)]]))
  })

  it('answers ids without a proof alike on the HTTP port of another protocol', async () => {
    const { shared, ids } = await detecting(admits, 200)
    const { port } = await open(listenHttp({ ...AT, protocol: osmand }, shared))
    const answers = await answersTo(ids, async (id) => {
      const path = encodeURIComponent(`fixof ${id} ${secret}`.trim())
      const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}/${path}`)
      return JSON.stringify([statusCode, { ...headers, date: '' }, await body.text()])
    })
    expect([...tally(answers, KINDS).values()]).toEqual([each(200, KINDS)])
    expect(answers[0]).toMatch(/^\[400,/)
  })

  it('answers ids without a proof alike on the UDP port of another protocol', async () => {
    const { shared, ids } = await detecting(admits, 200)
    const { port } = await open(listenUdp({ ...AT, protocol: h02 }, shared))
    const imei = '356307042441013'
    const answers = await answersTo(ids, async (id) => {
      // An IMEI is enough to be taken on the port of another protocol: the answer to it would come last.
      const texts = [`fixof ${id} ${secret}`, `id ${id} ${secret}`, `id ${imei} ${secret}`]
      return (await answersOverUdp(port, texts.map(trimmed))).join()
    })
    expect(tally(answers, KINDS)).toEqual(new Map([[isAdmitted ? 'hi\n' : 'no\n', each(200, KINDS)]]))
  })

  it('answers ids without a proof over HTTP after the same time', async () => {
    const { shared, ids } = await guarded(admits, 1000)
    const { port } = await open(listenHttp({ ...AT, protocol: talk }, shared))
    const ask = async (id: string) => {
      const path = encodeURIComponent(`id ${id} ${secret}`.trim())
      const { body } = await request(`http://127.0.0.1:${port}/${path}`)
      return body.text()
    }
    await answersAlikeInTime({ ids, kinds: GUARDS.length }, ask, 10)
  })

  it('answers MQTT logins without a proof after the same time', async () => {
    const { shared, ids } = await guarded(admits, 1000)
    const { port } = await listenMqtt(shared)
    const ask = async (id: string) => {
      const peer = await raw(port)
      const answered = once(peer.socket, 'data')
      peer.say(connect({ user: id, password: secret === '' ? undefined : secret }))
      await answered
      peer.socket.destroy()
      return peer.hex
    }
    await answersAlikeInTime({ ids, kinds: GUARDS.length }, ask, 10)
  })
})

it('keeps as many connections without a proof open under the id of a connected van as under an unknown id', async () => {
  const shared = gateway({ admitsUnknown: true, limits: { max_connections_per_device: 4 } })
  const { port } = await open(listenTcp({ ...AT, protocol: talk }, shared))
  const van = await dial(port)
  van.say(`id locked ${SECRET}\n`)
  await until(() => expect(van.heard).toBe('hi\n'))
  const openOf = async (id: string) => {
    const peers = await Promise.all(Array.from({ length: 5 }, () => dial(port, '127.0.9.1')))
    for (const peer of peers) {
      peer.say(`id ${id}\n`)
      await until(() => expect(peer.heard).toBe('hi\n'))
    }
    // Those that remain answer; of five there is one too many.
    await until(() => expect(peers.some(({ over }) => over)).toBe(true))
    for (const peer of peers) peer.say('ping\n')
    await until(() => expect(peers.every(({ heard, over }) => over || heard === 'hi\npong\n')).toBe(true))
    const count = peers.filter(({ over }) => !over).length
    for (const peer of peers) peer.socket.destroy()
    return count
  }
  expect([await openOf('locked'), await openOf('nobody')]).toEqual([4, 4])
  van.say('fix 1\n')
  await until(() => expect(van.heard).toBe('hi\nok 1\n'))
})
