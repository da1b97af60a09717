import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import osmand from '../../protocols/osmand/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { listenHttp } from '../../src/listen/http.ts'
import { listenTcp } from '../../src/listen/tcp.ts'
import { listenUdp } from '../../src/listen/udp.ts'
import { dial, gateway, open, talk, until } from '../support/listen.ts'
import { listen as listenMqtt, position } from '../support/mqtt.ts'
import { connack, connect, puback, publish, raw } from '../support/mqtt-bytes.ts'
import { createDirectory } from '../support/roster.ts'

const AT = { host: '127.0.0.1', port: 0 }
const COMMON = { company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }

/** What guards the ids 0, 4, 8 …, 1, 5, 9 … and 2, 6, 10 …; the ids 3, 7, 11 … are not configured. */
const GUARDS: (Partial<Device> | undefined)[] = [
  { secret: 'right-secret' },
  { networks: ['192.0.2.0/24'] },
  { client_certificate: ['van'] },
  undefined,
]

/** A gateway where three of four ids are configured; `ids`: all. */
async function guarded(admitsUnknown: boolean, count: number) {
  const shared = gateway({ admitsUnknown, maxUnknownDevices: 100_000 })
  const ids = Array.from({ length: count }, (_, number) => `${860_000_000_000_000 + number}`)
  const devices = ids.flatMap((id, number): Device[] => {
    const guard = GUARDS[number % GUARDS.length]
    return guard ? [{ ...COMMON, id, ...guard }] : []
  })
  shared.replica.roster = await createDirectory(devices, [])
  return { shared, ids }
}

/** Each different answer, and to how many ids of each kind it was given. */
function tally(answers: readonly string[]): Map<string, number[]> {
  const counts = new Map<string, number[]>()
  for (const [number, answer] of answers.entries()) {
    const ofKind = counts.get(answer) ?? GUARDS.map(() => 0)
    ofKind[number % GUARDS.length]++
    counts.set(answer, ofKind)
  }
  return counts
}

const each = (count: number) => GUARDS.map(() => count / GUARDS.length)

/** Asks in groups, so that the test takes a while, not an age. */
async function answersTo(ids: readonly string[], ask: (id: string) => Promise<string>): Promise<string[]> {
  const answers: string[] = []
  for (let at = 0; at < ids.length; at += 20) answers.push(...(await Promise.all(ids.slice(at, at + 20).map(ask))))
  return answers
}

const CASES = [
  ['refused', false, ''],
  ['refused', false, 'wrong-guess'],
  ['admitted', true, ''],
  ['refused', true, 'wrong-guess'],
] as const

describe.for(CASES)('ids without a proof are %s alike, hold.unknown: %s, secret "%s"', ([, admits, secret]) => {
  const isAdmitted = admits && secret === ''

  it('over HTTP: 1,000 ids, by status, headers and body', async () => {
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

  it('over TCP: by the bytes, and whether the connection stays open', async () => {
    const { shared, ids } = await guarded(admits, 200)
    const { port } = await open(listenTcp({ ...AT, protocol: talk }, shared))
    const answers = await answersTo(ids, async (id) => {
      const peer = await dial(port)
      peer.say(`id ${id} ${secret}`.trim())
      peer.say('\nfix 1\n')
      await until(() => expect(peer.over || peer.heard.includes('ok 1\n')).toBe(true))
      peer.socket.destroy()
      return `${peer.heard}${peer.over ? 'closed' : 'open'}`
    })
    expect(tally(answers)).toEqual(new Map([[isAdmitted ? 'hi\nok 1\nopen' : 'no\nclosed', each(200)]]))
  })

  it('over UDP: by the bytes', async () => {
    const { shared, ids } = await guarded(admits, 200)
    const { port } = await open(listenUdp({ ...AT, protocol: talk }, shared))
    const answers = await answersTo(ids, async (id) => {
      const socket = createSocket('udp4')
      onTestFinished(() => void socket.close())
      socket.send(`fixof ${id} ${secret}`.trim(), port, '127.0.0.1')
      socket.send(`id ${id} ${secret}`.trim(), port, '127.0.0.1')
      const [answer] = (await once(socket, 'message')) as [Buffer]
      return answer.toString()
    })
    expect(tally(answers)).toEqual(new Map([[isAdmitted ? 'ok\n' : 'no\n', each(200)]]))
  })

  it('over MQTT: by the bytes, and whether the connection stays open', async () => {
    const { shared, ids } = await guarded(admits, 200)
    const { port } = await listenMqtt(shared)
    const answers = await answersTo(ids, async (id) => {
      const peer = await raw(port)
      peer.say(connect({ user: id, password: secret === '' ? undefined : secret }))
      peer.say(publish({ topic: `devices/${id}/fix`, payload: position(), qos: 1 }))
      await until(() => expect(peer.over || peer.hex.includes(puback(1))).toBe(true))
      peer.socket.destroy()
      return `${peer.hex} ${peer.over ? 'closed' : 'open'}`
    })
    const expected = isAdmitted ? `${connack(0)}${puback(1)} open` : `${connack(5)} closed`
    expect(tally(answers)).toEqual(new Map([[expected, each(200)]]))
  })
})
