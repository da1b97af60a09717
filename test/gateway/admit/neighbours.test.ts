import { request } from 'undici'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import osmand from '../../../protocols/osmand/index.ts'
import { Neighbours } from '../../../src/gateway/admit/neighbours.ts'
import { GuessDelays } from '../../../src/gateway/guesses.ts'
import { Trails } from '../../../src/gateway/suspicion.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { keys, openGatewayChannel, type Store, silentProcesses } from '../../../src/store/index.ts'
import { beating } from '../../support/beat.ts'
import { dial, type Gateway, gateway, open, type Peer, SECRET, talk, until } from '../../support/listen.ts'
import { position, protocolNamed } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, raw } from '../../support/mqtt-bytes.ts'
import { inEnglish } from '../../support/texts.ts'
import { withRedis } from '../../support/with-redis.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const SIGN_KEPT_MS = 600_000
/** An address of another network than that of the vans. */
const ELSEWHERE = '127.0.9.9'

let redis: Store
withRedis((_, store) => (redis = store))

const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

/** A gateway with real listeners that exchanges messages with the others through the same Redis. */
async function meet(name: string, limits: Partial<Gateway['limits']> = {}) {
  await redis.set(keys.process(name), '{}', 'PX', SIGN_KEPT_MS)
  const [guesses, trails] = [new GuessDelays(), new Trails()]
  const shared = gateway({ limits: { max_connections_per_device: 4, ...limits }, trails, admitsUnknown: true })
  const neighbours: Neighbours = new Neighbours(
    { ...shared, guesses, trails },
    {
      ports: 'same',
      send: (text) => channel.send(text),
      silent: (gateways) => silentProcesses(redis, name, gateways),
    },
  )
  beating(neighbours, (each) => each.report())
  beating(neighbours, (each) => each.forgetSilent())
  const opened = Promise.withResolvers<void>()
  const channel = openGatewayChannel(
    { redis, gateway: name },
    {
      opened: () => opened.resolve(neighbours.began()),
      receive: (from, text) => neighbours.receive(from, text),
      rosterWritten: () => {},
    },
  )
  closing.push(() => neighbours.close(), channel.close)
  await opened.promise
  const { port } = await open(listenTcp(AT, shared))
  return { shared, guesses, trails, port, channel, neighbours }
}
type Met = Awaited<ReturnType<typeof meet>>

/** Silences a gateway as SIGKILL does; its last sign of life is a minute old. */
async function killed(name: string, { channel, neighbours }: Met): Promise<void> {
  channel.close()
  vi.spyOn(channel, 'send').mockReturnValue()
  neighbours.close()
  await redis.pexpire(keys.process(name), SIGN_KEPT_MS - 60_000)
}

/** Logs a device in on `count` connections, one after another. */
async function login(port: number, count: number, from?: string, device = 'van-1'): Promise<Peer[]> {
  const peers: Peer[] = []
  for (let made = 0; made < count; made++) {
    const peer = await dial(port, from)
    peer.say(`id ${device}\n`)
    await until(() => expect(peer.heard).toBe('hi\n'))
    peers.push(peer)
  }
  return peers
}

async function mqttPort(shared: Gateway): Promise<number> {
  return (await open(listenMqtt({ host: '127.0.0.1', port: 0 }, { ...shared, protocolNamed }))).port
}

const claims = (device: string) =>
  inEnglish(observations.current()).filter(({ code, subject }) => code === 'claimed_twice' && subject.device === device)
const isOver = (peers: readonly Peer[]) => peers.map(({ over }) => over)

