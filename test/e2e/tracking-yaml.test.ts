import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { waybridgeProcess } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { COMPANY, type Product, startProduct } from '../support/product.ts'

let product: Product

beforeAll(async () => {
  product = await startProduct({
    'devices.yaml': '1: { company_id: 7, courier_id: 42, route_id: 1001 }\n',
    'tracking.yaml': 'companies: []\nroutes: none\n',
  })
}, 60_000)
afterAll(async () => void (await product.end()))

/** The status of an empty push; 0 where nobody listens. */
async function push(): Promise<number> {
  const path = `/api/v1/couriers/42/routes/1001/push-positions-v3?apikey=${COMPANY.apikey}`
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"positions":[]}' }
  return fetch(`http://127.0.0.1:${product.ports.tracking}${path}`, request).then(
    ({ status }) => status,
    () => 0,
  )
}

it('ignores tracking.yaml under start, and says so once', async () => {
  expect(await push()).toBe(200)
  expect(product.said().split(`${product.dir}/tracking.yaml: only \`waybridge tracking\``).length - 1).toBe(1)
})

it('runs one tracking service for each data folder, also after a kill', async () => {
  const dataDir = join(product.dir, 'data')
  const dir = await folder({
    'tracking.yaml': `data_dir: ${dataDir}\nlisten: { port: 0 }\nmonitor: { port: 0 }\n`,
  })
  const second = {
    code: 1,
    out: '',
    errors: `Another tracking service is running on ${dataDir}: end it, or choose another data_dir.\n`,
  }
  expect(await waybridgeProcess(['tracking', '--config', dir])).toEqual(second)
  expect(await push()).toBe(200)

  const [killed] = product.pidsOf('tracking')
  process.kill(killed, 'SIGKILL')
  await expect
    .poll(async () => [product.pidsOf('tracking').includes(killed), await push()], { timeout: 20_000 })
    .toEqual([false, 200])
  expect(await waybridgeProcess(['tracking', '--config', dir])).toEqual(second)
}, 60_000)
