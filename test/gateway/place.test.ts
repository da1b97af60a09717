import { expect, it } from 'vitest'
import type { Fix } from '../../protocols/kit/index.ts'
import { normalise, utcOf } from '../../src/gateway/place.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const DAY = 86_400_000
const OPTIONS = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }

const fix = (changes: Partial<Fix> = {}): Fix => ({
  time: NOW,
  latitude: 52.5,
  longitude: 13.4,
  valid: true,
  ...changes,
})
const of = (changes: Partial<Fix>, options = {}) =>
  normalise(fix(changes), { now: NOW, time: fix(changes).time }, { ...OPTIONS, ...options })

it.each([
  ['invalid', 'that the device calls invalid', { valid: false }],
  ['zero', 'at 0/0', { latitude: 0, longitude: 0 }],
  ['out_of_range', 'at latitude 91', { latitude: 91 }],
  ['out_of_range', 'at latitude -90.0000001', { latitude: -90.0000001 }],
  ['out_of_range', 'at longitude 180.5', { longitude: 180.5 }],
  ['out_of_range', 'at latitude NaN', { latitude: Number.NaN }],
  ['out_of_range', 'at longitude Infinity', { longitude: Infinity }],
  ['clock', '5 min and 1 ms ahead', { time: NOW + 300_001 }],
  ['clock', 'in the year 2099', { time: Date.UTC(2099, 0, 1) }],
  ['past', 'before 1970', { time: -1 }],
  ['past', 'without a time', { time: Number.NaN }],
])('filters as %s a fix %s', (reason, _, changes) => {
  expect(of(changes)).toBe(reason)
})

it('filters as past a fix that is older than max_age', () => {
  expect(of({ time: NOW - DAY - 1 }, { maxAgeMs: DAY })).toBe('past')
  expect(of({ time: NOW - DAY }, { maxAgeMs: DAY })).toMatchObject({ timestamp: (NOW - DAY) / 1000 })
})

it('filters as clock a fix whose time does not fit a record, whatever max_future is', () => {
  expect(of({ time: 2 ** 32 * 1000 }, { maxFutureMs: Number.MAX_SAFE_INTEGER })).toBe('clock')
})

it.each([
  ['on the equator', { latitude: 0 }],
  ['on the meridian of Greenwich', { longitude: 0 }],
  ['at the pole', { latitude: 90 }],
  ['at the date line', { longitude: -180 }],
  ['5 min ahead', { time: NOW + 300_000 }],
  ['of 1970 without max_age', { time: 0 }],
])('accepts a fix %s', (_, changes) => {
  expect(of(changes)).toBeTypeOf('object')
})

it('rounds the time of a fix down to whole seconds', () => {
  expect(of({ time: 1_763_626_442_999 })).toMatchObject({ timestamp: 1_763_626_442 })
})

it.each([
  ["the device's own, rounded up", { accuracy: 4.2, hdop: 9 }, 5],
  ['1 m at least', { accuracy: 0 }, 1],
  ['HDOP × uere_m, rounded up', { hdop: 1.3 }, 7],
  ['exactly 6 m for an HDOP of 1.2', { hdop: 1.2 }, 6],
  ['exactly 7 m for an HDOP of 1.4', { hdop: 1.4 }, 7],
  ['the default without either', {}, 50],
  ['the default for an HDOP of 0', { hdop: 0 }, 50],
  ["that of the HDOP if the device's own is negative", { accuracy: -1, hdop: 2 }, 10],
  ['the default if nothing is a number', { accuracy: Number.NaN, hdop: Number.NaN }, 50],
])('takes as the accuracy of a fix %s', (_, changes, metres) => {
  expect(of(changes)).toMatchObject({ accuracy: metres })
})

it.each([
  [359.4, 359],
  [359.6, 0],
  [0, 0],
  [-1, undefined],
  [Number.NaN, undefined],
  [undefined, undefined],
])('turns heading %s into the heading %s', (heading, expected) => {
  expect(of({ heading })).toMatchObject({ heading: expected })
})

it.each([
  [13.888, 13.888],
  [0, 0],
  [-1, undefined],
  [Number.NaN, undefined],
])('turns speed %s into the speed %s', (speed, expected) => {
  expect(of({ speed })).toMatchObject({ speed: expected })
})

const ROLLOVER = 1024 * 7 * DAY
const utc = (time: number) => utcOf(time, { entry: undefined, now: NOW })

it('repairs a GPS week rollover when that gives a time in the last year', () => {
  expect(utc(NOW - ROLLOVER)).toBe(NOW)
  expect(utc(NOW - 300 * DAY - ROLLOVER)).toBe(NOW - 300 * DAY)
})

it.each([NOW, NOW - 400 * DAY, NOW - 400 * DAY - ROLLOVER, NOW + 2 * DAY - ROLLOVER, 0, Number.NaN])(
  'does not take the time %s for that of a GPS week rollover',
  (time) => expect(utc(time)).toBe(time),
)
