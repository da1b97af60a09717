import { expect, it } from 'vitest'
import type { FindingCode } from '../../src/diagnose/codes.ts'
import { diagnose, linkStates } from '../../src/diagnose/diagnose.ts'
import type { Facts, LaneAnswerFacts, ProcessFacts, UpstreamFacts } from '../../src/diagnose/facts.ts'
import { inEnglish } from '../support/texts.ts'

const NOW = Date.UTC(2026, 10, 20, 8)
const S = 1000

const GATEWAY: ProcessFacts = { role: 'gateway', pid: 1, host: 'a', sinceAt: NOW - 900 * S, ageMs: 500 }
const WORKER: ProcessFacts = { ...GATEWAY, role: 'worker', pid: 2 }
/** Returns figures of lanes that are all answered soon, except as given. */
function answered({ unanswered = {}, slow = {} }: { unanswered?: object; slow?: object }): LaneAnswerFacts {
  const none = { count: 0, others: 0, known: 2 }
  return { unanswered: { ...none, named: [], ...unanswered }, slow: { ...none, leastMs: 0, ...slow } }
}

const HANGING = { lane: '7/5/1005', since: NOW - 20 * S, others: 9, waiting: 12 }
const hanging = (count: number, others: number) => ({
  ...UPSTREAM,
  oldestMs: 20 * S,
  usualMs: 57 * S,
  lastError: { at: NOW - S, code: 'http', status: 422, message: 'bad point', operation: 'pushPositions' },
  answers: answered({
    unanswered: {
      count,
      others,
      known: count + others,
      named: Array.from({ length: count }, (_, index) => ({
        ...HANGING,
        lane: `7/${5 + index}/100${5 + index}`,
        others,
      })),
    },
    slow: { count, others, known: count + others, leastMs: 20 * S },
  }),
})
const UPSTREAM: UpstreamFacts = {
  state: 'up',
  since: NOW - 900 * S,
  url: 'https://api.example',
  inFlight: 2,
  oldestMs: 100,
  slowestMs: 200,
  usualMs: 100,
  refused: [],
  answers: answered({}),
  tokensRefused: [],
}
const WELL: Facts = {
  now: NOW,
  watchedSince: NOW - 900 * S,
  observations: [],
  processes: [GATEWAY, WORKER],
  redis: {},
  upstream: UPSTREAM,
  lanes: [],
  backlog: { fixes: 3, lanes: 1, oldestAt: NOW - S },
  difference: 0,
}
const POINT = { lane: '7/42/1001', positions: 3, status: 422, message: 'bad point' }
const ROSTER = { rejected: [], stale: [], missing: [] }
const PULLED = { writer: 'https://tms.example/a', company_id: '7', since: NOW - S }
const BACKLOG = { fixes: 40, lanes: 2, oldestAt: NOW - 61 * S }
const failing = (code: string, status?: number, message?: string, more: object = {}) => ({
  upstream: {
    ...UPSTREAM,
    state: 'down' as const,
    since: NOW - 9 * S,
    lastError: { at: NOW - S, code, status, message, operation: 'pushPositions', ...more },
  },
  backlog: BACKLOG,
})
const downFor = (ms: number) => ({ upstream: { ...UPSTREAM, state: 'down' as const, since: NOW - ms } })
const REFUSED = { company: '7', message: 'no', since: NOW - 60 * S, lanes: ['7/42/1001', '7/42/1002'] }
const refused = (status: number, accepted = {}) => ({ lanes: [{ ...REFUSED, status, ...accepted }] })

const fileRefused = (host: string, count = 2) => ({
  code: 'config_refused' as const,
  subject: { file: 'devices.yaml', host },
  sinceAt: NOW - 9 * S,
  lastAt: NOW,
  count,
  evidence: ['devices.yaml:4: company_id: expected a number'],
})
const fileRefusedText = (host: string) =>
  `devices.yaml on ${host} is refused: what was in effect before it stays in effect`

function found(facts: Partial<Facts>) {
  return inEnglish(diagnose({ ...WELL, ...facts }))
}

