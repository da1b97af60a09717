import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadProtocol } from '../../../protocols/index.ts'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'
import { UnfinishedMessages } from '../../../src/gateway/admit/unfinished.ts'
import { Conversation } from '../../../src/gateway/conversation.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { dial, type Gateway, gateway, open, refusals, until } from '../../support/listen.ts'
import { casesOf } from '../../support/protocol-cases.ts'
import { datagramPeer } from '../../support/udp.ts'

const jt808 = await loadProtocol('jt808')
const AT = { host: '127.0.0.1', port: 0, protocol: jt808 }
const VAN = '13912345678'

/** The three parts of a batch of `VAN`. */
const PARTS = await (async () => {
  const { frames } = await casesOf('jt808')
  const batch = frames.find(({ title }) => title === 'a batch in three parts, and a photo in two')
  return (batch?.frames ?? []).slice(0, 3).map(({ frame }) => Buffer.from(frame as Buffer))
})()

async function configured(pressure = new Backpressure()): Promise<Gateway> {
  const shared = gateway({ pressure, admitsUnknown: true })
  await shared.configure({ id: VAN, company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' })
  return shared
}

/** A session whose unfinished message takes so many bytes. */
function sessionWith(bytes: number, more: Partial<Conversation> = {}): Conversation {
  return Object.assign(new Conversation('udp', '192.0.2.1:1'), { device: VAN, unfinished: { bytes } }, more)
}

describe('unfinished messages of sessions', () => {
  afterEach(() => vi.useRealTimers())

  it('counts unfinished messages as memory until they are whole, replaced, or their session ends', () => {
    let total = 0
    const kept = new UnfinishedMessages((sender, bytes) => {
      total += bytes - sender.partialBytes
      sender.partialBytes = bytes
    })
    const sessions = [sessionWith(1000), sessionWith(2000), sessionWith(4000)]
    for (const session of sessions) kept.look(session)
    expect(total).toBe(7000)
    sessions[0].unfinished = undefined
    kept.look(sessions[0])
    expect(total).toBe(6000)
    sessions[1].unfinished = { bytes: 500 }
    kept.look(sessions[1])
    expect(total).toBe(4500)
    kept.drop(sessions[2])
    expect([total, sessions[2].unfinished, kept.size]).toEqual([500, undefined, 1])
    Object.assign(sessions[1].unfinished, { bytes: 600 })
    kept.look(sessions[1])
    expect(total).toBe(600)
  })

  it('drops an unfinished message after a minute', () => {
    vi.useFakeTimers()
    let now = 0
    const kept = new UnfinishedMessages(
      () => {},
      () => now,
    )
    const pass = (ms: number) => {
      now += ms
      vi.advanceTimersByTime(ms)
    }
    const [first, second] = [sessionWith(1), sessionWith(1)]
    kept.look(first)
    pass(30_000)
    kept.look(second)
    pass(29_000)
    expect([first.unfinished, kept.size]).toEqual([{ bytes: 1 }, 2])
    pass(2000)
    expect([first.unfinished, second.unfinished, kept.size]).toEqual([undefined, { bytes: 1 }, 1])
    pass(30_000)
    expect([kept.size, vi.getTimerCount()]).toEqual([0, 0])
  })

  it('keeps unfinished messages of eight sessions of a device, first of those that proved its id', () => {
    const kept = new UnfinishedMessages(() => {})
    const sessions = Array.from({ length: 9 }, () => sessionWith(1))
    const other = sessionWith(1, { device: 'another' })
    for (const session of [...sessions, other]) kept.look(session)
    expect(sessions.map(({ unfinished }) => unfinished !== undefined)).toEqual([...Array<boolean>(8).fill(true), false])
    expect(other.unfinished).toBeDefined()
    const proved = Array.from({ length: 9 }, () => sessionWith(1, { isProved: true }))
    for (const session of proved) kept.look(session)
    expect(sessions.filter(({ unfinished }) => unfinished)).toEqual([])
    expect(proved.map(({ unfinished }) => unfinished !== undefined)).toEqual([...Array<boolean>(8).fill(true), false])
    for (const session of [...proved, other]) kept.drop(session)
    const again = sessionWith(1)
    kept.look(again)
    expect([again.unfinished, kept.size]).toEqual([{ bytes: 1 }, 1])
  })

  it('drops the largest unfinished message first when all together take too much memory', async () => {
    const shared = await configured(new Backpressure({ maxPartialBytes: 20_000 }))
    const { port } = await open(listenUdp(AT, shared))
    const van = await datagramPeer(port)
    van.say(PARTS[0])
    await until(() => expect(shared.pressure.unfinished.size).toBe(1))
    const large = sessionWith(30_000, { device: 'another' })
    shared.pressure.unfinished.look(large)
    expect([large.unfinished, shared.pressure.unfinished.size]).toEqual([undefined, 1])
    for (const part of PARTS.slice(1)) van.say(part)
    await until(() => expect(van.heard).not.toEqual([]))
    expect(shared.places).toEqual(['7/42/1001'])
  })
})

it('joins UDP parts of a configured device, even if another peer sends parts in its name', async () => {
  const shared = await configured()
  const { port } = await open(listenUdp(AT, shared))
  const [van, forger] = [await datagramPeer(port), await datagramPeer(port)]
  for (const part of PARTS) {
    van.say(part)
    forger.say(PARTS[0])
  }
  await until(() => expect(van.heard).not.toEqual([]))
  await until(() => expect(shared.pressure.unfinished.size).toBe(1))
  expect([forger.heard, shared.places]).toEqual([[], ['7/42/1001']])
})

it('keeps no UDP parts for an unknown id', async () => {
  const shared = gateway({ admitsUnknown: true })
  const { port } = await open(listenUdp(AT, shared))
  const peers = await Promise.all(Array.from({ length: 5 }, () => datagramPeer(port)))
  const looked = vi.spyOn(shared.pressure.unfinished, 'drop')
  for (const peer of peers) for (const part of PARTS) peer.say(part)
  await until(() => expect(looked).toHaveBeenCalledTimes(15))
  expect([shared.pressure.unfinished.size, shared.stored.length]).toEqual([0, 0])
})

it('drops the parts of a message when their TCP connection ends', async () => {
  const shared = await configured()
  const { port } = await open(listenTcp(AT, shared))
  const van = await dial(port)
  van.say(PARTS[0])
  await until(() => expect(shared.pressure.unfinished.size).toBe(1))
  van.socket.destroy()
  await until(() => expect(shared.pressure.unfinished.size).toBe(0))
})

it('keeps a TCP connection open when its parts are dropped for lack of memory', async () => {
  const shared = await configured(new Backpressure({ maxPartialBytes: 3000 }))
  const { port } = await open(listenTcp(AT, shared))
  const van = await dial(port)
  const ended = await refusals('memory')
  van.say(PARTS[0])
  await until(() => expect(shared.pressure.unfinished.size).toBe(1))
  shared.pressure.unfinished.look(sessionWith(2900, { device: undefined }))
  van.say(Buffer.concat(PARTS))
  await until(() => expect(shared.places).toEqual(['7/42/1001']))
  expect([van.over, await ended()]).toEqual([false, 0])
})
