import { expect, it } from 'vitest'
import { keys } from '../../src/store/index.ts'
import { adminFixture, refuse, store, TOKEN, withProcesses, workerOf } from '../support/admin.ts'
import { waybridge } from '../support/cli.ts'

const admin = adminFixture()
withProcesses(admin)

interface Printed {
  readonly sentence: string
  readonly broken: string | null
}

/** Returns what the real admin port says about a device. */
async function why(device: string): Promise<Printed> {
  const { code, out } = await waybridge(['why', device, '--json', '--url', admin.url, '--token', TOKEN])
  expect(code).toBe(0)
  return JSON.parse(out) as Printed
}

it('why explains a lane that the service refuses as a whole', async () => {
  await store(admin.redis, '7/42/1001', { count: 3 })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/42/1001'), { status: 404, message: 'no such route' })
  expect((await why('Van 12')).sentence).toBe(
    'Van 12 was never heard, on route 1001 (courier 42); not heard since it was configured, route 1001 by devices.yaml:2, refused 404 by the service (no such route), 3 parked: correct the entry',
  )
})

it('why explains refused positions on the present route and on another one', async () => {
  await store(admin.redis, '7/43/2001', { count: 3 })
  await store(admin.redis, '7/43/1999', { count: 2 })
  for (const lane of ['7/43/2001', '7/43/1999'])
    await refuse(admin.redis, lane, 2, { status: 422, message: 'accuracy: no' })
  expect((await why('Van 14')).sentence).toMatch(
    /; not heard since it was configured, route 2001 by routes\.csv:2, refused 422 by the service \(accuracy: no\), 2 parked and 2 on other routes: correct the cause and retry them, or delete them$/,
  )
})

it('why explains fixes that wait while the service is down', async () => {
  await store(admin.redis, '7/42/1001', { count: 5 })
  await admin.redis.hset(keys.upstream, { state: 'down', since: Date.now() })
  expect((await why('Van 12')).sentence).toMatch(
    /; never heard, route 1001 by devices\.yaml:2, 5 waiting since \d\d:\d\d:\d\dZ: the service is down since \d\d:\d\d:\d\dZ$/,
  )
})
