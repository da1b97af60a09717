import { expect, it } from 'vitest'
import { diagnose } from '../../src/diagnose/diagnose.ts'
import type { ApiFacts, Facts } from '../../src/diagnose/facts.ts'
import { plainly } from '../../src/diagnose/plain.ts'
import { english } from '../../src/texts/text.ts'
import { inEnglish } from '../support/texts.ts'

const NOW = Date.UTC(2026, 10, 20, 8)
const S = 1000
const QUICK = { count: 0, others: 0, known: 2 }
const UP: ApiFacts = {
  name: 'api.example',
  companies: ['7'],
  waiting: 0,
  state: 'up',
  since: NOW - 900 * S,
  url: 'https://api.example',
  inFlight: 1,
  oldestMs: 0,
  slowestMs: 0,
  refused: [],
  answers: { unanswered: { ...QUICK, named: [] }, slow: { ...QUICK, leastMs: 0 } },
  tokensRefused: [],
}
const EU: ApiFacts = { ...UP, name: 'eu.example/v2', companies: ['8', '9'], url: 'https://eu.example/v2' }
const TRACE = { requestId: 'request-17', traceparent: '00-17-01' }
const DOWN: ApiFacts = {
  ...EU,
  state: 'down',
  since: NOW - 60 * S,
  waiting: 12,
  lastError: { at: NOW - S, code: 'refused', operation: 'pushPositions', trace: TRACE },
}

function found(...apis: ApiFacts[]) {
  const facts: Facts = {
    now: NOW,
    observations: [],
    upstream: DOWN,
    apis,
    backlog: { fixes: 500, lanes: 9, oldestAt: NOW },
  }
  return diagnose(facts)
}

it('a finding about one of several APIs names it, counts what waits for it, and concerns its companies', () => {
  const [down, ...others] = found(UP, DOWN)
  expect(others).toEqual([])
  expect(down.companies).toEqual(['8', '9'])
  expect(inEnglish([down])).toMatchObject([
    {
      code: 'upstream_down',
      subject: { api: 'eu.example/v2' },
      message: 'eu.example/v2: the tracking API refuses connections: 12 positions wait',
      evidence: [
        'pushPositions: refuses connections, last at 2026-11-20T07:59:59.000Z',
        'x-request-id request-17, traceparent 00-17-01',
        'https://eu.example/v2: 1 request in flight',
      ],
    },
  ])
  expect(english(plainly(down.message))).toMatch(/^eu\.example\/v2: /)
})

it.each([
  ['upstream_limited', { state: 'limited' }],
  [
    'not_the_api',
    { state: 'down', lastError: { at: NOW, code: 'not_the_api', status: 200, operation: 'pushPositions' } },
  ],
  [
    'upstream_hanging',
    {
      answers: { unanswered: { count: 2, others: 0, known: 2, named: [] }, slow: { ...QUICK, leastMs: 0 } },
      oldestTrace: TRACE,
    },
  ],
  [
    'upstream_slow',
    { answers: { unanswered: { ...QUICK, named: [] }, slow: { count: 2, others: 0, known: 2, leastMs: 6 * S } } },
  ],
] as const)('the finding %s names one of several APIs', (code, changes) => {
  const all = inEnglish(found(UP, { ...EU, ...changes }))
  expect(all.map((each) => [each.code, each.subject])).toEqual([[code, { api: 'eu.example/v2' }]])
  expect(all[0].message).toMatch(/^eu\.example\/v2: /)
})

it('two of several APIs that are down are two findings', () => {
  const names = found({ ...DOWN, name: 'us.example' }, DOWN).map(({ subject }) => subject.api)
  expect(new Set(names)).toEqual(new Set(['eu.example/v2', 'us.example']))
})

it('the finding that too much waits for one of several APIs says whose API it is', () => {
  const observation = {
    code: 'push_full',
    subject: { api: 'eu.example/v2' },
    sinceAt: NOW,
    lastAt: NOW,
    count: 9,
    evidence: [],
  } as const
  const facts: Facts = { now: NOW, observations: [observation], upstream: UP, apis: [UP, EU] }
  expect(diagnose(facts)).toMatchObject([{ code: 'push_full', companies: ['8', '9'] }])
})

it('a finding about the only API does not name it', () => {
  const [down] = inEnglish(diagnose({ now: NOW, observations: [], upstream: DOWN, backlog: { fixes: 3, lanes: 1 } }))
  expect(down).toMatchObject({ subject: {}, message: 'the tracking API refuses connections: 3 positions wait' })
})
