import { afterAll, describe, expect, it } from 'vitest'
import type { Fix } from '../../protocols/kit/index.ts'
import { accountFor, isWhole, lastLine, resultLines } from '../../src/sandbox/demo/account.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { startService } from '../support/tracking/service.ts'

const { url } = await startService()
const client = createTrackingClient({ baseUrl: url, timeoutMs: 5000, connections: 2 })
afterAll(() => client.close())

const START = 1_790_000_000
/** A time of five hours, which is read in three windows. */
const FIXES: Fix[] = Array.from({ length: 100 }, (_, index) => ({
  time: (START + index * 180) * 1000,
  latitude: 52.5 + index / 1e4,
  longitude: 13.4 - index / 1e4,
  valid: true,
}))

await push('1001', '42', FIXES.slice(0, 90))
await push(
  '1002',
  '41',
  FIXES.map((fix, index) => ({ ...fix, latitude: fix.latitude + (index === 7 ? 2e-6 : 0.8e-6) })),
)

describe('the account of sent fixes', () => {
  it('the account finds all delivered fixes over several windows', async () => {
    expect(await accountOf('1001', { sent: FIXES.slice(0, 90), acked: 90 })).toEqual({
      sent: 90,
      acked: 90,
      delivered: 90,
      lost: 0,
    })
  })

  it('the account counts a missing acknowledged fix as lost, but not one that was not acknowledged', async () => {
    expect(await accountOf('1001', { sent: FIXES, acked: 93 })).toEqual({
      sent: 100,
      acked: 93,
      delivered: 90,
      lost: 3,
    })
  })

  it('the account counts a fix in the wrong place as lost', async () => {
    expect(await accountOf('1002', { sent: FIXES, acked: 100 })).toEqual({
      sent: 100,
      acked: 100,
      delivered: 99,
      lost: 1,
    })
  })

  it('the account counts a fix at the wrong second as lost', async () => {
    const late = FIXES.slice(0, 90).map((fix) => ({ ...fix, time: fix.time + 1000 }))
    expect((await accountOf('1001', { sent: late, acked: 90 })).lost).toBe(90)
  })

  it('the account adds up several journeys, also empty ones', async () => {
    const journeys = [
      { ...journey('1001'), trip: { sent: FIXES.slice(0, 50), acked: 50 } },
      { ...journey('1002'), trip: { sent: [], acked: 0 } },
      { ...journey('1002'), trip: { sent: FIXES.slice(0, 10), acked: 9 } },
    ]
    expect(await accountFor(client, journeys)).toEqual({ sent: 60, acked: 59, delivered: 59, lost: 1 })
  })

  it('the account says why the service cannot be read', async () => {
    const trip = { sent: FIXES, acked: 100 }
    await expect(accountFor(client, [{ ...journey('1001'), oauthToken: 'wrong', trip }])).rejects.toThrow(
      /^The tracking service cannot be read: 401 /,
    )
  })
})

describe('the end of a demo', () => {
  const account = { sent: 10, acked: 10, delivered: 10, lost: 0 }

  it('the end of a demo prints a line for programs', () => {
    expect(lastLine({ account, duplicates: 2 })).toBe('sent=10 acked=10 delivered=10 lost=0 duplicates=2')
  })

  it('a demo is complete if all fixes were acknowledged and delivered', () => {
    expect(isWhole({ account, duplicates: 0 })).toBe(true)
    expect(isWhole({ account: { ...account, acked: 9 }, duplicates: 0 })).toBe(false)
    expect(isWhole({ account: { ...account, lost: 1 }, duplicates: 0 })).toBe(false)
  })

  it('the end of a demo says where the gateway has the missing fixes', () => {
    const status = { waiting: 3, parked: 1, held: 0, filtered: 2, delivered: 4 }
    expect(resultLines({ account: { sent: 12, acked: 10, delivered: 4, lost: 6 }, duplicates: 0, status })).toEqual([
      '2 fixes were not acknowledged: the demo was stopped.',
      '6 acknowledged fixes are not at the tracking service; the gateway has 3 waiting, 1 parked, 2 filtered.',
    ])
  })
})

function journey(route: string) {
  return { company: '7', route, oauthToken: 'token-7' }
}

function accountOf(route: string, trip: { sent: Fix[]; acked: number }) {
  return accountFor(client, [{ ...journey(route), trip }])
}

async function push(route: string, courier: string, fixes: readonly Fix[]): Promise<void> {
  const positions = fixes.map(({ time, latitude, longitude }) => {
    return { timestamp: time / 1000, point: { lat: latitude, lon: longitude }, accuracy: 5 }
  })
  const answer = await client.push({ route, courier, apikey: 'key-7', body: JSON.stringify({ positions }) })
  expect(answer).toMatchObject({ status: 200 })
}
