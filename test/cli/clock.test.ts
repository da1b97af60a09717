import { expect, it } from 'vitest'
import { clockIn } from '../../src/domain/times.ts'

const NOW = Date.parse('2026-11-20T23:30:00Z')

it.each([
  ['UTC', '2026-11-20T08:14:02.900Z', '08:14:02Z'],
  ['UTC', '2026-11-19T23:59:59.999Z', '2026-11-19 23:59:59Z'],
  ['UTC', '2026-11-20T00:00:00.000Z', '00:00:00Z'],
  ['Europe/Berlin', '2026-11-20T22:59:59.000Z', '2026-11-20 23:59:59+01:00'],
  ['Europe/Berlin', '2026-11-20T23:00:00.000Z', '00:00:00+01:00'],
  ['America/New_York', '2026-11-20T08:14:02.000Z', '03:14:02-05:00'],
  ['-03:30', '2026-11-21T03:30:00.000Z', '2026-11-21 00:00:00-03:30'],
])('a clock in %s shows %s as %s', (zone, instant, text) => expect(clockIn(zone, NOW)(instant)).toBe(text))

it('a clock with the precision of minutes shows no seconds', () =>
  expect(clockIn('UTC', NOW, 'minutes')('2026-11-20T18:42:59Z')).toBe('18:42'))
