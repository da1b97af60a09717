import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ok, type Respond, startApi, status } from '../rig/api.ts'
import { type Product, runProduct } from '../rig/product.ts'

/** The data folder; its README describes the content. */
const FOLDER = fileURLToPath(new URL('../support/data-format-1', import.meta.url))
const START = Date.parse('2026-11-20T06:30:00Z') / 1000
const VAN_12 = '356307042441013'
const VAN_15 = '356307042441015'
const VAN_16 = '356307042441016'
const UNKNOWN = '356307042441099'
const soon = { timeout: 60_000, interval: 50 }

/** Answers of the tracking API when the folder was made. */
const asBefore: Respond = (seen, response) =>
  status(seen.lane === '42/1003' ? 503 : seen.lane === '43/1002' ? 404 : 200)(seen, response)

interface Status {
  readonly custody: Record<string, number>
}

describe('a data folder of format 1', () => {
  let product: Product
  let api: Awaited<ReturnType<typeof startApi>>

  beforeAll(async () => {
    api = await startApi(asBefore)
    const dir = await mkdtemp(join(tmpdir(), 'waybridge-takeover-'))
    await cp(FOLDER, dir, { recursive: true })
    const yaml = await readFile(join(dir, 'gateway.yaml'), 'utf8')
    await writeFile(join(dir, 'gateway.yaml'), yaml.replace('DATA_DIR', join(dir, 'data')).replace('PUSH_URL', api.url))
    product = await runProduct(dir)
  })
  afterAll(async () => {
    await product?.end()
    await api?.close()
  })

  const custody = async () => (await product.admin<Status>('/admin/status')).custody

  /** Sends the fix of this many seconds after the first; resolves when it is acknowledged. */
  async function send(device: string, second: number): Promise<void> {
    const position = `lat=52.5&lon=${13.4 + second / 1000}&accuracy=5&timestamp=${START + second}`
    const url = `http://127.0.0.1:${product.ports['http/osmand']}/?id=${device}&${position}`
    await expect.poll(async () => (await fetch(url)).status, soon).toBe(200)
  }

  it('the takeover of format 1 accounts for every waiting, parked, held and delivered fix', async () => {
    expect(await custody()).toEqual({
      received: 15,
      filtered: 0,
      delivered: 4,
      redelivered: 0,
      waiting: 4,
      parked: 2,
      held: 5,
      discarded: 0,
      difference: 0,
    })
    expect(await product.admin('/admin/parked')).toMatchObject({
      results: [{ courier_id: '43', route_id: '1002', fixes: 2, parked: { status: 404 } }],
    })
    expect(await product.admin(`/admin/devices/${VAN_15}`)).toMatchObject({ held: [{ reason: 'no_route', fixes: 2 }] })
    expect(await product.admin(`/admin/devices/${UNKNOWN}`)).toMatchObject({ held: [{ reason: 'unknown', fixes: 2 }] })
  })

  it('the takeover of format 1 keeps the roster: lines of files, put routes, a put device and a deletion', async () => {
    const { results: lines } = await product.admin<{ results: Record<string, string>[] }>('/admin/routes?company_id=7')
    const routes = lines.map(({ name, courier_id, route_id }) => `${name}: ${courier_id}/${route_id}`)
    expect(new Set(routes)).toEqual(new Set(['Van 12: 42/1003', 'Van 14: 43/1002', 'Van 17: 46/1005']))
    const { results: devices } = await product.admin<{ results: Record<string, unknown>[] }>('/admin/devices')
    const configured = devices.filter(({ configured: is }) => is).map(({ name }) => name)
    expect(new Set(configured)).toEqual(new Set(['Van 12', 'Van 14', 'Van 15', 'Van 17']))
    // The deletion stays in effect, although the file still has the device.
    expect(await product.admin(`/admin/devices/${VAN_16}`)).toMatchObject({
      configured: false,
      file_entry: 'devices.yaml:4',
    })
  })

  it('the takeover of format 1 keeps the data of the embedded tracking service', async () => {
    const timestamps = (await product.positions('1003', START, START + 60)).map(({ timestamp }) => timestamp)
    expect(timestamps).toEqual([START, START + 1])
  })

  it('the takeover of format 1 recognises a repeated fix that was delivered or waits', async () => {
    await send(VAN_12, 1)
    await send(VAN_12, 5)
    await expect.poll(custody, soon).toMatchObject({ received: 17, filtered: 2, waiting: 4, difference: 0 })
  })

  it('the takeover of format 1 delivers waiting fixes once, newest first, when the API accepts them', async () => {
    const taken: number[] = []
    api.respond((seen, response) => {
      if (seen.lane !== '42/1003') return asBefore(seen, response)
      taken.push(...seen.timestamps)
      ok(seen, response)
    })
    await expect.poll(custody, soon).toMatchObject({ waiting: 0, delivered: 8, difference: 0 })
    expect(taken).toEqual([5, 2, 3, 4].map((second) => START + second))
  })

  it('the takeover of format 1 delivers parked fixes on request', async () => {
    api.respond(ok)
    await product.admin('/admin/parked/retry?all=true', { method: 'POST' })
    await expect.poll(custody, soon).toMatchObject({ parked: 0, delivered: 10, difference: 0 })
    expect(new Set(api.timestampsOf('43/1002').slice(-2))).toEqual(new Set([START, START + 1]))
  })

  it('the takeover of format 1 releases held fixes when their device is configured', async () => {
    const entry = { name: 'Van 99', company_id: 7, courier_id: 47, route_id: 1007 }
    const headers = { 'content-type': 'application/json' }
    await product.admin(`/admin/devices/${UNKNOWN}`, { method: 'PUT', headers, body: JSON.stringify(entry) })
    await expect.poll(custody, soon).toMatchObject({ held: 3, delivered: 12, difference: 0 })
    expect(new Set(api.timestampsOf('47/1007'))).toEqual(new Set([START, START + 1]))
  })
})
