import { expect, it, onTestFinished } from 'vitest'
import { COMPANY, startProduct } from './product.ts'

it('start takes no notice of tracking.yaml, and says so once', async () => {
  const product = await startProduct({
    'devices.yaml': '1: { company_id: 7, courier_id: 42, route_id: 1001 }\n',
    'tracking.yaml': 'companies: []\nroutes: none\n',
  })
  onTestFinished(async () => void (await product.end()))
  const push = `/api/v1/couriers/42/routes/1001/push-positions-v3?apikey=${COMPANY.apikey}`
  const answer = await fetch(`http://127.0.0.1:${product.ports.tracking}${push}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"positions":[]}',
  })
  expect(answer.status).toBe(200)
  expect(product.said().split(`${product.dir}/tracking.yaml: only for`).length - 1).toBe(1)
}, 60_000)
