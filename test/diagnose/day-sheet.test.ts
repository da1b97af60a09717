import { expect, it } from 'vitest'
import { type DaySheet, daySheet, type PlannedVan } from '../../src/diagnose/day-sheet.ts'
import { type DayFacts, gapsOf } from '../../src/diagnose/history.ts'
import { localDay } from '../../src/domain/times.ts'
import { english } from '../../src/texts/text.ts'

const MIN = 60_000
const HOUR = 60 * MIN
const DAY = { from: Date.UTC(2026, 10, 20), until: Date.UTC(2026, 10, 21) }
const OVER = { ...DAY, now: DAY.until }

type Kind = Parameters<DayFacts['has']>[0]
type Hours = readonly [from: number, until: number]
interface Van extends Partial<Record<Kind, readonly Hours[]>> {
  readonly device?: string
  readonly planned: readonly Hours[]
  readonly parked?: readonly Hours[]
  /** When gateways ran; default: always. */
  readonly covered?: readonly Hours[]
}

const at = (hour: number) => DAY.from + hour * HOUR
const isIn = (hours: readonly Hours[] | undefined, minute: number) =>
  hours?.some(([from, until]) => minute >= from * 60 && minute < until * 60) === true

/** Returns a van with its minutes, given in hours of the day. */
function van({ device = 'one', planned, parked, covered = [[0, 24]], ...noted }: Van, day = OVER): PlannedVan {
  const facts: DayFacts = {
    from: day.from,
    until: Math.min(day.until, day.now),
    leastMs: 5 * MIN,
    has: (kind, minute) => isIn(noted[kind], minute),
    isCovered: (minute) => isIn(covered, minute),
    isParked: (minute) => isIn(parked, minute),
  }
  return {
    device,
    planned: planned.map(([from, until]) => ({ from: at(from), until: at(until) })),
    gaps: gapsOf(facts),
  }
}

/** `8:00–9:00 held one 60` */
const shown = ({ gaps }: DaySheet) =>
  gaps.map(({ from, until, reason, device, min }) => `${clock(from)}–${clock(until)} ${reason} ${device} ${min}`)
const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16).replace(/^0/, '')

it('the sheet of a day has no gap if a position came in each planned minute', () => {
  const sheet = daySheet(OVER, [van({ planned: [[6, 14]], fix: [[6, 14]], connected: [[5, 14]] })])
  expect(sheet).toEqual({
    devices: ['one'],
    planned: [{ from: at(6), until: at(14) }],
    plannedMin: 480,
    coveredMin: 480,
    share: 1,
    startDelayMin: 0,
    longestGapMin: 0,
    gaps: [],
    byReason: {},
  })
})

it('the sheet of a day gives each minute the same reason as the page of the van', () => {
  const sheet = daySheet(OVER, [
    van({
      planned: [[6, 12]],
      fix: [
        [6.5, 8],
        [9, 10],
      ],
      held: [[8, 9]],
      connected: [[6.25, 11]],
      covered: [[0, 11.5]],
    }),
  ])
  expect(shown(sheet)).toEqual([
    '6:00–6:15 not_connected one 15',
    '6:15–6:30 no_fix one 15',
    '8:00–9:00 held one 60',
    '10:00–11:00 no_fix one 60',
    '11:00–11:30 not_connected one 30',
    '11:30–12:00 unknown one 30',
  ])
  expect(sheet.byReason).toEqual({ not_connected: 45, no_fix: 75, held: 60, unknown: 30 })
  expect(sheet).toMatchObject({ plannedMin: 360, coveredMin: 150, startDelayMin: 30, longestGapMin: 120 })
})

it('the sheet of a day calls a parked van not started before its first position, and parked later', () => {
  const parked = van({
    planned: [[6, 12]],
    fix: [[7, 9]],
    parked: [
      [0, 7],
      [9, 12],
    ],
  })
  expect(shown(daySheet(OVER, [parked]))).toEqual(['6:00–7:00 not_started one 60', '9:00–12:00 parked one 180'])
  const [gap] = daySheet(OVER, [parked]).gaps
  expect(english(gap.message)).toBe('its ignition was off: it had not started yet')
  // A route for the whole day names no start.
  const whole = daySheet(OVER, [van({ planned: [[0, 24]], fix: [[7, 24]], parked: [[0, 7]] })])
  expect(shown(whole)).toEqual(['0:00–7:00 parked one 420'])
  expect(whole.startDelayMin).toBeNull()
})

it('the sheet of an unfinished day counts the minutes that have begun', () => {
  const day = { ...DAY, now: at(8) + 30_000 }
  const sheet = daySheet(day, [van({ planned: [[6, 14]], fix: [[6, 7]] }, day)])
  expect(sheet).toMatchObject({ plannedMin: 121, coveredMin: 60, planned: [{ until: at(14) }] })
  expect(sheet.gaps.at(-1)?.until).toBe(day.now)
  const later = daySheet({ ...DAY, now: at(5) }, [van({ planned: [[6, 14]] })])
  expect(later).toMatchObject({ plannedMin: 0, coveredMin: 0, share: null, startDelayMin: null, gaps: [] })
})

