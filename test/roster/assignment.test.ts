import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { topmost } from '../../src/roster/assignment.ts'

interface Ranked {
  readonly id: number
  readonly from: number
  readonly until: number
  readonly rank: number
}

const rankOf = ({ rank }: Ranked) => rank
const times = Array.from({ length: 50 }, (_, index) => index - 3)

const spans = fc
  .array(fc.record({ from: fc.nat(30), length: fc.integer({ min: 1, max: 12 }), rank: fc.nat(4) }), { maxLength: 12 })
  .map((all) => all.map(({ from, length, rank }, id): Ranked => ({ id, from, until: from + length, rank })))

/** Returns the line that decides at a time, by searching through all. */
function deciding(all: readonly Ranked[], time: number): Ranked | undefined {
  const there = all.filter(({ from, until }) => from <= time && time < until)
  return there.toSorted((a, b) => b.rank - a.rank || b.from - a.from || b.id - a.id)[0]
}

it('the list of topmost lines equals a search through every line, in order and without overlaps', () =>
  fc.assert(
    fc.property(spans, (all) => {
      const pieces = topmost(all, rankOf)
      const at = (time: number) => pieces.find(({ from, until }) => from <= time && time < until)?.id
      expect(times.map(at)).toEqual(times.map((time) => deciding(all, time)?.id))
      expect(pieces.every(({ from, until }, index) => from < until && until <= (pieces[index + 1]?.from ?? 99))).toBe(
        true,
      )
    }),
    { numRuns: 2000 },
  ))

it('a topmost line stays whole if another one begins below it, and is split if one begins above it', () => {
  const whole = { id: 0, from: 0, until: 10, rank: 1 }
  expect(topmost([whole, { id: 1, from: 5, until: 9, rank: 0 }], rankOf)).toEqual([whole])
  const over = { id: 1, from: 5, until: 9, rank: 2 }
  expect(topmost([whole, over], rankOf)).toEqual([{ ...whole, until: 5 }, over, { ...whole, from: 9 }])
})
