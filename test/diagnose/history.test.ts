import { expect, it } from 'vitest'
import { type DayFacts, dayOf } from '../../src/diagnose/history.ts'

const MIN = 60_000
const DAY = Date.UTC(2026, 10, 20)
type Kind = Parameters<DayFacts['has']>[0]
type Minutes = readonly [first: number, end: number]

/** Returns a minute of the day as `8:05`. */
const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16).replace(/^0/, '')

interface Case extends Partial<Record<Kind, readonly Minutes[]>> {
  readonly hours?: number
  readonly covered?: readonly Minutes[]
  readonly facts?: Partial<DayFacts>
}

const isIn = (runs: readonly Minutes[] = [], minute: number) =>
  runs.some(([first, end]) => minute >= first && minute < end)
const span = ({ from, until }: { from: number; until: number }) => `${clock(from)}–${clock(until)}`

/** A day of an hour or more. Minutes from and until. */
function day({ hours = 1, covered = [[0, hours * 60]], facts, ...noted }: Case) {
  const { connected, gaps } = dayOf({
    from: DAY,
    until: DAY + hours * 60 * MIN,
    has: (kind, minute) => isIn(noted[kind], minute),
    isCovered: (minute) => isIn(covered, minute),
    leastMs: 5 * MIN,
    ...facts,
  })
  return { connected: connected.map(span), gaps: gaps.map((gap) => `${span(gap)} ${gap.reason}`) }
}

it.each<[string, Case, readonly string[]]>([
  ['has no gap where a fix came in each minute', { fix: [[0, 60]] }, []],
  [
    'has no gap of less than five minutes',
    {
      fix: [
        [0, 20],
        [24, 60],
      ],
    },
    [],
  ],
  [
    'has a gap from five minutes on',
    {
      fix: [
        [0, 20],
        [25, 60],
      ],
    },
    ['0:20–0:25 not_connected'],
  ],
  ['begins and ends with gaps', { fix: [[10, 30]] }, ['0:00–0:10 not_connected', '0:30–1:00 not_connected']],
  ['is one gap without anything', {}, ['0:00–1:00 not_connected']],
  ['is not known where no gateway ran', { covered: [], fix: [[0, 20]] }, ['0:20–1:00 unknown']],
  ['tells a connection without positions', { connected: [[0, 60]], fix: [[0, 20]] }, ['0:20–1:00 no_fix']],
  [
    'tells when the connection ended within a gap',
    { connected: [[0, 40]], fix: [[0, 20]] },
    ['0:20–0:40 no_fix', '0:40–1:00 not_connected'],
  ],
  [
    'tells filtered positions, of which some come every few minutes',
    {
      connected: [[0, 60]],
      fix: [[0, 20]],
      filtered: [
        [21, 22],
        [25, 26],
        [30, 31],
        [34, 35],
        [38, 39],
        [43, 60],
      ],
    },
    ['0:20–1:00 filtered'],
  ],
  ['tells held positions', { connected: [[0, 60]], fix: [[0, 20]], held: [[20, 60]] }, ['0:20–1:00 held']],
  ['takes what was held and released for positions', { fix: [[0, 60]], held: [[20, 60]] }, []],
  [
    'tells what could not be stored',
    {
      connected: [[0, 60]],
      fix: [
        [0, 20],
        [40, 60],
      ],
      not_stored: [[20, 40]],
    },
    ['0:20–0:40 not_stored'],
  ],
  [
    'tells what waits for the tracking API',
    {
      connected: [[0, 60]],
      fix: [[0, 60]],
      facts: { undelivered: (minute) => (minute >= 40 ? 'waiting' : undefined) },
    },
    ['0:40–1:00 waiting'],
  ],
  [
    'says what the tracking API refused',
    {
      connected: [[0, 60]],
      fix: [[0, 60]],
      facts: { undelivered: (minute) => (minute >= 40 ? 'refused' : undefined) },
    },
    ['0:40–1:00 refused'],
  ],
  [
    'says of a parked van that it is parked, heard or not, while a gateway runs',
    { connected: [[0, 40]], fix: [[0, 20]], covered: [[0, 50]], facts: { isParked: (minute) => minute >= 20 } },
    ['0:20–0:50 parked', '0:50–1:00 unknown'],
  ],
  [
    'does not call it parked while its positions are held',
    { held: [[0, 60]], facts: { isParked: () => true } },
    ['0:00–1:00 held'],
  ],
  [
    'counts the first minute of a connection with the time before it',
    { connected: [[30, 60]], fix: [[31, 60]] },
    ['0:00–0:31 not_connected'],
  ],
  ['takes fixes that came later', { connected: [[50, 60]], fix: [[0, 60]] }, []],
  [
    'has no gap between the messages of a device that sends seldom',
    {
      fix: [
        [0, 1],
        [30, 31],
      ],
      facts: { leastMs: 90 * MIN },
    },
    [],
  ],
])('the day of a device %s', (_, given, gaps) => {
  expect(day(given).gaps).toEqual(gaps)
})

it('the day of a device says when the device was connected, with reconnections in between', () => {
  expect(
    day({
      connected: [
        [3, 20],
        [22, 40],
        [50, 60],
      ],
    }).connected,
  ).toEqual(['0:03–0:40', '0:50–1:00'])
})