it('a healthy system has no finding', () => expect(found({})).toEqual([]))

it('an API that is down is a finding when the reason is known, or after two seconds', () => {
  expect(found(downFor(1999))).toEqual([])
  expect(found(downFor(2000))).toMatchObject([
    { code: 'upstream_down', message: 'the tracking API is down: 3 positions wait' },
  ])
})

it('an apikey that is accepted again is no finding while its lanes are tried again', () =>
  expect(found(refused(403, { acceptedAt: NOW }))).toEqual([]))

it.each<[FindingCode, string, Partial<Facts>, Record<string, unknown>]>([
  ['redis_down', 'Redis does not answer', { redis: { downSince: NOW - 5 * S } }, { sinceAt: NOW - 5 * S }],
  [
    'redis_unsafe',
    'a setting of Redis is wrong',
    { redis: { unsafe: ['appendonly no'] } },
    { evidence: ['appendonly no'] },
  ],
  [
    'redis_unlimited',
    'Redis has no maxmemory',
    { redis: { unlimited: ['of the 8.0 GiB'] } },
    { severity: 'warning', link: 'stored', evidence: ['of the 8.0 GiB'] },
  ],
  [
    'replicas_missing',
    'a replica of Redis is missing',
    { redis: { missing: ['1 of 2 replicas'] } },
    { severity: 'error', link: 'stored', evidence: ['1 of 2 replicas'] },
  ],
  ['disk_full', 'the disk is nearly full', { redis: { disk: ['/data: 12 MiB are left'] } }, { severity: 'error' }],
  ['no_gateway', 'no gateway lives', { processes: [WORKER] }, { link: 'connected' }],
  ['no_worker', 'no worker lives', { processes: [GATEWAY] }, { link: 'pushed' }],
  [
    'worker_stuck',
    'a worker is frozen and another one lives',
    { processes: [GATEWAY, WORKER, { ...WORKER, pid: 3, ageMs: 10 * S }] },
    {
      subject: { process: 'worker 3 on a' },
      sinceAt: NOW - 10 * S,
      evidence: ['worker 3 on a: last sign of life 10 s ago'],
    },
  ],
  [
    'no_worker',
    'all workers are frozen',
    { processes: [GATEWAY, { ...WORKER, ageMs: 90 * S }, { ...WORKER, pid: 3, ageMs: 10 * S }] },
    { severity: 'error', sinceAt: NOW - 10 * S },
  ],
  [
    'restarting',
    'a gateway ends again and again',
    { processes: [WORKER, { ...GATEWAY, sinceAt: NOW - S, restartsAt: [NOW - 9 * S, NOW - 5 * S, NOW - S] }] },
    { subject: { process: 'gateway 1 on a' }, count: 3, sinceAt: NOW - 9 * S },
  ],
  [
    'restarting',
    'Redis ends again and again',
    { redis: { restartsAt: [NOW - 60 * S, NOW - 20 * S, NOW] } },
    { subject: { process: 'Redis' } },
  ],
  [
    'upstream_down',
    'the API answers 500',
    failing('http', 500, 'oops'),
    { message: 'the tracking API answers 500: 40 positions wait', sinceAt: NOW - 9 * S, count: 40 },
  ],
  [
    'upstream_down',
    'the API refuses connections',
    failing('refused'),
    { message: 'the tracking API refuses connections: 40 positions wait' },
  ],
  ['upstream_down', 'its host name does not exist', failing('dns'), { action: expect.stringContaining('base_url') }],
  [
    'not_the_api',
    'a login page answers in its place',
    failing('not_the_api', 302, '<html>Log in', { content_type: 'text/html', location: 'http://login.example/' }),
    {
      severity: 'error',
      message: 'what answers at https://api.example is not the tracking API: 40 positions wait',
      sinceAt: NOW - 9 * S,
      count: 40,
      evidence: [
        expect.stringMatching(/^pushPositions: 302 text\/html, last at /),
        'it redirects to: http://login.example/',
        'it begins with: <html>Log in',
      ],
    },
  ],
  ['upstream_hanging', 'requests ran into the time limit', failing('timeout'), { sinceAt: NOW - 9 * S }],
  [
    'upstream_hanging',
    'requests are not answered for 15 s',
    {
      upstream: {
        ...UPSTREAM,
        oldestMs: 15 * S,
        answers: answered({ unanswered: { count: 2 }, slow: { count: 2, leastMs: 15 * S } }),
      },
    },
    { sinceAt: NOW - 15 * S },
  ],
  [
    'upstream_slow',
    'the API takes 8 s',
    { upstream: { ...UPSTREAM, usualMs: 8 * S, answers: answered({ slow: { count: 2, leastMs: 6 * S } }) } },
    { message: 'the tracking API takes 8 s for a request: positions arrive late' },
  ],
  ['upstream_limited', 'the API limits us', { upstream: { ...UPSTREAM, state: 'limited' } }, { severity: 'warning' }],
  [
    'apikey_refused',
    'all lanes of a company are refused with 403',
    refused(403),
    {
      subject: { company_id: '7' },
      count: 2,
      message: 'the tracking API refuses the apikey of company 7 (403): 2 lanes parked',
      evidence: ['403 no', 'courier 42, route 1001', 'courier 42, route 1002'],
    },
  ],
  ['apikey_refused', 'a company has no apikey', refused(0), { message: 'company 7 has no apikey: 2 lanes parked' }],
  [
    'lane_refused',
    'other lanes of the company are accepted',
    refused(403, { acceptedAt: NOW, acceptedBefore: NOW - 59 * S }),
    { count: 2 },
  ],
  [
    'lane_refused',
    'lanes are refused with different answers',
    { lanes: [...refused(404).lanes, { ...REFUSED, status: 410, message: 'gone', since: NOW - 90 * S }] },
    {
      count: 4,
      sinceAt: NOW - 90 * S,
      message: 'the tracking API refuses 4 lanes of company 7 (404, 410)',
      evidence: expect.arrayContaining(['404 no', '410 gone']),
    },
  ],
  [
    'lane_refused',
    'courier or route are unknown',
    refused(404),
    { message: 'the tracking API refuses 2 lanes of company 7 (404)' },
  ],
  [
    'lane_refused',
    'all positions of lanes are refused, of which nobody says that courier or route are wrong',
    refused(422),
    {
      action: expect.stringMatching(/^correct what its answer names: it does not say/),
      evidence: expect.arrayContaining(['422 no']),
    },
  ],
  [
    'lane_refused',
    'lanes are refused as lanes, and as positions',
    { lanes: [...refused(404).lanes, ...refused(422).lanes] },
    { action: expect.stringMatching(/^correct the courier or the route/) },
  ],
  [
    'upstream_down',
    'its certificate is of an authority of its own',
    failing('authority'),
    {
      message: 'the tracking API has a certificate of an authority that is not trusted: 40 positions wait',
      action: expect.stringContaining('tracking.tls.ca'),
    },
  ],
  [
    'upstream_down',
    'it refuses TLS, such as for want of a client certificate',
    failing('handshake'),
    {
      message: 'the tracking API does not complete a TLS handshake: 40 positions wait',
      action: expect.stringContaining('tracking.tls (gateway.yaml), cert and key'),
    },
  ],
  ['upstream_down', 'it speaks HTTPS alone', failing('needs_tls'), { action: expect.stringContaining('https://') }],
  ['upstream_down', 'it does not speak HTTPS', failing('no_tls'), { action: expect.stringContaining('http://') }],
  [
    'redis_down',
    'Redis says that its disk is full',
    { redis: { downSince: NOW, reason: 'MISCONF Errors writing to the AOF file: No space left on device' } },
    {
      message: expect.stringMatching(/^Redis cannot write to its disk/),
      action: expect.stringMatching(/^free space/),
    },
  ],
  [
    'positions_refused',
    'single positions are refused',
    {
      upstream: {
        ...UPSTREAM,
        refused: [
          { ...POINT, at: NOW - 2 * S },
          { ...POINT, positions: 2, at: NOW - S },
        ],
      },
    },
    {
      subject: { company_id: '7', courier_id: '42', route_id: '1001' },
      count: 5,
      message: expect.stringContaining('of courier 42 on route 1001'),
      evidence: ['422 bad point'],
    },
  ],
  [
    'positions_refused',
    'single positions of many lanes are refused',
    {
      upstream: { ...UPSTREAM, refused: [1, 2, 3, 4, 5, 6].map((id) => ({ ...POINT, lane: `7/${id}/1`, at: NOW })) },
    },
    {
      subject: { company_id: '7' },
      count: 18,
      evidence: [1, 2, 3, 4, 5].map((id) => `courier ${id}, route 1: 422 bad point`),
    },
  ],
  [
    'lane_hanging',
    'one lane of many gets no answer',
    { upstream: hanging(1, 20) },
    {
      severity: 'error',
      subject: { company_id: '7', courier_id: '5', route_id: '1005' },
      sinceAt: NOW - 20 * S,
      message: 'the tracking API does not answer courier 5 on route 1005, and answers others',
      evidence: [
        'no answer since 2026-11-20T07:59:40.000Z: 12 positions wait',
        'other lanes answered since: at least 20',
      ],
    },
  ],
  [
    'lane_hanging',
    'more lanes than are named singly get no answer, and far more do',
    { upstream: hanging(6, 20) },
    {
      subject: { company_id: '7' },
      count: 6,
      message: expect.stringContaining('does not answer 6 lanes of company 7'),
    },
  ],
  [
    'upstream_hanging',
    'many lanes get no answer, and hardly any other did since',
    {
      upstream: {
        ...UPSTREAM,
        answers: answered({ unanswered: { count: 30, others: 3, known: 204, named: [HANGING] } }),
      },
    },
    { subject: {} },
  ],
  [
    'lane_hanging',
    'many lanes get no answer, and some others did, which send seldom',
    {
      upstream: {
        ...UPSTREAM,
        answers: answered({ unanswered: { count: 6, others: 3, known: 20, named: [HANGING] } }),
      },
    },
    { subject: { company_id: '7', courier_id: '5', route_id: '1005' } },
  ],
  [
    'upstream_hanging',
    'most lanes get no answer',
    { upstream: hanging(21, 20) },
    { subject: {}, evidence: ['https://api.example: 2 requests in flight'] },
  ],
  [
    'token_refused',
    'an OAuth token is refused',
    { upstream: { ...UPSTREAM, tokensRefused: ['7'] } },
    { subject: { company_id: '7' } },
  ],
  ['backlog', 'fixes wait for over a minute', { backlog: BACKLOG }, { sinceAt: NOW - S, count: 40 }],
  [
    'roster_rejected',
    'lines of a put are left out',
    {
      roster: {
        ...ROSTER,
        rejected: [{ writer: 'dispatch', company_id: '7', lines: 2, at: NOW - S, evidence: ['dispatch:4: no'] }],
      },
    },
    {
      subject: { company_id: '7' },
      count: 2,
      sinceAt: NOW - S,
      message: '2 lines of dispatch are left out of the roster',
      evidence: ['dispatch:4: no'],
    },
  ],
  [
    'roster_rejected',
    'lines of two writers of a company are left out',
    {
      roster: {
        ...ROSTER,
        rejected: ['dispatch', 'night'].map((writer, index) => {
          return { writer, company_id: '7', lines: 1, at: NOW - index * S, evidence: [`${writer}:4: no`] }
        }),
      },
    },
    {
      subject: { company_id: '7' },
      count: 2,
      sinceAt: NOW - S,
      message: '2 lines of dispatch, night are left out of the roster',
      evidence: ['dispatch:4: no', 'night:4: no'],
    },
  ],
  [
    'roster_pull_failed',
    'a roster cannot be pulled',
    { roster: { ...ROSTER, pulls: [{ ...PULLED, tries: 2, reason: 'its server answers 401' }] } },
    {
      subject: { company_id: '7', pull: 'https://tms.example/a' },
      count: 2,
      sinceAt: NOW - S,
      message: 'the roster of https://tms.example/a cannot be pulled: its lines stay as they were',
      evidence: ['its server answers 401'],
    },
  ],
  [
    'roster_pull_failed',
    'a roster that was pulled is refused',
    { roster: { ...ROSTER, pulls: [{ ...PULLED, tries: 1, reason: 'empty', refused: true }] } },
    {
      message: 'the roster that is pulled from https://tms.example/a is refused: its lines stay as they were',
      action: expect.stringContaining('correct the roster at its source'),
    },
  ],
  [
    'roster_stale',
    'a file is older than what was written',
    { roster: { ...ROSTER, stale: [{ name: 'routes.csv', at: NOW - S }] } },
    { sinceAt: NOW - S, evidence: ['routes.csv'] },
  ],
  [
    'roster_stale',
    'a company has no line for today',
    { roster: { ...ROSTER, missing: [{ company_id: '7', since: NOW - S }] } },
    {
      subject: { company_id: '7' },
      sinceAt: NOW - S,
      message: expect.stringContaining('company 7 has no line for today'),
    },
  ],
  [
    'copy_refused',
    'the receiver of a copy refuses positions',
    { copies: [{ copy: 'crm', parked: 3, refusal: { status: 422, message: 'no', at: NOW - S }, difference: 0 }] },
    {
      subject: { copy: 'crm' },
      count: 3,
      sinceAt: NOW - S,
      message: 'the receiver of the copy crm refuses positions: they are parked',
      evidence: ['it answers 422: no'],
    },
  ],
  [
    'custody_difference',
    'the account of a copy does not add up',
    { copies: [{ copy: 'crm', parked: 0, difference: -2 }] },
    { subject: { copy: 'crm' }, count: 2, evidence: ['the copy crm: -2 positions'] },
  ],
  [
    'custody_difference',
    'fixes are missing',
    { difference: 2 },
    { count: 2, evidence: ['2 received fixes are missing'] },
  ],
  ['custody_difference', 'a fix is missing', { difference: 1 }, { evidence: ['1 received fix is missing'] }],
  ['custody_difference', 'there is a fix too many', { difference: -1 }, { evidence: ['1 fix too many'] }],
  [
    'redelivery_offered',
    'a position went elsewhere',
    {
      roster: {
        rejected: [],
        stale: [],
        missing: [],
        offers: [{ company_id: '7', writer: 'routes.csv', at: NOW, fixes: 1, vans: ['Van 1'] }],
      },
    },
    { evidence: ['1 position, by lines that routes.csv has replaced'] },
  ],
])('the finding %s is made if %s', (code, _, facts, expected) => {
  const findings = found(facts)
  expect(findings.map((finding) => finding.code)).toEqual([code])
  expect(findings[0]).toMatchObject(expected)
})

