import { expect, it } from 'vitest'
import { keys } from '../../src/store/index.ts'
import { adminFixture, READ_TOKEN } from '../support/admin.ts'

const admin = adminFixture()

it('GET /admin/arrivals shows the bytes of a sender that was not understood only to tokens that may operate', async () => {
  const arrival = { at: Date.now(), address: '10.0.0.1:5', transport: 'tcp', port: 5000, evidence: [], bytes: '2424' }
  await admin.redis.lpush(keys.arrivals, JSON.stringify(arrival))
  const asked = async (token?: string) => {
    const headers = token && { headers: { authorization: `Bearer ${token}` } }
    const { json } = await admin.ask('/admin/arrivals', { ...headers })
    return (json as { results: { address: string; bytes?: string }[] }).results
  }
  expect(await asked()).toMatchObject([{ address: '10.0.0.1:5', bytes: '2424' }])
  const [read] = await asked(READ_TOKEN)
  expect([read.address, read.bytes]).toEqual(['10.0.0.1:5', undefined])
})
