import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import teltonika from '../../protocols/teltonika/index.ts'
import type { StatusJson } from '../../src/admin/schemas/status.ts'
import type { TrialJson } from '../../src/admin/schemas/trial.ts'
import { createFleet, devicesYaml, type FleetVan } from '../../src/sandbox/fleet.ts'
import { teltonika as speech } from '../../src/sandbox/speak/teltonika.ts'
import { type Product, startProduct } from '../rig/product.ts'
import { waybridgeProcess } from '../support/cli.ts'
import { type OldServer, openOldServer } from '../support/old-server.ts'
import { signal } from '../support/processes.ts'

const VANS = 200
const DELAY_MS = 20
const ALL_WELL = `${VANS} of ${VANS} devices understood, all answers equal`
const soon = { timeout: 60_000, interval: 100 }
const fleet = createFleet(VANS, [speech])

let old: OldServer
let product: Product

beforeAll(async () => {
  old = await openOldServer(teltonika, { delayMs: DELAY_MS })
  const trial = `trial: { host: 127.0.0.1, port: ${old.port} }`
  const listener = `  - { transport: tcp, protocol: teltonika, port: 0, host: 127.0.0.1, ${trial} }\n`
  product = await startProduct({ 'devices.yaml': devicesYaml(fleet, '7') }, listener)
})
afterAll(async () => {
  await product.end()
  await old.stop()
})

/** A van that sends a position every `everyMs`, waits for each answer, and reconnects if it gets none. */
class TestVan {
  /** Duration of each answer, ms. */
  readonly waits: number[] = []
  acknowledged = 0
  /** Number of missing answers. */
  hangUps = 0
  readonly #van: FleetVan
  readonly #port: () => number
  #socket: Socket | undefined
  #isEnded = false

  constructor(van: FleetVan, port: () => number) {
    this.#van = van
    this.#port = port
  }

  async drive(everyMs: number): Promise<void> {
    let time = Date.now() - 60_000
    while (!this.#isEnded) {
      const isAnswered = await this.#send(time).catch(() => false)
      if (isAnswered) {
        this.acknowledged++
        time += 1000
      } else this.#hangUp()
      await sleep(everyMs * (0.5 + Math.random()))
    }
    this.#socket?.destroy()
  }

  end(): void {
    this.#isEnded = true
  }