it.each<[string, Partial<Facts>]>([
  ['a worker that missed some signs', { processes: [GATEWAY, { ...WORKER, ageMs: 9 * S }] }],
  [
    'restarts before ten seconds of health',
    { processes: [WORKER, { ...GATEWAY, restartsAt: [1, 2, 3].map((s) => NOW - s * 60 * S) }] },
  ],
  ['a position that was refused a while ago', { upstream: { ...UPSTREAM, refused: [{ ...POINT, at: NOW - 11 * S }] } }],
  ['missing signs while nobody could give one', { processes: [], watchedSince: NOW - 9 * S }],
  ['a request that waits for 4 s', { upstream: { ...UPSTREAM, oldestMs: 4 * S } }],
  [
    'one lane that gets no answer while nobody knows of the others',
    {
      upstream: {
        ...hanging(1, 0),
        answers: answered({ unanswered: { count: 1, known: 3, named: [{ ...HANGING, others: 0 }] } }),
      },
    },
  ],
  [
    'two lanes that get no answer while the others, which send seldom, had nothing to send',
    {
      upstream: {
        ...UPSTREAM,
        answers: answered({
          unanswered: { count: 2, others: 0, known: 9, named: [{ ...HANGING, others: 0 }] },
        }),
      },
    },
  ],
  [
    'one slow lane of many',
    {
      upstream: {
        ...UPSTREAM,
        oldestMs: 9 * S,
        usualMs: 9 * S,
        answers: answered({ slow: { count: 1, others: 8, known: 9, leastMs: 9 * S } }),
      },
    },
  ],
  ['a backlog that has a cause', { upstream: { ...UPSTREAM, state: 'limited' }, backlog: BACKLOG }],
])('no finding is made for %s', (_, facts) => {
  expect(found(facts).filter(({ code }) => code !== 'upstream_limited')).toEqual([])
})

