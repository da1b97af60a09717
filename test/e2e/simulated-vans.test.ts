import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFleet, devicesYaml, ROUTES_FROM } from '../../src/simulate/fleet.ts'
import { runSimulation } from '../../src/simulate/simulation.ts'
import { speeches } from '../../src/simulate/speak/index.ts'
import { type Product, startProduct } from '../support/product.ts'

const FLEET = createFleet(speeches.length, speeches)

let product: Product

beforeAll(async () => {
  product = await startProduct({ 'devices.yaml': devicesYaml(FLEET, '7') })
}, 90_000)

afterAll(() => product?.end())

describe('vans that speak 25 protocols, with one port for all of TCP', () => {
  it('are acknowledged, and all of their fixes are delivered', { timeout: 90_000 }, async () => {
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
      await expect.poll(delivered, { timeout: 20_000, message: `${name} (${speeches[index].name})` }).toEqual(made)
    }
  })
})
