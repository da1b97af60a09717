import { expect, it } from 'vitest'
import type { Position, Store } from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { Verifier } from '../../src/verify/index.ts'
import { deliverAll, startWorker } from '../support/delivering.ts'
import type { TestRedis } from '../support/redis.ts'
import { startReadBackApi } from '../support/tracking/read-back-api.ts'
import { withRedis } from '../support/with-redis.ts'

const FIXES = 1_000_000
const VANS = 50
const AT_ONCE = 1000
const HOUR = 3_600_000
const KEPT_MS = 48 * HOUR

let server: TestRedis
let redis: Store
withRedis((one, connection) => {
  server = one
  redis = connection
})

it('an honest API is not accused over a million fixes, and each fix that it then loses is found', {
  timeout: 1_200_000,
}, async () => {
  const api = await startReadBackApi()
  const apikeys = new Map([['7', ['key-7']]])
  const stop = startWorker({ redisUrl: server.url, baseUrl: api.url, apikeys, delivered: KEPT_MS })
  const tracking = createTrackingClient({ baseUrl: api.url, timeoutMs: 20_000, connections: 4 })
  const each = FIXES / VANS
  const first = Math.floor(Date.now() / 1000) - each - 600
  for (let at = 0; at < each; at += AT_ONCE)
    await deliverAll(
      redis,
      // Each route has two vans, one of them ten seconds late.
      Array.from({ length: VANS }, (_, van) => ({
        lane: `7/${100 + Math.floor(van / 2)}/${1000 + Math.floor(van / 2)}`,
        device: String(500 + van),
        positions: Array.from({ length: AT_ONCE }, (_unused, index) =>
          positionOf(first + at + index - (van % 2) * 10, van),
        ),
      })),
    )
  const verifier = new Verifier({
    redis,
    tracking: () => tracking,
    companies: () => [{ company_id: '7', name: 'Seven', apikey: 'key-7', oauth_token: 'token-7' }],
    settings: { share: 0, after: 1, repair: false },
    keptMs: KEPT_MS,
    batch: { max_positions: 500, max_wait: 0 },
    zone: () => 'Europe/Berlin',
    isUp: async () => () => true,
    answered: () => {},
    gapMs: 0,
    pauseMs: 10,
  })
  const all = async () => {
    const found = { checked: 0, missing: 0, unknown: 0 }
    const day = { from: Date.now() - 24 * HOUR, until: Date.now() }
    const wanted = { isWanted: () => true, day, repair: false, signal: new AbortController().signal }
    for (let from: string | undefined = ''; from !== undefined; ) {
      const result = await verifier.run({ ...wanted, from })
      found.checked += result.checked
      found.missing += result.missing.length
      found.unknown += result.unknown.length
      from = result.next
    }
    return found
  }
  expect(await all()).toEqual({ checked: FIXES, missing: 0, unknown: 0 })
  let count = 0
  for (let route = 1000; route < 1000 + VANS / 2; route++) api.lose(`7/${route}`, () => ++count % 1000 === 0)
  expect(await all()).toEqual({ checked: FIXES, missing: FIXES / 1000, unknown: 0 })
  verifier.close()
  await stop()
  await tracking.close()
  await api.close()
})

function positionOf(timestamp: number, van: number): Position {
  return { timestamp, latitude: 40 + van / 7, longitude: Math.round((timestamp % 3000) * 1234.5) / 1e7, accuracy: 5 }
}