it('the sheet of a day is covered by either of two vans, and blames the one whose positions came furthest', () => {
  const sheet = daySheet(OVER, [
    van({ device: 'one', planned: [[6, 10]], fix: [[6, 7]] }),
    van({ device: 'two', planned: [[6, 9]], fix: [[7, 8]], connected: [[8, 9]] }),
  ])
  expect(shown(sheet)).toEqual(['8:00–9:00 no_fix two 60', '9:00–10:00 not_connected one 60'])
  expect(sheet).toMatchObject({ plannedMin: 240, coveredMin: 120, planned: [{ from: at(6), until: at(10) }] })
})

it('the sheet of a day says a share of 1 only if nothing is missing', () => {
  const sheet = daySheet(OVER, [van({ planned: [[0, 24]], fix: [[0, 24]] })])
  expect(sheet.share).toBe(1)
  const almost = daySheet(OVER, [{ ...van({ planned: [[0, 24]], fix: [[0, 23.9]] }) }])
  expect(almost.share).toBe(0.9958)
})

/** Repeatable random numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Days of 24, 23 and 25 hours. */
const DAYS = ['2026-06-10', '2026-03-29', '2026-10-25'].map((day) =>
  localDay(Date.parse(`${day}T12:00:00Z`), 'Europe/Berlin'),
)

it.each(Array.from({ length: 60 }, (_, seed) => seed))(
  'the sheet of a random day adds up, with one reason for each minute (seed %i)',
  (seed) => {
    const random = randomFrom(seed + 1)
    const day = DAYS[seed % 3]
    const length = day.until - day.from
    const now = seed % 4 === 0 ? day.from + Math.floor(random() * length) : day.until + 1
    const minutes = length / MIN
    expect(minutes).toBe([1440, 1380, 1500][seed % 3])
    /** Random times of the day; a change of route at one of them, to the second. */
    const cuts = Array.from({ length: 6 }, () => day.from + Math.floor((random() * length) / 1000) * 1000)
    const bounds = [day.from, ...cuts.toSorted((one, other) => one - other), day.until]
    const routes = ['a', 'b', undefined]
    const vans = ['one', 'two', 'three'].map((device) => {
      const marks = Array.from({ length: 5 }, () => Array.from({ length: minutes }, () => false))
      for (const mark of marks)
        for (let run = 0; run < 8; run++) {
          const first = Math.floor(random() * minutes)
          mark.fill(true, first, first + Math.floor(random() * 120))
        }
      const [fix, connected, held, parked, covered] = marks
      const gaps = gapsOf({
        from: day.from,
        until: Math.min(day.until, now),
        leastMs: 5 * MIN,
        has: (kind, minute) => ({ fix, connected, held, filtered: [], not_stored: [] })[kind][minute],
        isCovered: (minute) => covered[minute],
        isParked: (minute) => parked[minute],
      })
      const stays = bounds.slice(1).map((until, index) => {
        return { route: routes[Math.floor(random() * 3)], from: bounds[index], until }
      })
      return { device, gaps, stays }
    })
    const sheets = ['a', 'b'].map((route) =>
      daySheet(
        { ...day, now },
        vans.map(({ device, gaps, stays }) => ({
          device,
          gaps,
          planned: stays.filter((stay) => stay.route === route),
        })),
      ),
    )
    for (const { plannedMin, coveredMin, byReason, gaps, planned, share, longestGapMin } of sheets) {
      const missing = Object.values(byReason).reduce((sum, count) => sum + count, 0)
      expect(coveredMin + missing).toBe(plannedMin)
      expect(gaps.reduce((sum, { min }) => sum + min, 0)).toBe(missing)
      expect(share === 1).toBe(plannedMin > 0 && missing === 0)
      expect(longestGapMin).toBeLessThanOrEqual(missing)
      for (const [index, gap] of gaps.entries()) {
        expect(gap.until).toBeGreaterThan(gap.from)
        if (index > 0) expect(gap.from).toBeGreaterThanOrEqual(gaps[index - 1].until)
        // The sheet has the same reason as the van at this minute.
        const own = vans.find(({ device }) => device === gap.device)?.gaps ?? []
        const said = own.find(({ from, until }) => from <= gap.from && gap.from < until)?.reason
        expect(gap.reason === 'not_started' ? 'parked' : gap.reason).toBe(said)
      }
      // A minute is planned if its start is planned.
      const until = Math.min(day.until, now)
      const begun = Array.from({ length: Math.ceil((until - day.from) / MIN) }, (_, minute) => day.from + minute * MIN)
      const isPlanned = (instant: number) => planned.some((span) => span.from <= instant && instant < span.until)
      expect(begun.filter(isPlanned).length).toBe(plannedMin)
    }
    // A minute of a van belongs to one route, so all routes together have at most the minutes of the vans.
    const all = sheets.reduce((sum, { plannedMin }) => sum + plannedMin, 0)
    expect(all).toBeLessThanOrEqual(minutes * 3)
  },
)
