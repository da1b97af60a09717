import { expect, it } from 'vitest'
import { IncidentBook, readEntry, type TellingRules } from '../../src/admin/incident-book.ts'
import type { Finding } from '../../src/diagnose/facts.ts'
import { finding } from '../support/alerts.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 10, 22, 12)
const RULES = { minSeverity: 'warning', flap: 10 * MINUTE, quietHours: null, zone: 'UTC' } satisfies TellingRules
const slow = finding({ code: 'upstream_slow', severity: 'warning' })

/** Returns a receiver to which every message is delivered at once. `at`: minutes after noon. */
function receiver(rules: Partial<TellingRules> = {}, book = new IncidentBook({ ...RULES, ...rules })) {
  return {
    book,
    look(at: number, current: readonly Finding[], isComplete = true): string[] {
      const now = NOON + at * MINUTE
      const { news } = book.look({ now, current, isComplete })
      for (const [key, each] of news) book.told(key, each, now)
      return Array.from(news.values(), ({ change, finding: { code } }) => `${change} ${code}`)
    },
  }
}

it('a receiver is told once that an incident begins and once that it ends', () => {
  const { look } = receiver()
  expect(look(0, [finding()])).toEqual(['begins upstream_down'])
  expect(look(1, [finding({ count: 5, message: 'others' })])).toEqual([])
  expect(look(2, [])).toEqual(['ends upstream_down'])
  expect(look(3, [])).toEqual([])
})

it('a receiver is told each finding about another subject, but findings about devices of one company only once', () => {
  const { look } = receiver()
  const [one, two, other] = ['7', '7', '8'].map((company_id, index) =>
    finding({ code: 'wrong_secret', subject: { device: String(index), company_id } }),
  )
  expect(look(0, [one, two, other])).toHaveLength(2)
  expect(look(1, [{ ...two, subject: { company_id: '7', device: '1' } }])).toEqual(['ends wrong_secret'])
  expect(look(2, [])).toEqual(['ends wrong_secret'])
})

it('a receiver is told at most every ten seconds that an incident has doubled or got worse, under one id', () => {
  const { book } = receiver()
  const incidentIds = new Set<string>()
  const told: string[] = []
  const look = (second: number, current: readonly Finding[]) => {
    const now = NOON + second * 1000
    for (const [key, each] of book.look({ now, current, isComplete: true }).news) {
      book.told(key, each, now)
      incidentIds.add(each.id)
      told.push(`${second}: ${each.change} ${each.finding.severity} ${each.size}`)
    }
  }
  for (let second = 0; second < 60; second++) look(second, [silent(Math.min(39 + second, 77))])
  for (let second = 60; second < 70; second++) look(second, [silent(203)])
  for (let second = 70; second < 80; second++) look(second, [{ ...silent(203), severity: 'error' }])
  for (let second = 80; second < 90; second++) look(second, [silent(10)])
  look(90, [])
  look(91, [])
  expect(told).toEqual([
    '0: begins warning 39',
    '60: updates warning 203',
    '70: updates error 203',
    '80: updates warning 10',
    '90: ends error 203',
  ])
  expect(incidentIds.size).toBe(1)
})

it('a receiver is told the start of an incident although its devices have changed', () => {
  const { book } = receiver()
  const told: unknown[] = []
  const vans = (...numbers: number[]) =>
    numbers.map((at) => ({ ...silentVan(String(at)), sinceAt: NOON + at * MINUTE }))
  for (const [at, current] of [vans(0), vans(0, 1), vans(1, 2, 3, 4), []].entries()) {
    const now = NOON + (10 + at) * MINUTE
    for (const [key, each] of book.look({ now, current, isComplete: true }).news) {
      book.told(key, each, now)
      told.push([each.change, each.size, each.finding.sinceAt])
    }
  }
  expect(told).toEqual([
    ['begins', 1, NOON],
    ['updates', 2, NOON],
    ['updates', 4, NOON],
    ['ends', 4, NOON],
  ])
})

it('a receiver is told one begin and one end for findings that are merged and split again', () => {
  const { look } = receiver()
  expect(look(0, silentVans(1))).toEqual(['begins silent'])
  expect(look(1, silentVans(3))).toEqual(['updates silent'])
  expect(look(2, [silent(6)])).toEqual(['updates silent'])
  expect(look(3, [silent(9)])).toEqual([])
  expect(look(4, silentVans(4))).toEqual([])
  expect(look(5, silentVans(4).slice(1))).toEqual([])
  expect(look(6, [])).toEqual(['ends silent'])
})