describe('connections of a device at several gateways', () => {
  let one: Met
  let other: Met
  beforeEach(async () => {
    one = await meet('one')
    other = await meet('other')
  })

  it('ends the oldest connections of a device, whichever gateway holds them', async () => {
    const first = await login(one.port, 3)
    const second = await login(other.port, 3)
    await until(() => expect(isOver([...first, ...second])).toEqual([true, true, false, false, false, false]))
    const third = await login(one.port, 3)
    await until(() =>
      expect(isOver([...first, ...second, ...third])).toEqual([
        true,
        true,
        true,
        true,
        true,
        false,
        false,
        false,
        false,
      ]),
    )
  })

  it('all gateways end the same connections if a device logs in in another order than it connects', async () => {
    const [first] = await login(one.port, 1, ELSEWHERE)
    const peers: Peer[] = []
    for (let made = 0; made < 5; made++) peers.unshift(await dial(other.port))
    for (const peer of peers) {
      peer.say('id van-1\n')
      await until(() => expect(peer.heard).toBe('hi\n'))
    }
    await until(() => expect(isOver([first, ...peers])).toEqual([false, true, true, false, false, false]))
    await until(() => expect([one, other].map(({ shared }) => shared.slots.countOf('van-1'))).toEqual([4, 4]))
  })

  it('ends connections of a sender who opens many under the id of a van, and not that of the van', async () => {
    const [van] = await login(one.port, 1)
    const others = [...(await login(one.port, 10, ELSEWHERE)), ...(await login(other.port, 10, ELSEWHERE))]
    await until(() => expect(others.filter(({ over }) => !over)).toHaveLength(3))
    van.say('fix 1\n')
    await until(() => expect(van.heard).toBe('hi\nok 1\n'))
    expect(van.over).toBe(false)
  })

  it('does not count connections at another gateway once they are closed', async () => {
    for (let again = 0; again < 3; again++) {
      const [kept] = await login(one.port, 1)
      const gone = await login(other.port, 3)
      for (const { socket } of gone) socket.destroy()
      await until(() => expect(other.shared.goneDevices).toHaveLength(3 * (again + 1)))
      kept.socket.destroy()
      await until(() => expect(one.shared.goneDevices).toHaveLength(again + 1))
    }
    const [kept] = await login(one.port, 1)
    const others = await login(other.port, 3)
    expect(isOver([kept, ...others])).toEqual([false, false, false, false])
  })

  it('does not count connections of another gateway after it has restarted', async () => {
    const before = await login(other.port, 3)
    const [van] = await login(one.port, 1)
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(4))
    other.channel.close()
    await meet('other')
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(1))
    expect(isOver([van, ...before])).toEqual([false, false, false, false])
  })

  it('does not count connections of another gateway after it has ended', async () => {
    const before = await login(other.port, 3)
    await login(one.port, 1)
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(4))
    other.neighbours.close()
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(1))
    expect(isOver(before)).toEqual([false, false, false])
  })

  it('does not count connections of another gateway after it was killed', async () => {
    await login(other.port, 3)
    const [van] = await login(one.port, 1)
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(4))
    await killed('other', other)
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(1))
    expect(van.over).toBe(false)
  })

  it('counts connections of another gateway that is quiet but alive, and while no gateway gives a sign of life', async () => {
    await login(other.port, 3)
    await login(one.port, 1)
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(4))
    const looks = vi.spyOn(redis, 'pttl')
    onTestFinished(() => looks.mockRestore())
    for (const leftMs of [SIGN_KEPT_MS, SIGN_KEPT_MS - 60_000]) {
      for (const name of ['one', 'other']) await redis.pexpire(keys.process(name), leftMs)
      looks.mockClear()
      await until(() => expect(looks).toHaveBeenCalledWith(keys.process('other')))
    }
    expect(one.shared.slots.countOf('van-1')).toBe(4)
  })

  it('counts connections of another gateway that comes back while it is being found silent', async () => {
    await login(other.port, 3)
    await login(one.port, 1)
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(4))
    await killed('other', other)
    const read = redis.pttl.bind(redis)
    let again: Met | undefined
    const looks = vi.spyOn(redis, 'pttl')
    onTestFinished(() => looks.mockRestore())
    looks.mockImplementation(async (key) => {
      const left = await read(key)
      if (key === keys.process('other') && !again) {
        again = await meet('other')
        await login(again.port, 2)
      }
      return left
    })
    await until(() => expect(again).toBeDefined())
    await until(() => expect(one.shared.slots.countOf('van-1')).toBe(3))
  })

  it('keeps an MQTT connection if its client id is claimed at another gateway while its fix is being stored', async () => {
    const van = await raw(await mqttPort(one.shared))
    van.say(connect({ user: 'locked', password: SECRET, clientId: 'van' }))
    await until(() => expect(van.hex).toBe(connack(0)))
    one.shared.store = 'waits'
    van.say(publish({ topic: 'devices/locked/fix', payload: position(), qos: 1 }))
    await until(() => expect(one.shared.tries).toBe(1))
    const port = await mqttPort(other.shared)
    const others = [await raw(port), await raw(port), await raw(port), await raw(port), await raw(port)]
    for (const peer of others) {
      peer.say(connect({ user: 'locked', clientId: 'van' }))
      await until(() => expect(peer.hex).toBe(connack(0)))
    }
    await until(() => expect(one.shared.slots.countOf('locked')).toBe(5))
    await until(() => expect(isOver(others)).toEqual([true, false, false, false, false]))
    await killed('other', other)
    one.shared.store = 'takes'
    await until(() => expect(van.hex).toBe(connack(0) + puback(1)))
    await until(() => expect(one.shared.slots.countOf('locked')).toBe(1))
  })
})

it('wrong secrets count at all gateways', async () => {
  const [one, other] = [await meet('one'), await meet('other')]
  for (let tries = 0; tries < 6; tries++) one.guesses.failed('locked', ELSEWHERE)
  await until(() => expect(other.guesses.isDelayed('locked', ELSEWHERE)).toBe(true))
  expect(other.guesses.isDelayed('locked', '127.0.0.1')).toBe(false)
})