  async #send(time: number): Promise<boolean> {
    const fix = { time, latitude: 52.5, longitude: 13.4, valid: true, speed: 10, heading: 90, satellites: 9, hdop: 1 }
    const socket = (this.#socket ??= await this.#login())
    const began = performance.now()
    await answered(socket, speech.packet([fix], { id: this.#van.id, serial: 1 }).bytes, 4)
    this.waits.push(performance.now() - began)
    return true
  }

  async #login(): Promise<Socket> {
    const socket = connect({ port: this.#port(), host: '127.0.0.1', noDelay: true })
    socket.on('error', () => {})
    await once(socket, 'connect')
    await answered(socket, speech.login!(this.#van.id).bytes, 1)
    return socket
  }

  #hangUp(): void {
    this.hangUps++
    this.#socket?.destroy()
    this.#socket = undefined
  }
}

/** Sends a packet; resolves when the answer has this many bytes, rejects if the connection ends before. */
async function answered(socket: Socket, packet: Buffer, length: number): Promise<void> {
  let left = length
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const take = (bytes: Buffer) => (left -= bytes.length) <= 0 && resolve()
  const fail = () => reject(new Error('the connection ended'))
  const timer = setTimeout(fail, 10_000)
  socket.on('data', take).on('close', fail)
  if (socket.destroyed) fail()
  else socket.write(packet)
  await promise.finally(() => {
    clearTimeout(timer)
    socket.off('data', take).off('close', fail)
  })
}

/** Returns true if a van connects to the gateway; the others connect to the old server. */
const isBeside = (_: unknown, index: number) => index % 2 === 0

/** Drives all vans until `done` resolves. */
async function drive(port: (van: number) => number, done: (vans: readonly TestVan[]) => Promise<unknown>) {
  const vans = fleet.map((van, index) => new TestVan(van, () => port(index)))
  const driven = Promise.all(vans.map((van) => van.drive(1000)))
  await done(vans)
  for (const van of vans) van.end()
  await driven
  return vans
}

/** Returns a quantile of the answer times, ms. */
function waited(vans: readonly TestVan[], share: number): number {
  const waits = vans.flatMap((van) => van.waits).toSorted((a, b) => a - b)
  return waits[Math.floor(waits.length * share)]
}

function acknowledgedOf(vans: readonly TestVan[]): number {
  return vans.reduce((sum, van) => sum + van.acknowledged, 0)
}

/** Resolves when each van has got this number of further answers. */
async function untilAnswered(vans: readonly TestVan[], times = 6): Promise<void> {
  const wanted = vans.map(({ acknowledged }) => acknowledged + times)
  const waiting = () => vans.filter(({ acknowledged }, index) => acknowledged < wanted[index]).length
  await expect.poll(waiting, soon).toBe(0)
}

const oursPort = () => product.ports['tcp/teltonika#2']
const trial = () => product.admin<TrialJson>('/admin/trial')
const status = () => product.admin<StatusJson>('/admin/status')
const putVan = (change: object) =>
  product.admin(`/admin/devices/${fleet[0].id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ company_id: 7, courier_id: 1, route_id: 1001, name: 'Van 1', ...change }),
  })

describe('a trial of 200 vans', () => {
  it('a trial of 200 vans understands all of them, and gives each the answers of the old server', async () => {
    await drive(oursPort, (all) => untilAnswered(all))
    await expect.poll(async () => (await trial()).verdict, soon).toBe(ALL_WELL)
    const { account, devices, left_out, running } = await trial()
    expect([running, left_out, devices.length, account?.missed]).toEqual([true, 0, VANS, 0])
    const positions = devices.reduce((sum, device) => sum + device.positions, 0)
    expect(positions).toBe(old.fixes)
  })

  it('a trial of 200 vans delays their answers hardly more than the old server itself', async () => {
    const vans = await drive(
      (van) => (isBeside(undefined, van) ? oursPort() : old.port),
      () => sleep(20_000),
    )
    const beside = vans.filter(isBeside)
    const alone = vans.filter((van, index) => !isBeside(van, index))
    const [added, addedMost] = [0.5, 0.99].map((share) => waited(beside, share) - waited(alone, share))
    console.log({ p50: [waited(alone, 0.5), added], p99: [waited(alone, 0.99), addedMost] })
    // A loaded machine adds its own delay; gateway/wire/trial.test.ts measures that of the gateway.
    expect(vans.filter(({ hangUps }) => hangUps > 0)).toEqual([])
    expect(waited(beside, 0.99)).toBeLessThan(waited(alone, 0.99) + 2000)
  })

  it('a trial of 200 vans pushes nothing, and shows where the vans are', async () => {
    const { custody, trial: account, vans } = await status()
    expect(custody).toMatchObject({ received: 0, filtered: 0, delivered: 0, waiting: 0, held: 0, difference: 0 })
    expect(account?.seen).toBe((account?.stored ?? 0) + (account?.missed ?? 0))
    expect(vans.never).toBe(0)
    const chain = await product.admin<{ sentence: string; broken: string | null }>(
      `/admin/devices/${fleet[0].id}/chain`,
    )
    expect(chain.sentence).toContain('on trial: the old server answers it')
    expect(chain.sentence).not.toContain('delivered')
    expect([null, 'connected']).toContain(chain.broken)
  })

  it('a trial of 200 vans has its verdict on the command line', async () => {
    const { code, out } = await waybridgeProcess(['trial', '--config', product.dir])
    expect(out).toContain(ALL_WELL)
    expect(code).toBe(0)
    const json = await waybridgeProcess(['trial', '--json', '--config', product.dir])
    expect((JSON.parse(json.out) as TrialJson).devices).toHaveLength(VANS)
  })

  it('a trial of 200 vans continues after restarts of both servers under load, and the old one loses nothing', async () => {
    const before = old.fixes
    const vans = await drive(oursPort, async (all) => {
      await untilAnswered(all, 1)
      await old.stop()
      await sleep(1000)
      await old.start()
      await untilAnswered(all)
      for (const pid of product.pidsOf('gateway')) signal(pid, 'SIGKILL')
      await untilAnswered(all)
    })
    expect(old.fixes - before).toBeGreaterThanOrEqual(acknowledgedOf(vans))
    await expect.poll(async () => (await trial()).verdict, soon).toBe(ALL_WELL)
    expect((await status()).findings.filter(({ code }) => code === 'trial_unreachable')).toEqual([])
  })

  it('a trial of 200 vans continues while Redis is stopped', async () => {
    const before = await trial()
    const redis = product.redisPid() ?? 0
    await drive(oursPort, async (all) => {
      await untilAnswered(all, 1)
      signal(redis, 'SIGSTOP')
      await untilAnswered(all)
      signal(redis, 'SIGCONT')
      await untilAnswered(all, 1)
    })
    await expect.poll(async () => (await trial()).account?.seen, soon).toBeGreaterThan(before.account?.seen ?? 0)
    const { account } = await trial()
    expect(account?.seen).toBe((account?.stored ?? 0) + (account?.missed ?? 0))
  })

  it('a trial of 200 vans can switch a van, whose positions are then pushed, and back', async () => {
    await putVan({ trial: 'off' })
    const [van] = fleet
    const seen = old.fixes
    const own = new TestVan(van, oursPort)
    const driven = own.drive(100)
    await expect.poll(() => own.acknowledged, soon).toBeGreaterThan(5)
    own.end()
    await driven
    expect(old.fixes).toBe(seen)
    const now = Math.floor(Date.now() / 1000)
    const stored = async () => (await product.positions('1001', now - 600, now)).length
    await expect.poll(stored, soon).toBe(own.acknowledged)
    await putVan({ trial: 'on' })
    const back = new TestVan(van, oursPort)
    const drivenBack = back.drive(100)
    await expect.poll(() => old.fixes, soon).toBeGreaterThan(seen)
    back.end()
    await drivenBack
  })
})