it('a receiver is told an error whose earlier warning was below its least severity, and its end', () => {
  const { look } = receiver({ minSeverity: 'error' })
  expect(look(0, [silent(39)])).toEqual([])
  expect(look(1, [{ ...silent(39), severity: 'error' }])).toEqual(['begins silent'])
  expect(look(2, [silent(39)])).toEqual(['updates silent'])
  expect(look(3, [])).toEqual(['ends silent'])
})

it('a receiver is told no end of an SOS while one finding covers all of them', () => {
  const { look } = receiver()
  expect(look(0, [raised('sos', 0, { device: '1', company_id: '7' })])).toEqual(['begins sos'])
  expect(look(1, [raised('sos', 0, { company_id: '7' })])).toEqual(['begins sos'])
  expect(look(2, [raised('sos', 0, { device: '1', company_id: '7' })])).toEqual([])
  expect(look(3, [])).toEqual(['ends sos', 'ends sos'])
})

it('an incident keeps the id that was told if it began again meanwhile', () => {
  const { book } = receiver()
  const look = (at: number, current: readonly Finding[]) =>
    book.look({ now: NOON + at * MINUTE, current, isComplete: true })
  const [[key, first]] = look(0, [finding()]).news
  look(1, [])
  look(20, [])
  look(21, [finding()])
  book.told(key, first, NOON)
  const [[, end]] = look(40, []).news
  expect(end).toMatchObject({ change: 'ends', id: first.id })
})

it('an incident that began again before its end was told gets another id', () => {
  const { book } = receiver({ flap: 0 })
  const look = (at: number, current: readonly Finding[]) =>
    book.look({ now: NOON + at * MINUTE, current, isComplete: true })
  const [[key, first]] = look(0, [finding()]).news
  book.told(key, first, NOON)
  const [[, end]] = look(1, []).news
  look(2, [finding()])
  book.told(key, end, NOON + 2 * MINUTE)
  const [[, next]] = look(3, [finding()]).news
  expect([first, end, next].map(({ change }) => change)).toEqual(['begins', 'ends', 'begins'])
  expect(end.id).toBe(first.id)
  expect(next.id).not.toBe(first.id)
})

it('a receiver is told the end of an incident that ended long before its begin was delivered', () => {
  const { book } = receiver()
  const look = (at: number, current: readonly Finding[], underWay: readonly string[]) =>
    book.look({ now: NOON + at * MINUTE, current, isComplete: true }, new Set(underWay))
  const [[key, begin]] = look(0, [finding()], []).news
  look(1, [], [key])
  look(30, [], [key])
  book.told(key, begin, NOON)
  const { news } = look(31, [], [])
  expect([...news.values()]).toMatchObject([{ change: 'ends', id: begin.id, endedAt: NOON + MINUTE }])
})

it('a receiver is told nothing of an incident that began and ended before it could be told', () => {
  const { book, look } = receiver()
  book.look({ now: NOON, current: [finding()], isComplete: true })
  expect(look(1, [])).toEqual([])
  expect(look(12, [])).toEqual([])
  expect(book.entries.size).toBe(0)
})

it('the incident book reads entries of a version without updates', () => {
  const { book, look } = receiver()
  for (const each of [silentVan('1'), silentVan('2')]) {
    const [key, entry] = readEntry(
      JSON.stringify({ finding: each, holds: true, told: 'begins', changedAt: NOON, isFlapping: false }),
    )
    book.entries.set(key, entry)
  }
  expect(look(0, [silentVan('1')])).toEqual([])
  expect(look(1, [])).toEqual(['ends silent'])
})

it('the incident book writes entries that a version without updates can read', () => {
  const { book, look } = receiver()
  look(0, [silent(6)])
  const [entry] = JSON.parse(JSON.stringify([...book.entries.values()])) as object[]
  expect(entry).toMatchObject({
    finding: silent(6),
    holds: true,
    told: 'begins',
    changedAt: NOON,
    isFlapping: false,
  })
})

it('a receiver is told nothing below its least severity', () => {
  const { look } = receiver({ minSeverity: 'error' })
  expect(look(0, [slow, finding()])).toEqual(['begins upstream_down'])
  expect(look(1, [])).toEqual(['ends upstream_down'])
})

it('a receiver is told the same again until the delivery has succeeded', () => {
  const { book } = receiver()
  const state = { now: NOON, current: [finding()], isComplete: true }
  expect(book.look(state).news.size).toBe(1)
  expect(book.look(state).news.size).toBe(1)
})

it('a receiver is told a finding that comes and goes once, and again when it has lasted for `flap`', () => {
  const { look } = receiver()
  expect(look(0, [finding()])).toEqual(['begins upstream_down'])
  expect(look(1, [])).toEqual(['ends upstream_down'])
  for (let at = 2; at < 30; at += 2) {
    expect(look(at, [finding()])).toEqual([])
    expect(look(at + 1, [])).toEqual([])
  }
  expect(look(30, [finding()])).toEqual([])
  expect(look(39, [finding()])).toEqual([])
  expect(look(40, [finding()])).toEqual(['begins upstream_down'])
})