it('one file that several processes of a machine refuse is one finding, which breaks no link', () => {
  const facts = { observations: [fileRefused('gate-1'), fileRefused('gate-1'), fileRefused('gate-2')] }
  expect(found(facts)).toMatchObject([
    { count: 2, severity: 'error', evidence: fileRefused('gate-1').evidence, message: fileRefusedText('gate-1') },
    { count: 2, message: fileRefusedText('gate-2') },
  ])
  const { placed } = Object.fromEntries(
    linkStates(diagnose({ ...WELL, ...facts })).map(({ link, state }) => [link, state]),
  )
  expect(placed).toBe('ok')
})

it('Redis that has ended is a finding about a full disk only if the disk is full', () => {
  const [down] = found({
    redis: { downSince: NOW, reason: 'there is no connection', disk: ['/data: 0 MiB are left'] },
  })
  expect(down).toMatchObject({
    code: 'redis_down',
    message: expect.stringMatching(/^Redis does not answer, and its disk is full or nearly/),
    evidence: ['there is no connection', '/data: 0 MiB are left'],
    action: expect.stringMatching(/^free space/),
  })
  const [other] = found({ redis: { downSince: NOW, reason: 'there is no connection' } })
  expect(`${other.message} ${other.action}`).not.toMatch(/^Redis cannot write|disk is full or nearly/)
})

