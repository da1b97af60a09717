import { describe, expect, it } from 'vitest'
import osmand from '../../protocols/osmand/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { keys, type Store, readFrames } from '../../src/store/index.ts'
import type { MisunderstoodFrame } from '../../src/store/misunderstood-frame.ts'
import { until } from '../support/listen.ts'
import { records } from '../support/records.ts'
import { redisGateway } from '../support/redis-gateway.ts'
import { RELAYS, type RelayEntry } from '../support/relay-frames.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const VAN = device('244111111', '42')
const OWN = device('244222222', '43')
/** What the entry of the van may ask for, none of which the relay has. */
const GUARDS = {
  secret: { secret: 'canary of the van' },
  networks: { networks: ['192.0.2.0/24'] },
  protocol: { protocol: 'teltonika' },
  certificate: { client_certificate: ['van'] },
} satisfies Record<string, Partial<Device>>
const GUARDED = Object.entries(GUARDS)

/** A position of the van that its owner has not sent. */
const FORGED: RelayEntry = { device: VAN.id, latitude: 10, longitude: 20 }
const OF_OWN: RelayEntry = { device: OWN.id, latitude: 50, longitude: 8 }
const OF_NOBODY: RelayEntry = { device: '244333333', latitude: 50, longitude: 8 }
const DAMAGED: RelayEntry = { device: VAN.id, latitude: 11, longitude: 21, isDamaged: true }
/** The same position as parameters of OsmAnd, which a decoder of another protocol does not look at. */
const QUERY = `id=${VAN.id}&lat=12&lon=22&timestamp=${Math.floor(Date.now() / 1000)}`

let redis: Store
withRedis((_, connection) => (redis = connection))

function device(id: string, courier_id: string): Device {
  return { id, company_id: '7', courier_id, route_id: '1', source: 'devices.yaml:1' }
}

const namesOf = new Map(Object.values(RELAYS).map(({ protocol }) => [protocol.name, protocol]))
const protocolNamed = async (name: string) => namesOf.get(name)

/** A gateway whose van has a guard, and the frame that a relay sends to it. */
async function attacked(relay: string, guard: Partial<Device>, admitsUnknown: boolean) {
  const { protocol, transport, frame } = RELAYS[relay]
  const gateway = await redisGateway(redis, { devices: [{ ...VAN, ...guard }, OWN], admitsUnknown, protocolNamed })
  return {
    ...gateway,
    take: (entries: readonly RelayEntry[], query?: string) =>
      gateway.ingest.take(frame(entries, query), new Conversation(transport, '198.51.100.1:5000'), protocol),
  }
}

const kept = async () => {
  const frames = await readFrames(redis, { count: 100 })
  return frames.map(({ text }) => JSON.parse(text) as MisunderstoodFrame)
}
const inLane = async ({ courier_id }: Device) =>
  records(Buffer.concat(await redis.lrangeBuffer(keys.lane(`7/${courier_id}/1`), 0, -1))).length

/** Waits until no frame is due to be decoded again. */
async function looked(): Promise<void> {
  await until(async () => expect(await redis.zcount(keys.misunderstood('due'), '-inf', Date.now())).toBe(0))
}