it('a receiver is told at once if a finding returns after `flap`', () => {
  const { look } = receiver()
  for (const at of [0, 20]) {
    expect(look(at, [finding()])).toEqual(['begins upstream_down'])
    expect(look(at + 5, [])).toEqual(['ends upstream_down'])
  }
})

it('a receiver is told no end while it is unknown which findings still hold', () => {
  const { look } = receiver()
  look(0, [finding()])
  expect(look(1, [finding({ code: 'redis_down' })], false)).toEqual(['begins redis_down'])
  expect(look(2, [finding()])).toEqual(['ends redis_down'])
})

it('a receiver is told updates and new incidents even if the clock is set back by an hour', () => {
  const { look } = receiver()
  look(0, [silent(39)])
  expect(look(-60, [silent(203)])).toEqual(['updates silent'])
  expect(look(-59, [])).toEqual(['ends silent'])
  expect(look(-119, [silent(39)])).toEqual(['begins silent'])
})

it('the incident book drops the entry of an ended incident after `flap`', () => {
  const { book, look } = receiver()
  look(0, [finding()])
  look(1, [])
  expect(book.entries.size).toBe(1)
  look(12, [])
  expect(book.entries.size).toBe(0)
})

it('a receiver is told a second SOS of a device at once, but no other finding that starts anew', () => {
  const { look } = receiver()
  expect(look(0, raisedBy(0))).toEqual(['begins sos', 'begins sos', 'begins power_cut'])
  expect(look(10, raisedBy(0))).toEqual([])
  expect(look(50, raisedBy(50))).toEqual(['ends sos', 'begins sos'])
  expect(look(51, raisedBy(50))).toEqual([])
})

it('a new process tells a receiver nothing that an earlier process told', () => {
  const before = receiver()
  before.look(0, [finding(), slow])
  const after = receiver()
  for (const [id, entry] of before.book.entries) after.book.entries.set(id, JSON.parse(JSON.stringify(entry)))
  expect(after.look(1, [finding()])).toEqual(['ends upstream_slow'])
})

const quietHours = { from: 13 * 60, until: 14 * 60, except: 'error' } as const

it('quiet hours delay warnings until they are over, but not errors', () => {
  const { look } = receiver({ quietHours })
  const passing = finding({ code: 'flood', severity: 'warning' })
  expect(look(60, [finding(), slow, passing])).toEqual(['begins upstream_down'])
  expect(look(119, [slow])).toEqual(['ends upstream_down'])
  expect(look(120, [slow])).toEqual(['begins upstream_slow'])
})

it('the end of an incident that was told before quiet hours is told after them', () => {
  const { look } = receiver({ quietHours })
  expect(look(59, [slow])).toEqual(['begins upstream_slow'])
  expect(look(70, [])).toEqual([])
  expect(look(120, [])).toEqual(['ends upstream_slow'])
})

it.each([
  ['over midnight', { from: 22 * 60, until: 6 * 60 }, 'UTC', [9, 10, 17, 18]],
  ['in another zone', { from: 22 * 60, until: 6 * 60 }, '+03:00', [6, 7, 14, 15]],
])('quiet hours follow the clock %s', (_, hours, zone, [before, first, last, after]) => {
  const isTold = (hour: number) => {
    const { look } = receiver({ quietHours: { ...hours, except: 'error' }, zone })
    return look(hour * 60, [slow]).length > 0
  }
  expect([before, first, last, after].map(isTold)).toEqual([true, false, false, true])
})

/** Returns one finding about several silent vans of company 7. */
function silent(count: number): Finding {
  return finding({ code: 'silent', severity: 'warning', subject: { company_id: '7' }, count })
}

function silentVan(device: string): Finding {
  return finding({ code: 'silent', severity: 'warning', subject: { device, company_id: '7' }, count: 1 })
}

/** Returns one finding for each of several silent vans. */
function silentVans(count: number): Finding[] {
  return ids(count).map((device) => silentVan(device))
}

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index))
}

/** Returns a finding about an alarm that was raised some minutes after noon. */
function raised(code: 'power_cut' | 'sos', at: number, subject: Finding['subject']) {
  return finding({ code, subject, sinceAt: NOON + at * MINUTE })
}

function raisedBy(at: number) {
  return [
    raised('sos', at, { device: '1', company_id: '7' }),
    raised('sos', at, { company_id: '8' }),
    raised('power_cut', at, { device: '2', company_id: '7' }),
  ]
}
