import { expect, it } from 'vitest'
import { findingOf } from '../../src/diagnose/diagnose.ts'
import type { Found } from '../../src/diagnose/facts.ts'
import { type Flow, inOrder, type VanCounts, verdict } from '../../src/diagnose/order.ts'
import type { Link } from '../../src/diagnose/codes.ts'
import { inEnglish } from '../support/texts.ts'

const NOW = Date.UTC(2026, 10, 20, 8)

function ordered(...found: readonly Found[]) {
  return inOrder(found.map((each) => findingOf(each, NOW)))
}

function codesOf(...found: readonly Found[]) {
  return ordered(...found).map(({ code }) => code)
}

function trafficStopped(company_id: string, sinceAt: number): Found {
  return { code: 'traffic_stopped', subject: { company_id }, count: 8, sinceAt }
}

/** Returns a rate of delivered positions per second. */
function delivering(perS: number): Readonly<Record<Link, Flow>> {
  const flow = { count: 4, perS }
  return {
    connected: flow,
    understood: flow,
    identified: flow,
    placed: flow,
    stored: flow,
    pushed: flow,
    accepted: flow,
  }
}

const NONE: VanCounts = { moving: 0, standing: 0, parked: 0, overdue: 0 }
const SILENT: Found = { code: 'silent', subject: { device: '1' } }

it('findings that concern all vans come before those of many, of one, and of none', () =>
  expect(
    codesOf(
      { code: 'unknown_device', count: 500, subject: { device: '9' } },
      { code: 'wrong_secret', subject: { device: '1' } },
      { code: 'lane_hanging', subject: { company_id: '7', courier_id: '5', route_id: '1005' } },
      { code: 'traffic_stopped', count: 203 },
      { code: 'upstream_down', count: 12 },
    ),
  ).toEqual(['upstream_down', 'traffic_stopped', 'lane_hanging', 'wrong_secret', 'unknown_device']))

it('an error of one van comes before a warning of many vans', () =>
  expect(
    codesOf(
      { code: 'silent', subject: { company_id: '7' }, count: 300 },
      { code: 'lane_hanging', subject: { route_id: '1' } },
    ),
  ).toEqual(['lane_hanging', 'silent']))

it('of two findings about equally many vans, the longer one comes first', () => {
  expect(
    ordered(trafficStopped('7', NOW), trafficStopped('8', NOW - 1)).map(({ subject }) => subject.company_id),
  ).toEqual(['8', '7'])
})

it.each<[string, string, Found[], VanCounts, number | undefined]>([
  ['all vans move', 'All well: 4 devices connected, 3.2 positions/s delivered.', [], { ...NONE, moving: 4 }, 3.2],
  ['all vans are parked', 'All well: 4 devices connected, 0 positions/s delivered.', [], { ...NONE, parked: 4 }, 0],
  [
    'all that move are overdue',
    'Nothing is delivered: 4 vans that should send are not heard.',
    [],
    { ...NONE, moving: 4, parked: 2, overdue: 4 },
    0,
  ],
  [
    'all that move are overdue, and another is silent',
    'Nothing is delivered: 1 van that should send is not heard; 1 more finding.',
    [SILENT],
    { ...NONE, moving: 1, overdue: 1 },
    0,
  ],
  [
    'one of several is overdue',
    'All well: 4 devices connected, 0 positions/s delivered.',
    [],
    { ...NONE, moving: 4, overdue: 1 },
    0,
  ],
  [
    'something is delivered',
    'All well: 4 devices connected, 0.1 positions/s delivered.',
    [],
    { ...NONE, moving: 1, overdue: 1 },
    0.1,
  ],
  ['all are silent', 'Nothing is delivered: nothing is heard of 1, on a route now.', [SILENT], NONE, 0],
  [
    'another is silent',
    'Well, with 1 warning: nothing is heard of 1, on a route now.',
    [SILENT],
    { ...NONE, standing: 1 },
    0,
  ],
  [
    'what arrives waits',
    'Nothing is delivered: 40 positions have waited for over a minute.',
    [{ code: 'backlog', message: '40 positions have waited for over a minute' }],
    { ...NONE, moving: 4 },
    0,
  ],
  [
    'a company whose vans are all overdue',
    'Nothing is delivered: 2 vans that should send are not heard.',
    [],
    { ...NONE, moving: 2, overdue: 2 },
    undefined,
  ],
  ['a company of which some are parked', 'All well.', [], { ...NONE, moving: 2, parked: 1, overdue: 2 }, undefined],
])('the verdict while %s: %s', (_, text, found, vans, perS) =>
  expect(
    inEnglish(verdict(ordered(...found), { flows: perS === undefined ? undefined : delivering(perS), vans })),
  ).toBe(text),
)

it('the verdict does not call anything well before it is known which processes run', () => {
  const early = { flows: delivering(0), vans: NONE, isEarly: true }
  expect(inEnglish(verdict([], early))).toBe('Nothing is known to be wrong so far.')
  expect(inEnglish(verdict(ordered(SILENT), early))).toBe('Nothing is heard of 1, on a route now.')
})