describe.each(Object.keys(RELAYS))('a frame of %s with an entry that cannot be read', (relay) => {
  describe.each(GUARDED)('fixes of a van that is guarded by %s', (_, guard) => {
    it('neither keeps nor answers a relay frame with an unreadable entry if no device in it is accepted', async () => {
      const { take } = await attacked(relay, guard, false)
      expect(await take([FORGED, OF_NOBODY, DAMAGED])).toMatchObject({ status: 'misunderstood', reason: 'malformed' })
      expect(await redis.keys('*misunderstood*')).toEqual([])
      expect(await redis.keys('*held*')).toEqual([])
    })

    it('keeps a relay frame for the accepted device, and gives a guarded van nothing of it later', async () => {
      // OsmAnd itself takes the van of the parameters for the sender, and refuses it.
      const query = relay === 'osmand' ? '' : QUERY
      const all = await attacked(relay, guard, false)
      expect(await all.take([FORGED, OF_OWN, DAMAGED], query)).toMatchObject({ status: 'stored' })
      expect((await kept()).map(({ company, device: id, others }) => [id, company, others])).toEqual([
        [OWN.id, '7', []],
      ])
      const redecoding = all.decodeAgain()
      await looked()
      for (const changed of [{ protocol: 'osmand' }, { name: 'Renamed' }]) {
        const edited = [VAN, OWN].map((each) => ({ ...each, ...(each === VAN && guard), ...changed }))
        all.replica.roster = await createDirectory(edited, [])
        redecoding.rosterChanged(undefined)
        await until(async () => expect(await redis.zcount(keys.misunderstood('due'), 0, 0)).toBe(0))
        await looked()
      }
      expect([await inLane(VAN), await inLane(OWN)]).toEqual([0, 1])
    })

    it('keeps a relay frame without a company if unknown devices are held, and holds fixes of a guarded van', async () => {
      const all = await attacked(relay, guard, true)
      expect(await all.take([FORGED, OF_NOBODY, DAMAGED])).toMatchObject({ status: 'stored' })
      expect((await kept()).filter(({ company }) => company !== undefined)).toEqual([])
      const redecoding = all.decodeAgain()
      all.release()
      await looked()
      all.replica.roster = await createDirectory([{ ...VAN, ...guard, name: 'Renamed' }], [])
      redecoding.rosterChanged(undefined)
      await looked()
      expect(await inLane(VAN)).toBe(0)
    })
  })

  it('gives a guarded van nothing of a frame that was kept without asking who was accepted', async () => {
    const all = await attacked(relay, {}, false)
    expect(await all.take([FORGED, DAMAGED])).toMatchObject({ status: 'stored' })
    const [{ others: _, fixes: __, ...frame }] = await kept()
    const before = await inLane(VAN)
    all.replica.roster = await createDirectory([{ ...VAN, ...GUARDS.secret }, OWN], [])
    await rewrite(frame, RELAYS[relay].frame([{ ...FORGED, latitude: 14 }, OF_NOBODY]))
    all.decodeAgain()
    await until(async () => expect(await kept()).toEqual([]))
    expect(await inLane(VAN)).toBe(before)
  })

  it('gives a van the unread entry of a relay frame if its guard accepted the relay', async () => {
    const guard = { networks: ['198.51.100.0/24'] }
    const all = await attacked(relay, guard, false)
    const entries = [OF_OWN, { ...FORGED, latitude: 13 }, DAMAGED]
    expect(await all.take(entries)).toMatchObject({ status: 'stored' })
    const [frame] = await kept()
    expect(frame).toMatchObject({ device: OWN.id, others: [[VAN.id, '7']] })
    // As the frame would be if the decoder of the next version could read it.
    const whole = RELAYS[relay].frame(entries.map((entry) => ({ ...entry, isDamaged: false })))
    await rewrite(frame, whole)
    all.decodeAgain()
    await until(async () => expect(await kept()).toEqual([]))
    expect(await inLane(VAN)).toBeGreaterThan(1)
  })
})

async function rewrite(frame: MisunderstoodFrame, content: ReturnType<(typeof RELAYS)[string]['frame']>) {
  const [id] = await redis.hkeys(keys.misunderstood('frames'))
  const described = Buffer.isBuffer(content)
    ? { frame: content.toString('base64') }
    : { request: { ...content, body: content.body.toString('base64') } }
  await redis.hset(keys.misunderstood('frames'), id, JSON.stringify({ ...frame, ...described }))
}

it('does not decode a kept frame of one protocol as the other protocol in the entry of its van', async () => {
  const all = await attacked('flespi', {}, false)
  expect(await all.take([FORGED, OF_OWN, DAMAGED], QUERY)).toMatchObject({ status: 'stored' })
  expect(await kept()).toMatchObject([{ device: VAN.id, company: '7', others: [[OWN.id, '7']] }])
  all.replica.roster = await createDirectory([{ ...VAN, protocol: osmand.name }, OWN], [])
  all.decodeAgain()
  await looked()
  expect([await inLane(VAN), (await kept()).length]).toEqual([1, 1])
})
