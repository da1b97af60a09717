import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { fittingZone, isZone, localDay, localFromUtc, utcFromLocal } from '../../src/domain/times.ts'

const HOUR = 3_600_000

it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+3', '+03:00', '-0330', '+14:00'])(
  'isZone accepts %s',
  (zone) => expect(isZone(zone)).toBe(true),
)

it.each(['', 'Z', 'Berlin', 'Europe/Nowhere', '+3', '+15:00', '+03:60', '03:00', '__proto__'])(
  'isZone refuses "%s"',
  (zone) => expect(isZone(zone)).toBe(false),
)

it.each([
  [120, '+02:00'],
  [119, '+02:00'],
  [330, '+05:30'],
  [-300, '-05:00'],
  [840, '+14:00'],
])('fittingZone takes %i min ahead as %s', (minutes, zone) => expect(fittingZone(minutes * 60_000)).toBe(zone))

it.each([0, 1, 5, -7, 15, 23, 75, 127, -780, 900, 525_600])('fittingZone knows no zone for %i min', (minutes) =>
  expect(fittingZone(minutes * 60_000)).toBeUndefined(),
)

it.each([
  ['an offset', '+03:00', '2026-11-20T06:00', '2026-11-20T03:00'],
  ['a negative offset of half an hour', '-03:30', '2026-11-20T06:00', '2026-11-20T09:30'],
  ['a time in winter', 'Europe/Berlin', '2026-11-20T06:00', '2026-11-20T05:00'],
  ['a time in summer', 'Europe/Berlin', '2026-07-20T06:00', '2026-07-20T04:00'],
  ['the last minute before summer time', 'Europe/Berlin', '2026-03-29T01:59', '2026-03-29T00:59'],
  ['a local time that summer time skips', 'Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30'],
  ['the first hour of summer time', 'Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00'],
  ['a local time that occurs twice', 'Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30'],
  ['the first hour of winter time', 'Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00'],
  ['a change by half an hour', 'Australia/Lord_Howe', '2026-10-04T02:30', '2026-10-03T15:30'],
  ['a zone west of Greenwich', 'America/New_York', '2026-11-01T00:30', '2026-11-01T04:30'],
])('utcFromLocal converts %s', (_, zone, local, utc) =>
  expect(new Date(utcFromLocal(Date.parse(`${local}Z`), zone)).toISOString()).toBe(`${utc}:00.000Z`),
)

it('utcFromLocal keeps milliseconds', () =>
  expect(utcFromLocal(Date.UTC(2026, 10, 20, 6, 0, 0, 123), 'Europe/Berlin')).toBe(
    Date.UTC(2026, 10, 20, 5, 0, 0, 123),
  ))

it('utcFromLocal reverses localFromUtc, except for the second occurrence of a local time', () =>
  fc.assert(
    fc.property(
      fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', '+05:45'),
      fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2036, 0) }),
      (zone, utc) => {
        const back = utcFromLocal(localFromUtc(utc, zone), zone)
        expect(utc - back === 0 || localFromUtc(back, zone) === localFromUtc(utc, zone)).toBe(true)
        expect(back).toBeLessThanOrEqual(utc)
      },
    ),
  ))

it.each([Number.NaN, Infinity, 9e15])('utcFromLocal does not throw for %d', (time) =>
  expect(() => utcFromLocal(time, 'Europe/Berlin')).not.toThrow(),
)

it.each([
  ['2026-11-20T05:00Z', 24],
  ['2026-03-29T12:00Z', 23],
  ['2026-10-25T12:00Z', 25],
])('the local day of %s lasts %d hours in Berlin', (instant, hours) => {
  const { from, until } = localDay(Date.parse(instant), 'Europe/Berlin')
  expect((until - from) / HOUR).toBe(hours)
  expect(new Date(localFromUtc(from, 'Europe/Berlin')).toISOString()).toBe(`${instant.slice(0, 10)}T00:00:00.000Z`)
})

it('a local day whose midnight is skipped ends when the clock jumps forward', () =>
  expect(new Date(localDay(Date.parse('2026-03-28T12:00Z'), 'Asia/Beirut').until).toISOString()).toBe(
    '2026-03-28T22:00:00.000Z',
  ))
