import { expect, it } from 'vitest'
import { adminFixture, refuse, store, withProcesses, workerOf } from '../support/admin.ts'

const [VAN_21, VAN_22, VAN_23] = ['1', '3', '7']
const LANE = '7/44/2002'
const admin = adminFixture({
  shards: 3,
  devices: [VAN_21, VAN_22, VAN_23]
    .map((id) => `"${id}": { company_id: 7, courier_id: 44, route_id: 2002 }\n`)
    .join(''),
})
withProcesses(admin)

it('the chain of a van leaves out the refused positions of another van on its route in another shard', async () => {
  const { redis } = admin
  const vans = [VAN_21, VAN_22, VAN_23]
  expect(vans.map((van) => redis.shards.indexOf(redis.shardOf(van)))).toEqual([0, 1, 2])
  await Promise.all(vans.map((device) => store(redis, LANE, { device, count: 2 })))
  const { leases, lease } = workerOf(redis.shardOf(VAN_22))
  await leases.park(await lease(LANE), { status: 404, message: 'no such route' })
  await refuse(redis.shardOf(VAN_23), LANE, 1, { status: 422, message: 'no such accuracy' })

  const sentences = await Promise.all(vans.map(sentenceOf))
  expect(sentences[0]).not.toMatch(/refused|parked/)
  expect(sentences[1]).toMatch(/refused 404 by the service \(no such route\), 2 parked: correct the (?:entry|line)$/)
  expect(sentences[2]).toMatch(/refused 422 by the service \(no such accuracy\), 1 parked/)
  const { json } = await admin.ask('/admin/parked')
  expect(json).toMatchObject({ results: [{ fixes: 3, parked: { status: 404 }, refused: [{ status: 422, count: 1 }] }] })
})

async function sentenceOf(van: string): Promise<string> {
  const { status, json } = await admin.ask(`/admin/devices/${van}/chain`)
  expect(status).toBe(200)
  return (json as { sentence: string }).sentence
}
