import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFleet, devicesYaml, ROUTES_FROM } from '../../src/sandbox/fleet.ts'
import { runSimulation } from '../../src/sandbox/simulation.ts'
import { speeches } from '../../src/sandbox/speak/index.ts'
import { AUTO_LISTENER, dial, type Product, startProduct } from '../rig/product.ts'
import { avlLogin, avlPacket, bytes, gt06Frame, gt06Gps } from '../support/encode.ts'

const PLACE = { latitude: 52.52, longitude: 13.41, satellites: 9 }
const at = Date.now() - 60_000
const digits = new Date(at).toISOString().replace(/\D/g, '')
const [ymd, hms] = [digits.slice(2, 8), digits.slice(8, 14)]
const dmy = ymd.slice(4) + ymd.slice(2, 4) + ymd.slice(0, 2)

/** Trackers of five makers, each with an IMEI and a route: their messages, one after each answer, the login first. */
const TRACKERS = [
  {
    protocol: 'teltonika',
    id: '356307042441013',
    says: [avlLogin('356307042441013'), avlPacket(0x08, [{ ...PLACE, time: at }])],
  },
  {
    protocol: 'gt06',
    id: '352093081452251',
    says: [gt06Frame(0x01, bytes('0352093081452251')), gt06Frame(0x12, gt06Gps({ ...PLACE, date: ymd + hms }))],
  },
  {
    protocol: 'h02',
    id: '861234000000005',
    says: [`*HQ,861234000000005,V1,${hms},A,5231.2000,N,01324.6000,E,0.00,0,${dmy},FFFFFFFF#`],
  },
  {
    protocol: 'wialon',
    id: '868012345678909',
    says: ['#L#868012345678909;NA\r\n', `#SD#${dmy};${hms};5231.2000;N;01324.6000;E;0;0;34;9\r\n`],
  },
  {
    protocol: 'gps103',
    id: '359710049095095',
    says: [
      '##,imei:359710049095095,A;',
      `imei:359710049095095,tracker,${ymd}${hms},,F,${hms}.000,A,5231.2000,N,01324.6000,E,0.00,0;`,
    ],
  },
]

/** Simulated vans, which are configured. */
const FLEET = createFleet(speeches.length, speeches)
let product: Product

beforeAll(async () => {
  product = await startProduct({ 'devices.yaml': devicesYaml(FLEET, '7') }, AUTO_LISTENER)
})

afterAll(() => product?.end())

it('trackers of five makers on one port are recognised, configured by what arrives, and delivered', async () => {
  for (const { says } of TRACKERS) {
    const peer = await dial(product.ports['tcp/auto'])
    for (const [index, frame] of says.entries()) {
      peer.socket.write(frame)
      if (index < says.length - 1)
        await expect.poll(() => peer.answered().length, { timeout: 60_000 }).toBeGreaterThan(0)
    }
  }

  const expected = TRACKERS.map(({ id, protocol }) => `${id} ${protocol}`).toSorted()
  await expect.poll(async () => (await arrived()).toSorted(), { timeout: 60_000 }).toEqual(expected)

  for (const [index, { id }] of TRACKERS.entries()) {
    const body = JSON.stringify({
      name: `Tracker ${index}`,
      company_id: 7,
      courier_id: 40 + index,
      route_id: 9001 + index,
    })
    await product.admin(`/admin/devices/${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body,
    })
  }
  for (const index of TRACKERS.keys()) {
    const delivered = () => product.positions(`${9001 + index}`, Math.floor(at / 1000) - 60, Math.floor(at / 1000) + 60)
    await expect.poll(async () => (await delivered()).length, { timeout: 60_000 }).toBe(1)
  }
})

it('all fixes of vans with 25 protocols, those over TCP on one port, are acknowledged and delivered', async () => {
  const auto = Object.fromEntries(FLEET.map(({ speech }) => [`tcp/${speech.protocol}`, product.ports['tcp/auto']]))
  const outcome = await runSimulation({
    host: '127.0.0.1',
    ports: { ...product.ports, ...auto },
    vans: FLEET,
    intervalMs: 1000,
    durationMs: 3000,
    patienceMs: 30_000,
    seed: 1,
    keepTrips: true,
  })
  expect([outcome.sent, outcome.acked, outcome.trouble]).toEqual([3 * FLEET.length, 3 * FLEET.length, undefined])
  for (const [index, { id, name }] of FLEET.entries()) {
    const made = outcome.trips.get(id)?.sent.map(({ time }) => time / 1000) ?? []
    const delivered = async () => {
      const positions = await product.positions(`${ROUTES_FROM + index + 1}`, made[0], made[made.length - 1])
      return positions.map(({ timestamp }) => timestamp)
    }
    await expect.poll(delivered, { timeout: 60_000, message: `${name} (${speeches[index].name})` }).toEqual(made)
  }
})

/** Returns the arrived devices with one held fix, each with its protocol. */
async function arrived(): Promise<string[]> {
  const { results } = await product.admin<{ results: { device?: string; protocol: string; waiting: number }[] }>(
    '/admin/arrivals',
  )
  return results.filter(({ waiting }) => waiting === 1).map(({ device, protocol }) => `${device} ${protocol}`)
}
