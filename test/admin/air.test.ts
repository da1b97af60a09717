import { describe, expect, it } from 'vitest'
import { airOf } from '../../src/admin/device/air.ts'
import { localDay } from '../../src/domain/times.ts'
import { addAir, readAir } from '../../src/store/index.ts'
import { adminFixture, TOKEN } from '../support/admin.ts'

const admin = adminFixture()
const VAN = '0356307042441013'
const H = 3_600_000
const NOON = Date.UTC(2026, 10, 20, 12)
/** Returns days up to today, earliest first; `since`: hours after the start of the day. */
const daysOf = (...figures: ({ bytes: number; connections: number; fixes: number; since: number } | undefined)[]) =>
  figures.map((day, index) => {
    const from = NOON - 12 * H - (figures.length - 1 - index) * 24 * H
    return { from, until: from + 24 * H, ...day, ...(day && { since: from + day.since * H }) }
  })
const air = (...figures: Parameters<typeof daysOf>) =>
  airOf(daysOf(...figures), NOON, (at) => new Date(at).toISOString().slice(0, 10))
const DAY = { bytes: 1e6, connections: 4000, fixes: 5000, since: 0.1 }
const anew = (connections: number, fixes: number) =>
  air({ ...DAY, connections, fixes }, undefined, undefined)?.connects_anew

const note = (day: number) =>
  addAir(admin.redis, day, [[VAN, { bytes: 137_000, connections: 8640, fixes: 8640, since: day }]])

it('the data volume of a device is taken from its last full day', () => {
  const last = { ...DAY, bytes: 137_000, since: 6 }
  const found = {
    bytes_per_month: 4_110_000,
    connections_per_day: 4000,
    fixes_per_day: 5000,
    connects_anew: true,
    day: '2026-11-19',
  }
  expect(air(DAY, last, { ...DAY, bytes: 7 })).toEqual(found)
  expect(air(last, last, undefined)).toEqual(found)
  expect(air(undefined, { ...last, since: 0.9 }, DAY)).toEqual(found)
})

it('the data volume of a device is taken from the day before yesterday if it sent nothing yesterday', () => {
  expect(air({ ...DAY, bytes: 200_000 }, undefined, DAY)).toMatchObject({ bytes_per_month: 6e6, day: '2026-11-18' })
})

it('the data volume of a device is extrapolated from its first day after an hour', () => {
  const now = { bytes: 100_000, connections: 10, fixes: 100, since: 6 }
  expect(air(undefined, undefined, now)).toEqual({
    bytes_per_month: 12e6,
    connections_per_day: 40,
    fixes_per_day: 400,
    connects_anew: false,
    day: '2026-11-20',
  })
  expect(air(undefined, { ...now, since: 18 }, { ...now, since: 0 })).toMatchObject({
    bytes_per_month: 8e6,
    day: '2026-11-20',
  })
  expect(air(undefined, undefined, { ...now, since: 11.1 })).toBeUndefined()
  expect(air(undefined, undefined, undefined)).toBeUndefined()
})

it('a device connects anew for each fix if it has four connections for five fixes', () => {
  expect([anew(80, 100), anew(79, 100), anew(0, 0), anew(9, 9)]).toEqual([true, false, false, false])
})

describe('GET /admin/devices/{id}', () => {
  const today = localDay(Date.now(), 'UTC').from
  const [before, yesterday] = [today - 48 * H, today - 24 * H]

  it('GET /admin/devices/{id} shows the data volume that the gateways noted, until it is deleted', async () => {
    await note(yesterday)
    await note(yesterday)
    expect((await admin.ask(`/admin/devices/${VAN}`)).json).toMatchObject({
      air: {
        bytes_per_month: 8_220_000,
        connections_per_day: 17_280,
        fixes_per_day: 17_280,
        connects_anew: true,
        day: new Date(yesterday).toISOString().slice(0, 10),
      },
    })
    await note(before)
    expect(
      (
        await admin.ask(`/admin/devices/${VAN}/data`, {
          method: 'DELETE',
          headers: { authorization: `Bearer ${TOKEN}` },
        })
      ).status,
    ).toBe(200)
    expect(await readAir(admin.redis, VAN, [before, yesterday])).toEqual([undefined, undefined])
    expect((await admin.ask(`/admin/devices/${VAN}`)).json).not.toHaveProperty('air')
  })
})
