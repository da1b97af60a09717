import { setTimeout as pause } from 'node:timers/promises'
import type { MqttClient } from 'mqtt'
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { type Product, startProduct } from '../rig/product.ts'
import { findProgram, type Program } from '../support/debian-program.mjs'
import { freePorts } from '../support/free-ports.ts'
import { startMosquitto } from '../support/mosquitto.ts'
import { client, position } from '../support/mqtt.ts'
import { signal } from '../support/processes.ts'

let program: Program | undefined
beforeAll(async () => {
  program = await findProgram('mosquitto')
}, 120_000)

const VANS = 5
const FIXES = 200
const T0 = Math.floor(Date.now() / 1000) - 10_000

const DEVICES = Array.from(
  { length: VANS },
  (_, van) => `van-${van}: { company_id: 7, courier_id: ${40 + van}, route_id: ${1000 + van} }\n`,
).join('')

interface Status {
  readonly findings: readonly { code: string; message: string; evidence: string[] }[]
  readonly custody: { received: number; delivered: number; difference: number; filtered: number }
}

interface Chain {
  readonly links: readonly { readonly evidence: readonly string[] }[]
}

/**
 * Vans that publish a fix every few milliseconds with QoS 1. Mosquitto confirms a message before it is on its own disk: so those of
 * the last ten seconds, for a busy machine, are published again when it is gone.
 */
class Vans {
  readonly #publisher: MqttClient
  #confirmed: { readonly van: number; readonly fix: number; readonly at: number }[] = []

  constructor(publisher: MqttClient) {
    this.#publisher = publisher
    publisher.on('close', () => this.#again())
  }

  async drive(fixes: number): Promise<void> {
    const sent: Promise<unknown>[] = []
    for (let fix = 0; fix < fixes; fix++) {
      for (let van = 0; van < VANS; van++) sent.push(this.publish(van, fix))
      await pause(5)
    }
    await Promise.all(sent)
  }

  async publish(van: number, fix: number): Promise<void> {
    const text = position({ lat: 50 + fix / 1e4, timestamp: T0 + fix })
    await this.#publisher.publishAsync(`fleet/van-${van}/pos`, text, { qos: 1 })
    this.#confirmed.push({ van, fix, at: performance.now() })
  }

  #again(): void {
    const last = this.#confirmed.filter(({ at }) => at > performance.now() - 10_000)
    this.#confirmed = []
    // At the end of the test the broker stays stopped.
    for (const { van, fix } of last) this.publish(van, fix).catch(() => {})
  }
}

async function findings(product: Product): Promise<Status['findings']> {
  return (await product.admin<Status>('/admin/status')).findings.filter(
    ({ code, message }) => code === 'bridge_down' && message.includes('fleet'),
  )
}

/** Starts a Mosquitto, the product with a bridge to it, and vans. */
async function startAll({ gateways, more = '' }: { readonly gateways: number; readonly more?: string }) {
  const [port] = await freePorts(1)
  const broker = await startMosquitto(program as Program, port)
  const bridge = `{ url: "mqtt://127.0.0.1:${port}", name: fleet, topics: { fleet/+/pos: fix }${more} }`
  const single = `{ url: "mqtt://127.0.0.1:${port}", name: single, topics: { other/+/pos: fix } }`
  const yaml = `gateways: ${gateways}\nmqtt: { broker: null, bridges: [${bridge}, ${single}] }\n`
  const product = await startProduct({ 'devices.yaml': DEVICES }, yaml)
  onTestFinished(async () => void (await product.end()))
  const publisher = await client(port, { reconnectPeriod: 100, clean: false, clientId: 'vans' })
  const vans = new Vans(publisher)
  return { broker, product, vans, driving: vans.drive(FIXES) }
}

async function received(product: Product): Promise<number> {
  return (await product.admin<Status>('/admin/status')).custody.received
}

/** Returns the number of subscribed gateways for each bridge. */
async function subscribedGateways(product: Product): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${product.ports.admin}/metrics`)).text()
  const lines = text.matchAll(/^waybridge_bridge_connected\{bridge="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries(Array.from(lines, ([, bridge, gateways]) => [bridge, Number(gateways)]))
}

async function expectAllOnce(product: Product): Promise<void> {
  const custody = async () => (await product.admin<Status>('/admin/status')).custody
  await expect.poll(custody, { timeout: 60_000 }).toMatchObject({ delivered: VANS * FIXES, difference: 0 })
  for (let van = 0; van < VANS; van++) {
    const positions = await product.positions(String(1000 + van), T0 - 1, T0 + FIXES)
    expect(positions.map(({ timestamp }) => timestamp - T0)).toEqual(Array.from({ length: FIXES }, (_, fix) => fix))
  }
}

beforeEach(({ skip }) => skip(!program, 'there is no mosquitto, and apt cannot fetch it'))

it('a broker and a gateway that are killed under load lose nothing, and nothing is pushed twice', async () => {
  const { broker, product, vans, driving } = await startAll({ gateways: 1 })
  for (const from of [50, 500]) {
    await expect.poll(() => received(product), { timeout: 30_000 }).toBeGreaterThan(from)
    await broker.stop('SIGKILL')
    await broker.start()
    await expect.poll(() => received(product), { timeout: 30_000 }).toBeGreaterThan(from + 200)
    for (const pid of product.pidsOf('gateway')) signal(pid, 'SIGKILL')
  }
  await driving
  await expectAllOnce(product)

  // A killed gateway may not have reported what it received just before.
  await vans.publish(1, FIXES)
  const heard = async () => (await product.admin<Chain>('/admin/devices/van-1/chain')).links[0].evidence[0]
  await expect.poll(heard, { timeout: 30_000 }).toMatch(/: fix over mqtt from bridge fleet$/)
  await broker.stop()
  await expect
    .poll(() => findings(product), { timeout: 60_000 })
    .toMatchObject([
      {
        message: 'bridge fleet does not get what devices publish at its broker',
        evidence: expect.arrayContaining(['the connection is refused: no broker listens there (ECONNREFUSED)']),
      },
    ])
  await broker.start()
  await expect.poll(() => findings(product), { timeout: 60_000 }).toEqual([])
}, 240_000)

it('two gateways with a shared subscription that are killed in turns lose nothing, and push nothing twice', async () => {
  const { product, driving } = await startAll({ gateways: 2, more: ', shared_group: waybridge' })
  for (const from of [50, 300, 500, 700]) {
    await expect.poll(() => received(product), { timeout: 30_000 }).toBeGreaterThan(from)
    const oldest = () =>
      product
        .pidsOf('gateway')
        .toSorted((one, other) => one - other)
        .at(0)
    // Both gateways may have been killed a moment ago.
    let pid: number | undefined
    await expect.poll(() => (pid = oldest()), { timeout: 30_000 }).toBeDefined()
    signal(pid!, 'SIGKILL')
  }
  await driving
  await expectAllOnce(product)
  // Without a group, only the first gateway subscribes.
  await expect.poll(() => subscribedGateways(product), { timeout: 40_000 }).toEqual({ fleet: 2, single: 1 })
}, 240_000)
