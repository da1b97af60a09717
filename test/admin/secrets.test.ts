import { expect, it } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { keys } from '../../src/store/index.ts'
import { adminFixture, store, workerOf } from '../support/admin.ts'
import { beatingHeardBook } from '../support/beat.ts'

const admin = adminFixture()

it('no answer of the admin port contains a secret', async () => {
  const { redis } = admin
  const heard = beatingHeardBook(redis)
  const device = '0356307042441013'
  const session = Object.assign(new Conversation('mqtt', '10.1.2.3:1'), { device, secret: 'canary-secret' })
  heard.of(device).spoke(session, 'owntracks')
  await expect.poll(() => redis.hlen(keys.devices), { timeout: 30_000 }).toBe(1)
  await store(redis, '7/42/1001', { count: 2 })
  const { leases, lease } = workerOf(redis)
  await leases.park(await lease('7/42/1001'), { status: 403, message: 'no' })

  const paths = [
    '/healthz',
    '/readyz',
    '/metrics',
    '/admin/status',
    '/admin/lanes',
    '/admin/devices',
    `/admin/devices/${device}`,
    '/admin/devices/356307042441014',
    '/admin/parked',
    '/admin/audit',
    '/admin/unknown',
  ]
  const asked = await Promise.all(
    paths.flatMap((path) => [admin.ask(path), admin.ask(path, { headers: {} }), admin.ask(path, { method: 'POST' })]),
  )
  const retried = await admin.ask('/admin/parked/retry?all=true', { method: 'POST' })
  const logged = await admin.ask('/admin/audit')
  expect(logged.text).toContain('admin.tokens[1]')
  const said = [...asked, retried, logged].map(({ headers, text }) => JSON.stringify([...headers]) + text)
  expect(said).toHaveLength(35)
  expect(said.join('')).toContain('0356307042441013')
  for (const secret of ['canary', 'another-token']) expect(said.join('')).not.toContain(secret)
  await heard.close()
})