it('a device that has presented its secret at one gateway is delayed at none, whoever guesses in its network', async () => {
  const [one, other] = [await meet('one'), await meet('other')]
  one.guesses.accepted('locked')
  for (let tries = 0; tries < 6; tries++) other.guesses.failed('locked', ELSEWHERE)
  await until(() => expect(other.guesses.isDelayed('locked', ELSEWHERE)).toBe(false))
  await killed('one', one)
  const third = await meet('third')
  for (let tries = 0; tries < 6; tries++) third.guesses.failed('locked', ELSEWHERE)
  await until(() => expect(third.guesses.isDelayed('locked', ELSEWHERE)).toBe(false))
})

let said = 0
const speak = async (peer: Peer) => {
  const number = ++said
  peer.say(`fix ${number}\n`)
  await until(() => expect(peer.heard).toContain(`ok ${number}\n`))
}

it('reports an id that is used from two networks at two gateways while both go on', async () => {
  const [one, other] = [await meet('one'), await meet('other')]
  const [[van], [thief]] = [await login(one.port, 1), await login(other.port, 1, ELSEWHERE)]
  await until(async () => {
    await speak(van)
    await speak(thief)
    const [{ evidence }] = claims('van-1')
    expect(evidence[0]).toMatch(/^talk from 127\S+ and talk from 127\S+ in turns$/)
  })
})

it('does not report a van that goes on at another gateway from another network', async () => {
  const [one, other] = [await meet('one'), await meet('other')]
  const told = vi.spyOn(one.trails, 'heardElsewhere')
  const [[before], [after]] = [await login(one.port, 1, undefined, '007'), await login(other.port, 1, ELSEWHERE, '007')]
  await speak(before)
  for (let fix = 0; fix < 5; fix++) await speak(after)
  await until(() => expect(told).toHaveBeenCalled())
  expect(claims('007')).toEqual([])
})

it('reports an id that is used in two places, though both senders are in one network', async () => {
  const [one, other] = [await meet('one'), await meet('other')]
  const ports = await Promise.all(
    [one, other].map(({ shared }) => open(listenHttp({ ...AT, protocol: osmand }, shared))),
  )
  const start = Date.now()
  const told = [one, other].map(({ trails }) => vi.spyOn(trails, 'heardElsewhere'))
  const send = async (gatewayNumber: number, latitude: number) => {
    const query = `id=8168000008&lat=${latitude}&lon=8&timestamp=${Math.floor(Date.now() / 1000) - 1}`
    const { body, statusCode } = await request(`http://127.0.0.1:${ports[gatewayNumber].port}/?${query}`)
    await body.dump()
    expect(statusCode).toBe(200)
  }
  onTestFinished(() => void vi.useRealTimers())
  for (let minute = 1; minute <= 16; minute++) {
    // Each gateway reports the position of the device once a minute of this clock.
    vi.useFakeTimers({ toFake: ['Date'], now: start + minute * 61_000 })
    await send(0, 50 + minute / 100)
    await until(() => expect(told[1]).toHaveBeenCalledTimes(minute))
    if (minute <= 6) continue
    await send(1, 40)
    await until(() => expect(told[0]).toHaveBeenCalledTimes(minute - 6))
  }
  const [{ evidence }] = claims('8168000008')
  expect(evidence[0]).toMatch(/^\d.*; \d/)
})

it.each(['max_connections', 'max_connections_per_ip'])(
  'limits connections by %s across gateways that share their ports',
  async (limit) => {
    const [one, other] = [await meet('one', { [limit]: 10 }), await meet('other', { [limit]: 10 })]
    const vans = await login(one.port, 4)
    const others = await Promise.all(Array.from({ length: 6 }, () => dial(other.port)))
    // Without this wait the connections below might count before these six.
    await until(() => expect(other.shared.connectionLimits.open.all).toBe(6))
    await until(async () => expect(await isServed(one.port)).toBe(false))
    for (const { socket } of others) socket.destroy()
    await until(async () => expect(await isServed(one.port)).toBe(true))
    expect(isOver(vans)).toEqual([false, false, false, false])
  },
)

it.each(['the same name', 'another name'])(
  'does not count connections of a gateway that was killed and comes back with %s',
  async (named) => {
    const [one, other] = [await meet('one', { max_connections: 10 }), await meet('other', { max_connections: 10 })]
    const lost = await Promise.all(Array.from({ length: 10 }, () => dial(other.port)))
    await until(async () => expect(await isServed(one.port)).toBe(false))
    await killed('other', other)
    await meet(named === 'the same name' ? 'other' : 'another', { max_connections: 10 })
    await until(async () => expect(await isServed(one.port)).toBe(true))
    for (const { socket } of lost) socket.destroy()
  },
)

async function isServed(port: number): Promise<boolean> {
  const peer = await dial(port)
  peer.say('ping\n')
  await until(() => expect(peer.over || peer.heard === 'pong\n').toBe(true))
  peer.socket.destroy()
  return peer.heard !== ''
}
