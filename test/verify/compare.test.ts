import { describe, expect, it } from 'vitest'
import { WINDOW_MS } from '../../src/store/index.ts'
import { isChosen, isOutside, missingFixes } from '../../src/verify/compare.ts'

const FIX = { timestamp: 1_764_000_000, latitude: 52.5, longitude: 13.4 }
const THERE = { timestamp: 1_764_000_000, lat: 52.5, lon: 13.4 }
const isFound = (position: Partial<typeof THERE>, fix: Partial<typeof FIX> = {}) =>
  missingFixes([{ ...FIX, ...fix }], [{ ...THERE, ...position }]).length === 0

it.each([
  ['as it was sent', {}, {}],
  ['with a fraction of a second', { timestamp: FIX.timestamp + 0.999 }, {}],
  ['rounded down', { timestamp: FIX.timestamp - 0.5 }, {}],
  [
    'as a number of 32 bits',
    { lat: Math.fround(-33.8688197), lon: Math.fround(151.2092955) },
    { latitude: -33.8688197, longitude: 151.2092955 },
  ],
  ['rounded to five digits', { lat: 52.12346, lon: 13.65432 }, { latitude: 52.1234567, longitude: 13.6543219 }],
  ['on the other side of 180 degrees', { lon: -180 }, { longitude: 180 }],
])('a fix is found %s', (_, position, fix) => expect(isFound(position, fix)).toBe(true))

it.each([
  ['a second later', { timestamp: FIX.timestamp + 1 }],
  ['a second earlier', { timestamp: FIX.timestamp - 1 }],
  ['two metres to the north', { lat: 52.50002 }],
  ['two metres to the east', { lon: 13.40002 }],
])('a fix is missing if the only position is %s', (_, position) => expect(isFound(position)).toBe(false))

it('a fix is found in any order and among repeats', () => {
  const fixes = Array.from({ length: 500 }, (_, index) => ({ ...FIX, timestamp: FIX.timestamp + index }))
  const positions = fixes.map(({ timestamp }) => ({ ...THERE, timestamp }))
  const shuffled = [...positions, ...positions.slice(7, 90)].toSorted(
    (one, other) => ((one.timestamp * 7919) % 101) - ((other.timestamp * 7919) % 101),
  )
  expect(missingFixes(fixes, shuffled)).toEqual([])
  const without = positions.filter(({ timestamp }) => timestamp !== FIX.timestamp + 250)
  expect(missingFixes(fixes, without)).toEqual([fixes[250]])
})

describe('the share of windows', () => {
  const windows = Array.from({ length: 5000 }, (_, index) => 1_764_000_000_000 + index * WINDOW_MS)

  it.each([0, 0.02, 0.3, 1])('a share of %f of the windows is chosen for each route at regular intervals', (share) => {
    for (const route of ['7/1001', '7/1002', '7/1003', '8/9007199254740993']) {
      const chosen = windows.flatMap((window, index) => (isChosen(route, window, share) ? index : []))
      expect(Math.abs(chosen.length - 5000 * share)).toBeLessThanOrEqual(1)
      const gaps = chosen.slice(1).map((at, index) => at - chosen[index])
      expect(Math.max(0, ...gaps)).toBeLessThanOrEqual(Math.ceil(1 / (share || 1)))
    }
  })

  it('the chosen windows are spread over the routes', () => {
    const routes = Array.from({ length: 1000 }, (_, index) => `7/${1000 + index}`)
    const counts = windows.slice(0, 50).map((window) => routes.filter((route) => isChosen(route, window, 0.02)).length)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1000)
    expect(Math.max(...counts)).toBeLessThan(60)
  })
})

it('a position outside the requested times is recognised, with a tolerance of a second', () => {
  expect([98, 99, 100, 160, 161, 162].map((timestamp) => isOutside({ ...THERE, timestamp }, 100, 160))).toEqual([
    true,
    false,
    false,
    false,
    false,
    true,
  ])
})
