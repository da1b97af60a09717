import { describe, expect, it } from 'vitest'
import type { ClockStep, ClockSteps } from '../rig/clock.ts'
import type { Request } from '../rig/journal-api.ts'
import type { Trip } from '../rig/vans.ts'
import { localTime, nextChange } from './dst.ts'
import { type Edit, keyOf, lanesOf } from './edits.ts'
import { KINDS, planFaults } from './plan.ts'
import { judge } from './verdict.ts'

it('the schedule of faults depends only on its seed', () => {
  expect(planFaults(7, 120_000, KINDS.single)).toEqual(planFaults(7, 120_000, KINDS.single))
  expect(planFaults(8, 120_000, KINDS.single)).not.toEqual(planFaults(7, 120_000, KINDS.single))
})

it.each([1, 2, 3])('the schedule of faults has every kind several times in two minutes: seed %i', (seed) => {
  const counts = Map.groupBy(planFaults(seed, 120_000, KINDS.single), ({ kind }) => kind)
  const many = KINDS.single.filter((kind) => !kind.startsWith('dst-'))
  expect(many.filter((kind) => (counts.get(kind)?.length ?? 0) < 2)).toEqual([])
})

it.each(['single', 'sentinel', 'cluster'] as const)(
  'the schedule of faults has DST begin or end in the middle, depending on its seed: %s',
  (topology) => {
    const changes = [1, 2].map((seed) =>
      planFaults(seed, 60_000, KINDS[topology]).filter(({ kind }) => kind.startsWith('dst-')),
    )
    expect(changes.flat().map(({ at, kind }) => [at, kind])).toEqual([
      [30_000, 'dst-ends'],
      [30_000, 'dst-begins'],
    ])
  },
)

it('the schedule of faults has only the requested kinds', () => {
  const kinds = new Set(planFaults(1, 120_000, ['kill-redis', 'api-slow']).map(({ kind }) => kind))
  expect(kinds).toEqual(new Set(['kill-redis', 'api-slow']))
})

it('the schedule of faults ends with the run', () => {
  expect(planFaults(1, 60_000, KINDS.single).filter(({ at, lastsMs }) => at + lastsMs > 60_000)).toEqual([])
})

describe('a change of the clocks', () => {
  const now = Date.parse('2026-11-23T08:30:00Z')

  it('DST begins and ends when the clocks of Europe change', () => {
    expect(new Date(nextChange('dst-begins', now)).toISOString()).toBe('2027-03-28T01:00:00.000Z')
    expect(new Date(nextChange('dst-ends', now)).toISOString()).toBe('2027-10-31T01:00:00.000Z')
  })

  it('a local time has an offset if the clock shows it twice', () => {
    const end = nextChange('dst-ends', now) / 1000
    expect([end - 1, end, end + 3599, end + 3600].map(localTime)).toEqual([
      '2027-10-31 02:59:59',
      '2027-10-31T01:00:00.000Z',
      '2027-10-31T01:59:59.000Z',
      '2027-10-31 03:00:00',
    ])
  })
})

