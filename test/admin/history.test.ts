import { afterEach, expect, it } from 'vitest'
import { localDay } from '../../src/domain/times.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import type { HeardBook } from '../../src/gateway/heard.ts'
import { addDayNotes, type DayNote, keys, type NotedKind } from '../../src/store/index.ts'
import { adminFixture, store } from '../support/admin.ts'
import { beatingHeardBook } from '../support/beat.ts'

const admin = adminFixture()
const VAN = '0356307042441013'
const MIN = 60_000
const startOfToday = () => localDay(Date.now(), 'UTC').from
const TODAY = startOfToday()
const YESTERDAY = localDay(TODAY - 1, 'UTC').from
const BEFORE = '?from=2000-01-01'

interface History {
  readonly days: readonly {
    readonly date: string
    readonly fixes: number
    readonly late: number
    readonly connected: readonly { from_at: string; until_at: string }[]
    readonly gaps: readonly { from_at: string; until_at: string; reason: string; message: string }[]
  }[]
}

const heard: HeardBook[] = []
afterEach(async () => void (await Promise.all(heard.splice(0).map((book) => book.close()))))

async function historyOf(query = '', id = VAN): Promise<History> {
  return (await admin.ask(`/admin/devices/${id}/history${query}`)).json as History
}

async function lastReason(): Promise<string | undefined> {
  return (await historyOf(`?from=${new Date().toISOString()}`)).days[0].gaps.at(-1)?.reason
}

/** Returns notes of a kind for the minutes of a day from one to before another. */
const minutes = (kind: NotedKind, day: number, [first, end]: readonly [number, number]) =>
  Array.from({ length: end - first }, (_, n): DayNote => [kind, day + (first + n) * MIN])

const note = (device: string, day: number, notes: readonly DayNote[], fixes = 0, late = 0) =>
  addDayNotes(admin.redis, [{ device, day, notes, fixes, late }])

it('GET /admin/devices/{id}/history shows the connections of each local day, its gaps with reasons, and late fixes', async () => {
  await note('', YESTERDAY, minutes('connected', YESTERDAY, [0, 1440]))
  const notes = [
    ...minutes('connected', YESTERDAY, [360, 1080]),
    ...minutes('fix', YESTERDAY, [370, 600]),
    ...minutes('filtered', YESTERDAY, [600, 630]),
    ...minutes('fix', YESTERDAY, [630, 1080]),
  ]
  await note(VAN, YESTERDAY, notes, 4321, 12)
  const [day, today] = (await historyOf(`?from=${new Date(YESTERDAY).toISOString()}`)).days
  const at = (minute: number) => new Date(YESTERDAY + minute * MIN).toISOString()
  const gap = (from: number, until: number, reason: string) => {
    return { from_at: at(from), until_at: at(until), reason, message: expect.stringMatching(/^[a-z].*[a-z0-9]$/) }
  }
  expect(day).toEqual({
    date: at(0).slice(0, 10),
    from_at: at(0),
    until_at: at(1440),
    fixes: 4321,
    late: 12,
    connected: [{ from_at: at(360), until_at: at(1080) }],
    gaps: [
      gap(0, 360, 'not_connected'),
      gap(360, 370, 'no_fix'),
      gap(600, 630, 'filtered'),
      gap(1080, 1440, 'not_connected'),
    ],
  })
  expect(today.date).toBe(new Date(TODAY).toISOString().slice(0, 10))
  expect((await historyOf()).days).toHaveLength(7)
})

it('GET /admin/devices/{id}/history shows a new connection, its last fix and waiting fixes at once', async () => {
  await store(admin.redis, '7/42/1001', { device: VAN, receivedAt: Date.now() - 2 * MIN })
  const book = beatingHeardBook(admin.redis)
  heard.push(book)
  const session = Object.assign(new Conversation('tcp', '10.1.2.3:40001'), { device: VAN })
  book.of(VAN).spoke(session, 'teltonika')
  book.of(VAN).stored({
    fix: { at: session.now, fix: { time: session.now, latitude: 52.5, longitude: 13.4, valid: true } },
  })
  await expect.poll(async () => (await historyOf(`?from=${new Date().toISOString()}`)).days[0].connected.length).toBe(1)
})

it('GET /admin/devices/{id}/history calls the time before a device was first heard unknown, not silent', async () => {
  const book = beatingHeardBook(admin.redis)
  heard.push(book)
  book.of(VAN).spoke(Object.assign(new Conversation('http', '10.1.2.3:40001'), { device: VAN }), 'osmand')
  // In the first minutes of a day there is no gap yet.
  if (Date.now() - startOfToday() > 10 * MIN) await expect.poll(lastReason).toBe('unknown')
})

it('GET /admin/devices/{id}/history shows what waits for the tracking API', async () => {
  const day = startOfToday()
  const since = Math.max(day, Date.now() - 30 * MIN)
  await store(admin.redis, '7/42/1001', { device: VAN, receivedAt: since })
  const first = Math.floor((since - day) / MIN)
  await note(VAN, day, minutes('fix', day, [first, Math.floor((Date.now() - day) / MIN)]))
  const { gaps } = (await historyOf(`?from=${new Date().toISOString()}`)).days[0]
  // In the first minutes of a day there is no gap yet.
  if (Date.now() - since > 6 * MIN) expect(gaps.at(-1)?.reason).toBe('waiting')
})

it('GET /admin/devices/{id}/history answers 404 for an unknown device, and 422 for more than 31 days', async () => {
  expect((await admin.ask('/admin/devices/nobody/history')).status).toBe(404)
  expect((await admin.ask(`/admin/devices/${VAN}/history${BEFORE}`)).status).toBe(422)
  expect((await admin.ask(`/admin/devices/${VAN}/history?from=soon`)).status).toBe(422)
})

it.each([
  ['?from=2026-11-20&to=2026-11-19', 'from: after to'],
  ['?from=2199-01-01', 'from: this day has not begun'],
])('GET /admin/devices/{id}/history answers 422 to %s', async (query, message) => {
  const { status, json } = await admin.ask(`/admin/devices/${VAN}/history${query}`)
  expect([status, json]).toMatchObject([422, { message }])
})

it('GET /admin/devices/{id}/history leaves out days whose notes are no longer kept', async () => {
  expect((await historyOf('?from=2000-01-01&to=2000-01-03')).days).toEqual([])
  const dates = [31, 30].map((days) => new Date(startOfToday() - days * 24 * 60 * MIN + 12 * 60 * MIN).toISOString())
  expect((await historyOf(`?from=${dates[0]}&to=${dates[1]}`)).days).toHaveLength(2)
})

it('GET /admin/devices/{id}/history is deleted with the data of the device', async () => {
  await note(VAN, TODAY, minutes('fix', TODAY, [0, 1]))
  await note(VAN, YESTERDAY, minutes('fix', YESTERDAY, [0, 1]))
  await admin.ask(`/admin/devices/${VAN}/data`, { method: 'DELETE' })
  expect(await admin.redis.exists(keys.day(TODAY, VAN), keys.day(YESTERDAY, VAN))).toBe(0)
})
