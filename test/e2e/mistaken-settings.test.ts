import { expect, it, onTestFinished, vi } from 'vitest'
import { COMPANY, startProduct } from '../rig/product.ts'

const soon = { timeout: 60_000, interval: 100 }
const NOW = Math.floor(Date.now() / 1000)

it.each([
  ['has a mistake', (yaml: string) => `${yaml}\nlimits: { max_connection: 1 }\n`],
  ['is empty', () => ''],
])('processes that are killed while gateway.yaml %s start with the settings in effect', async (_, broken) => {
  const product = await startProduct({ 'devices.yaml': '1: { company_id: 7, courier_id: 42, route_id: 1001 }\n' })
  onTestFinished(async () => void (await product.end()))
  const yaml = (await product.read('gateway.yaml')).replaceAll(COMPANY.apikey, 'another-apikey')
  await product.write('gateway.yaml', yaml)
  await expect.poll(product.said, soon).toContain('configuration reloaded')
  await product.write('gateway.yaml', broken(yaml))
  await expect.poll(product.said, soon).toContain('gateway.yaml')
  const before = ['gateway', 'worker', 'admin'].map((role) => product.pidsOf(role)[0])
  for (const pid of before) process.kill(pid, 'SIGKILL')
  const url = `http://127.0.0.1:${product.ports['http/osmand']}/?id=1&lat=52.5&lon=13.4&timestamp=${NOW}`
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), soon)
  await expect.poll(async () => (await product.positions('1001', NOW - 10, NOW + 10)).length, soon).toBe(1)
  await vi.waitFor(() => product.admin('/admin/status'), soon)
})
