import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { startProduct } from '../rig/product.ts'

const COUNT = 100_000
const WRITES = 5

it('a gateway with 100,000 devices stays ready while the roster is written once a second', async () => {
  const vans = Array.from({ length: COUNT }, (_, n) => n + 1)
  const product = await startProduct({
    'devices.yaml': vans.map((n) => `"${n}": { name: Van ${n}, company_id: 7, courier_id: ${n} }\n`).join(''),
    'routes.csv': `device,route_id,from,until\n${vans.map((n) => `Van ${n},${n},2026-01-01 00:00,2036-01-01 00:00\n`).join('')}`,
  })
  onTestFinished(async () => void (await product.end()))
  const ready = () => fetch(`http://127.0.0.1:${product.ports.admin}/readyz`).then(({ ok }) => ok)
  await expect.poll(ready, { timeout: 60_000 }).toBe(true)
  const seen: boolean[] = []
  const took: number[] = []
  const end = new AbortController()
  const watched = (async () => {
    while (!end.signal.aborted) {
      seen.push(await ready())
      await pause(50)
    }
  })()
  for (let n = 1; n <= WRITES; n++) {
    const began = performance.now()
    const body = JSON.stringify({ name: `Van ${n}`, company_id: 7, courier_id: n, route_id: COUNT + n })
    await product.admin(`/admin/devices/${n}`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    took.push(Math.round(performance.now() - began))
    await pause(Math.max(0, 1000 - (performance.now() - began)))
  }
  end.abort()
  await watched
  expect([Math.max(...took) < 3000, seen.filter((each) => !each)]).toEqual([true, []])
})
