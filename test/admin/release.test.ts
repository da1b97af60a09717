import { expect, it } from 'vitest'
import { surveyHeld } from '../../src/store/index.ts'
import { adminFixture, hold, READ_TOKEN, TOKEN } from '../support/admin.ts'
import { waybridge } from '../support/cli.ts'

const admin = adminFixture()
const VAN = '356307042441014'
const OTHER = '356307042441015'

const env = () => ({ WAYBRIDGE_ADMIN_URL: admin.url, WAYBRIDGE_ADMIN_TOKEN: TOKEN })
const release = (token = TOKEN) =>
  admin.ask(`/admin/devices/${VAN}/release`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
const held = async () =>
  (await Array.fromAsync(surveyHeld(admin.redis))).map(({ reason, device, fixes }) => [reason, device, fixes])

it('POST /admin/devices/{id}/release leaves only suspicious held fixes to a gateway, which finds their lanes', async () => {
  await hold(admin.redis, 'suspicious', VAN, { count: 3 })
  await hold(admin.redis, 'clock', VAN)
  await hold(admin.redis, 'suspicious', OTHER)
  expect(await release()).toMatchObject({ status: 200, json: { released: 3 } })
  expect(await held()).toEqual([
    ['no_route', VAN, 3],
    ['clock', VAN, 1],
    ['suspicious', OTHER, 1],
  ])
  const { results } = (await admin.ask('/admin/audit')).json as { results: { details?: object }[] }
  expect(JSON.stringify(results[0])).toContain('"released":3')
  expect((await release()).json).toEqual({ released: 0 })
})

it('POST /admin/devices/{id}/release needs a token that may operate', async () => {
  await hold(admin.redis, 'suspicious', VAN)
  expect((await release(READ_TOKEN)).status).toBe(403)
  expect(await held()).toEqual([['suspicious', VAN, 1]])
})

it('waybridge release says how many fixes of a device it releases', async () => {
  await hold(admin.redis, 'suspicious', VAN)
  expect(await waybridge(['release', 'Van 14'], { env: env() })).toEqual({
    code: 0,
    out: `${VAN}: released 1 fix that was held as suspicious\n`,
    errors: '',
  })
})

it('waybridge release says that no device has a name', async () => {
  const { code, errors } = await waybridge(['release', 'Van 77'], { env: env() })
  expect([code, errors]).toEqual([1, expect.stringMatching(/^No device has the id or name "Van 77"/)])
})