it('a backlog is no finding of its own if no worker gives a sign of life, or one is stuck', () => {
  const processes = [GATEWAY, WORKER]
  expect(found({ processes, backlog: BACKLOG })).toMatchObject([{ code: 'backlog' }])
  expect(found({ processes: [GATEWAY], backlog: BACKLOG })).toMatchObject([{ code: 'no_worker' }])
  const stuck = { ...WORKER, pid: 9, ageMs: 60 * S }
  expect(found({ processes: [...processes, stuck], backlog: BACKLOG })).toMatchObject([{ code: 'worker_stuck' }])
  // Its lanes have gone to others since.
  const long = { ...stuck, ageMs: 121 * S }
  expect(found({ processes: [...processes, long], backlog: BACKLOG }).map(({ code }) => code)).toContain('backlog')
})

it('restarts before the clock was set back are no finding', () => {
  const restartsAt = [1, 2, 3].map((minutes) => NOW + 3600 * S + minutes * 60 * S)
  const processes = [{ ...GATEWAY, sinceAt: restartsAt[2], restartsAt }, WORKER]
  expect(found({ processes, redis: { restartsAt } })).toEqual([])
})

it('missing signs of life are a finding even after the clock was set back', () => {
  expect(found({ processes: [], watchedSince: NOW + 3600 * S }).map(({ code }) => code)).toEqual([
    'no_gateway',
    'no_worker',
  ])
})

it('the state of the other links is unknown while replicas of Redis are missing', () => {
  const links = linkStates(diagnose({ ...WELL, redis: { missing: ['0 of 1 replicas are connected'] } }))
  expect(links.filter(({ state }) => state !== 'unknown')).toMatchObject([{ link: 'stored', state: 'broken' }])
})

it('no other finding is made while Redis does not answer', () => {
  expect(found({ ...refused(404), redis: { downSince: NOW }, processes: [] }).map(({ code }) => code)).toEqual([
    'redis_down',
  ])
})
