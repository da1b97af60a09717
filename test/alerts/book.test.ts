import { describe, expect, it } from 'vitest'
import { AlertBook, type AlertRules } from '../../src/alerts/book.ts'
import type { Finding } from '../../src/diagnose/facts.ts'
import { finding } from '../support/alerts.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 10, 22, 12)
const RULES = { minSeverity: 'warning', flap: 10 * MINUTE, quietHours: null, zone: 'UTC' } satisfies AlertRules
const slow = finding({ code: 'upstream_slow', severity: 'warning' })

/** A receiver that is told at once. `at`: minutes after noon. */
function receiver(rules: Partial<AlertRules> = {}, book = new AlertBook({ ...RULES, ...rules })) {
  return {
    book,
    look(at: number, current: readonly Finding[], isComplete = true): string[] {
      const { messages } = book.look({ now: NOON + at * MINUTE, current, isComplete })
      for (const [id, { change }] of messages) book.told(id, change)
      return Array.from(messages.values(), ({ change, finding: { code } }) => `${change} ${code}`)
    },
  }
}

describe('a receiver', () => {
  it('is told that a finding begins, and that it ends, once each', () => {
    const { look } = receiver()
    expect(look(0, [finding()])).toEqual(['begins upstream_down'])
    expect(look(1, [finding({ count: 9, message: 'others' })])).toEqual([])
    expect(look(2, [])).toEqual(['ends upstream_down'])
    expect(look(3, [])).toEqual([])
  })

  it('is told each finding about another subject', () => {
    const { look } = receiver()
    const [one, two] = ['1', '2'].map((device) =>
      finding({ code: 'wrong_secret', subject: { device, company_id: '7' } }),
    )
    expect(look(0, [one, two])).toHaveLength(2)
    expect(look(1, [{ ...two, subject: { company_id: '7', device: '2' } }])).toEqual(['ends wrong_secret'])
  })

  it('is told nothing below its least severity', () => {
    const { look } = receiver({ minSeverity: 'error' })
    expect(look(0, [slow, finding()])).toEqual(['begins upstream_down'])
    expect(look(1, [])).toEqual(['ends upstream_down'])
  })

  it('is told the same again until that has succeeded', () => {
    const { book } = receiver()
    const state = { now: NOON, current: [finding()], isComplete: true }
    expect(book.look(state).messages.size).toBe(1)
    expect(book.look(state).messages.size).toBe(1)
  })

  it('is told once of a finding that comes and goes, and again when it has lasted for `flap`', () => {
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

  it('is told at once again after `flap`', () => {
    const { look } = receiver()
    for (const at of [0, 20]) {
      expect(look(at, [finding()])).toEqual(['begins upstream_down'])
      expect(look(at + 5, [])).toEqual(['ends upstream_down'])
    }
  })

  it('is told of no end while it is not known what holds', () => {
    const { look } = receiver()
    look(0, [finding()])
    expect(look(1, [finding({ code: 'redis_down' })], false)).toEqual(['begins redis_down'])
    expect(look(2, [finding()])).toEqual(['ends redis_down'])
  })

  it('has no entry of what ended, after `flap`', () => {
    const { book, look } = receiver()
    look(0, [finding()])
    look(1, [])
    expect(book.entries.size).toBe(1)
    look(12, [])
    expect(book.entries.size).toBe(0)
  })

  it('is told the second SOS of a device at once, and of no other finding that is since later', () => {
    const { look } = receiver()
    expect(look(0, raisedBy(0))).toEqual(['begins sos', 'begins sos', 'begins power_cut'])
    expect(look(10, raisedBy(0))).toEqual([])
    expect(look(50, raisedBy(50))).toEqual(['ends sos', 'begins sos'])
    expect(look(51, raisedBy(50))).toEqual([])
  })

  it('is told nothing twice by a process that knows what was told before', () => {
    const before = receiver()
    before.look(0, [finding(), slow])
    const after = receiver()
    for (const [id, entry] of before.book.entries) after.book.entries.set(id, JSON.parse(JSON.stringify(entry)))
    expect(after.look(1, [finding()])).toEqual(['ends upstream_slow'])
  })
})

describe('in quiet hours', () => {
  const quietHours = { from: 13 * 60, until: 14 * 60, except: 'error' } as const

  it('only what is serious is told; what still holds is told after them', () => {
    const { look } = receiver({ quietHours })
    const passing = finding({ code: 'flood', severity: 'warning' })
    expect(look(60, [finding(), slow, passing])).toEqual(['begins upstream_down'])
    expect(look(119, [slow])).toEqual(['ends upstream_down'])
    expect(look(120, [slow])).toEqual(['begins upstream_slow'])
  })

  it('the end of what was told before is told after them', () => {
    const { look } = receiver({ quietHours })
    expect(look(59, [slow])).toEqual(['begins upstream_slow'])
    expect(look(70, [])).toEqual([])
    expect(look(120, [])).toEqual(['ends upstream_slow'])
  })

  it.each([
    ['over midnight', { from: 22 * 60, until: 6 * 60 }, 'UTC', [9, 10, 17, 18]],
    ['in another zone', { from: 22 * 60, until: 6 * 60 }, '+03:00', [6, 7, 14, 15]],
  ])('they are those of the clock %s', (_, hours, zone, [before, first, last, after]) => {
    const isTold = (hour: number) => {
      const { look } = receiver({ quietHours: { ...hours, except: 'error' }, zone })
      return look(hour * 60, [slow]).length > 0
    }
    expect([before, first, last, after].map(isTold)).toEqual([true, false, false, true])
  })
})

/** A finding about an alarm that was raised some minutes after noon. */
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