describe('the verdict', () => {
  const custody = { delivered: 3, redelivered: 0, waiting: 0, parked: 0, held: 0, filtered: 0, difference: 0 }
  const verdictOn = (
    requests: readonly Request[],
    {
      told = [1, 2, 3],
      trips = [trip()],
      account = {},
      edits = [],
      shown = edits.map(keyOf),
      clocks = { steps: [] },
    }: {
      told?: number[]
      trips?: Trip[]
      account?: Partial<typeof custody>
      edits?: Edit[]
      shown?: string[]
      clocks?: ClockSteps
    } = {},
  ) =>
    judge({
      trips,
      edits,
      clocks,
      shown: new Set(shown),
      custody: { ...custody, ...account },
      requests,
      told: new Set(told),
    })

  it('the verdict reports no problem if every fix came once and in order', () => {
    expect(verdictOn([pushed(1, [1, 2]), pushed(2, [3])])).toEqual({
      made: 3,
      acked: 3,
      delivered: 3,
      lost: 0,
      pushedTwice: 0,
      untold: 0,
      storedTwice: 0,
      rerouted: 0,
      either: 0,
      corrected: 0,
      longestAckMs: 3000,
      problems: [],
    })
  })

  it('the verdict reports an acknowledged fix that is not at the API', () => {
    const { lost, problems } = verdictOn([pushed(1, [1, 2]), pushed(2, [3], { took: false })], {
      account: { delivered: 2 },
    })
    expect(lost).toBe(1)
    expect(problems).toEqual(['1 (fix, lane 1/1001): lost 3, made 00:00:03.000, acknowledged 00:00:04.000'])
  })

  it('the verdict reports a first delivery that came after a newer one', () => {
    expect(verdictOn([pushed(1, [1, 3]), pushed(2, [2])]).problems).toEqual([
      '1 (fix, lane 1/1001): 2 came after 3, in request 2 (00:00:05.000, ok, 1 positions from 2)',
    ])
  })

  it('the verdict allows a late lane to send its newest position first', () => {
    expect(verdictOn([pushed(1, [3], { at: 62_000 }), pushed(2, [1, 2])]).problems).toEqual([])
  })

  it('the verdict allows the newest position first if the API stored the oldest without an answer', () => {
    const requests = [pushed(1, [1]), pushed(2, [3], { at: 62_000 }), pushed(3, [1, 2])]
    expect(verdictOn(requests, { told: [2, 3] }).problems).toEqual([])
  })

  it('the verdict allows the newest position first only if the clock jumped forward while the lane waited', () => {
    const requests = [pushed(1, [3], { at: 6000 }), pushed(2, [1, 2])]
    const jump = { fromMs: 0, toMs: 3_600_000 }
    expect(verdictOn(requests, { clocks: { steps: [{ ...jump, at: 5500 }] } }).problems).toEqual([])
    for (const at of [500, 6500])
      expect(verdictOn(requests, { clocks: { steps: [{ ...jump, at }] } }).problems).toHaveLength(2)
    expect(verdictOn(requests, { clocks: { steps: [{ at: 5500, fromMs: 0, toMs: 10 }] } }).problems).toHaveLength(2)
  })

  it('the verdict allows the newest position first if the gateway was slow or Redis fast while the lane waited', () => {
    const requests = [pushed(1, [3], { at: 6000 }), pushed(2, [1, 2])]
    const ahead = [{ at: 5500, fromMs: 0, toMs: 3_600_000 }]
    const problems = (clocks: ClockSteps) => verdictOn(requests, { clocks }).problems
    expect(problems({ steps: behind(500), redisSteps: [] })).toEqual([])
    expect(problems({ steps: [], redisSteps: ahead })).toEqual([])
    expect(problems({ steps: ahead, redisSteps: behind(500) })).toHaveLength(2)
  })

  it('the verdict allows a fix held under a slow clock to go by an entry changed before its release', () => {
    const edits = [edit({ kind: 'device', from: -Infinity, askedAt: 10_000, answeredAt: 11_000 })]
    const requests = [pushed(1, [1]), pushed(2, [2, 3], { lane: '9/9001' })]
    expect(verdictOn(requests, { edits, clocks: { steps: behind(3500) } }).problems).toEqual([])
    expect(verdictOn(requests, { edits, clocks: { steps: behind(4500) } }).problems).toHaveLength(2)
    // New fixes of a device are queued behind its held ones.
    expect(verdictOn(requests, { edits, clocks: { steps: behind(-1000) } }).problems).toEqual([])
    expect(verdictOn(requests, { edits, clocks: { steps: behind(-50_000) } }).problems).toHaveLength(2)
    expect(verdictOn(requests, { edits }).problems).toHaveLength(2)
  })

  it('the verdict reports the newest position first of a lane that is not late', () => {
    expect(verdictOn([pushed(1, [3], { at: 60_000 }), pushed(2, [1, 2])]).problems).toHaveLength(2)
  })

  it('the verdict reports a position that no van made', () => {
    expect(verdictOn([pushed(1, [1, 2, 3, 9])]).problems).toContain(
      '1 (fix, lane 1/1001): 9 was never made, in request 1 (00:00:05.000, ok, 4 positions from 1)',
    )
  })

  it('the verdict reports a van without an acknowledgement', () => {
    const waiting = trip({ fixes: [{ timestamp: 1, latitude: 52, longitude: 13, madeAt: 1000 }] })
    expect(verdictOn([], { trips: [waiting], account: { delivered: 0 } }).problems).toEqual([
      '1 (fix, lane 1/1001): 1 fixes were never acknowledged',
    ])
  })

  it('the verdict reports a pushed fix from the future, and does not miss one that was not pushed', () => {
    const ahead = trip({ aheadMs: 1 })
    const held = { delivered: 0, held: 3 }
    expect(verdictOn([], { trips: [ahead], account: held })).toMatchObject({ lost: 0, problems: [] })
    expect(verdictOn([pushed(1, [1])], { trips: [ahead], account: { ...held, delivered: 1 } }).problems).toEqual([
      '1 (fix, lane 1/1001): 1 fixes from the future were pushed',
    ])
  })

  it('the verdict reports a difference in the account', () => {
    const wrong = { ...custody, difference: 1 }
    expect(verdictOn([pushed(1, [1, 2, 3])], { account: wrong }).problems).toEqual([
      `the account has a difference: ${JSON.stringify(wrong)}`,
    ])
  })

  it('the verdict distinguishes the reasons why a fix came twice', () => {
    const requests = [pushed(1, [1]), pushed(2, [1, 2]), pushed(3, [1, 2, 3]), pushed(4, [3])]
    expect(verdictOn(requests, { told: [1, 3, 4], account: { delivered: 4 } })).toMatchObject({
      problems: [expect.stringContaining('stored twice')],
      storedTwice: 1,
      untold: 1,
      pushedTwice: 2,
    })
  })

  it('the verdict requires each fix on the lane of its own time', () => {
    const edits = [edit({ from: 3 })]
    expect(verdictOn([pushed(1, [1, 2]), pushed(2, [3], { lane: '9/9001' })], { edits }).problems).toEqual([])
    expect(verdictOn([pushed(1, [1]), pushed(2, [2, 3], { lane: '9/9001' })], { edits }).problems).toEqual([
      '1 (fix, lane 1/1001): 2 went to 9/9001 in place of 1/1001, in request 2 (00:00:05.000, ok, 2 positions from 2)',
    ])
    expect(verdictOn([pushed(1, [1, 2, 3])], { edits }).problems).toEqual([
      '1 (fix, lane 1/1001): 3 went to 1/1001 in place of 9/9001, in request 1 (00:00:05.000, ok, 3 positions from 1)',
    ])
  })

  describe('a line of the past', () => {
    const edits = [edit({ kind: 'past', from: 2, until: 3, askedAt: 4500, answeredAt: 4600 })]
    const again = (n: number, change: Partial<Request> = {}) => pushed(n, [2], { lane: '9/9001', at: 6000, ...change })
    const first = pushed(1, [1, 2, 3], { at: 4400 })

    it('the verdict requires the fixes of a past line on its lane too, once each', () => {
      expect(verdictOn([first, again(2)], { edits, account: { redelivered: 1 } })).toMatchObject({
        delivered: 3,
        corrected: 1,
        pushedTwice: 0,
        storedTwice: 0,
        problems: [],
      })
      expect(verdictOn([first], { edits }).problems).toEqual([
        '1 (fix, lane 1/1001): 2 is not at 9/9001, where it belongs, but came in request 1 (00:00:04.400, ok, 3 positions from 1)',
      ])
    })

    it('the verdict counts fixes that came twice by a past line, and reports ones that were queued twice', () => {
      const twice = [first, again(2), again(3)]
      expect(verdictOn(twice, { edits, account: { redelivered: 1 } })).toMatchObject({ pushedTwice: 1, problems: [] })
      expect(verdictOn(twice, { edits, account: { redelivered: 2 } }).problems).toEqual([
        '2 were delivered again, but 1 belong elsewhere',
      ])
    })

    it('the verdict reports a fix on a past line before its request, or from another time', () => {
      const early = verdictOn([first, again(2, { at: 4450 })], { edits, account: { redelivered: 1 } })
      expect(early.problems[0]).toContain('2 went to 9/9001 in place of 1/1001')
      const other = verdictOn([first, again(2), pushed(3, [3], { lane: '9/9001', at: 6000 })], { edits })
      expect(other.problems[0]).toContain('3 went to 9/9001 in place of 1/1001')
    })

    it('the verdict requires the lane of the last past line, and allows the lanes of earlier ones', () => {
      const later = edit({ kind: 'past', lane: '8/8001', from: 1, until: 3, askedAt: 7000, answeredAt: 7100 })
      const last = pushed(3, [1, 2], { lane: '8/8001', at: 8000 })
      for (const between of [[again(2)], []])
        expect(verdictOn([first, ...between, last], { edits: [...edits, later] }).problems).toEqual([])
      expect(verdictOn([first, again(2)], { edits: [...edits, later] }).problems).toHaveLength(2)
    })
  })

  it('the verdict requires the order of each lane, but not across two lanes', () => {
    const edits = [edit({ from: 3 })]
    const lane = '9/9001'
    expect(verdictOn([pushed(1, [3], { lane }), pushed(2, [1, 2])], { edits }).problems).toEqual([])
    expect(verdictOn([pushed(1, [3], { lane }), pushed(2, [2]), pushed(3, [1])], { edits }).problems).toHaveLength(1)
  })

  it('the verdict reports a lane that no van has', () => {
    expect(verdictOn([pushed(1, [1, 2, 3]), pushed(2, [3], { lane: '9/9001' })]).problems).toEqual([
      "lane 9/9001 is nobody's, in request 2 (00:00:05.000, ok, 1 positions from 3)",
    ])
  })

  it('the verdict reports an answered change that is missing in the roster, unless another entry replaced it', () => {
    const put = edit({ from: 4 })
    const entries = ['7/7001', '8/8001'].map((lane) => edit({ kind: 'device', device: '2', lane, from: -Infinity }))
    const all = [pushed(1, [1, 2, 3])]
    const shown = [keyOf(entries[1])]
    expect(verdictOn(all, { edits: [put, ...entries], shown }).problems).toEqual([
      'put of 1 to 9/9001 from 4, asked 00:00:00.000: answered, and not in the roster',
    ])
  })

  it('the verdict reports a change that was never answered, or was refused', () => {
    const edits = [edit({ from: 4, answeredAt: undefined }), edit({ from: 5, refused: '409 no' })]
    expect(verdictOn([pushed(1, [1, 2, 3])], { edits }).problems).toEqual([
      'put of 1 to 9/9001 from 4, asked 00:00:00.000: never answered',
      'put of 1 to 9/9001 from 5, asked 00:00:00.000: 409 no',
    ])
  })
})

describe('the lanes of a fix', () => {
  const fix = { timestamp: 20, latitude: 52, longitude: 13, madeAt: 20_500, ackedAt: 21_000 }

  it('a fix belongs to the lane of the last change that begins before it', () => {
    const edits = [edit({ from: 10, lane: '7/1' }), edit({ from: 20, lane: '8/1' }), edit({ from: 21 })]
    expect(lanesOf(fix, trip(), edits)).toEqual(['8/1'])
  })

  it('a fix belongs to a past line until that ends, whatever its entry becomes later', () => {
    const past = edit({ kind: 'past', from: 15, until: 21, lane: '7/1' })
    const entry = edit({ kind: 'device', from: -Infinity, lane: '8/1' })
    expect(lanesOf(fix, trip(), [past, entry])).toEqual(['7/1'])
    expect(lanesOf({ ...fix, timestamp: 21 }, trip(), [past, entry])).toEqual(['8/1'])
  })

  it('a fix may belong to two lanes while a change was in progress', () => {
    expect(lanesOf(fix, trip(), [edit({ from: 20, answeredAt: 20_499 })])).toEqual(['9/9001'])
    for (const answeredAt of [20_500, 22_000, undefined])
      expect(lanesOf(fix, trip(), [edit({ from: 20, answeredAt })])).toEqual(['1/1001', '9/9001'])
  })

  it('a fix may belong to two lanes while a file may not have been read', () => {
    const file = edit({ kind: 'file', from: 20 })
    expect(lanesOf(fix, trip(), [{ ...file, answeredAt: 499 }])).toEqual(['9/9001'])
    expect(lanesOf(fix, trip(), [{ ...file, answeredAt: 500 }])).toEqual(['1/1001', '9/9001'])
  })

  it('a fix that was acknowledged before an entry changed belongs to the old lane', () => {
    const entry = edit({ kind: 'device', from: -Infinity, answeredAt: 30_000 })
    expect(lanesOf(fix, trip(), [{ ...entry, askedAt: 21_001 }])).toEqual(['1/1001'])
    expect(lanesOf(fix, trip(), [{ ...entry, askedAt: 21_000 }])).toEqual(['1/1001', '9/9001'])
  })
})

/** Returns steps of a clock that is an hour slow for two seconds. */
function behind(at: number): ClockStep[] {
  return [
    { at, fromMs: 0, toMs: -3_600_000 },
    { at: at + 2000, fromMs: -3_600_000, toMs: 0 },
  ]
}

/** Returns a change for the van of `trip` that has been in effect for long. */
function edit(change: Partial<Edit>): Edit {
  return { kind: 'put', device: '1', lane: '9/9001', from: 0, askedAt: 0, answeredAt: -10_000, ...change }
}

function trip(change: Partial<Trip> = {}): Trip {
  return {
    id: '1',
    speech: 'fix',
    lane: '1/1001',
    aheadMs: 0,
    fixes: [1, 2, 3].map((timestamp) => ({
      timestamp,
      latitude: 52,
      longitude: 13,
      madeAt: timestamp * 1000,
      ackedAt: 4000,
    })),
    ...change,
  }
}

function pushed(n: number, timestamps: readonly number[], change: Partial<Request> = {}): Request {
  return {
    n,
    at: 5000,
    lane: '1/1001',
    behaviour: 'ok',
    took: true,
    positions: timestamps.map((timestamp) => [timestamp, 52, 13]),
    ...change,
  }
}
