import { companyOfLane, laneIds } from '../domain/ids.ts'
import { counted, joined, say, type Template, type Text } from '../texts/text.ts'
import { CODES } from './codes.ts'
import type {
  ApiFacts,
  Facts,
  Found,
  MissingPositions,
  RefusedLanes,
  RefusedPositions,
  RequestNames,
  UpstreamError,
  UpstreamFacts,
  WaitingLanes,
} from './facts.ts'

/** Returns the troubles of the tracking APIs, and of the requests that they refuse. */
export function upstreamTroubles({ upstream, apis, backlog, lanes = [], missing = [], now }: Facts): Found[] {
  const ofAnswers = apis
    ? apis.flatMap((api) => answerTroubles(api, api.waiting, now).map((found) => ofApi(found, api)))
    : upstream
      ? answerTroubles(upstream, backlog?.fixes ?? 0, now)
      : []
  const all = apis ?? (upstream ? [upstream] : [])
  return [
    ...ofAnswers,
    ...all.flatMap(hangingLanes),
    ...refusedPositions(
      all.flatMap(({ refused }) => refused),
      now,
    ),
    ...(upstream?.tokensRefused ?? []).map(tokenRefused),
    ...groupsOf(lanes).map(refusedLanes),
    ...byCompany(missing).map(missingPositions),
  ]
}

/** Returns a finding about one of several APIs: its message begins with the name. */
function ofApi(found: Found, { companies, name }: ApiFacts): Found {
  const message = joined([name, found.message ?? say(CODES[found.code].message, '')], ': ')
  return { ...found, subject: { api: name }, companies, message }
}

/** Returns whether an error may concern the API as a whole: an answer about positions or a lane does not. */
function isAboutApi({ code, status = 0 }: UpstreamError = NO_ERROR): boolean {
  return code !== 'http' || status >= 500 || MAY_PASS.has(status)
}

/** Returns at most one trouble: the first that is true explains the others. */
function answerTroubles(upstream: UpstreamFacts, waiting: number, now: number): Found[] {
  const { answers, oldestMs, oldestTrace, since, state, url, usualMs = 0 } = upstream
  // An error from before the present state does not explain it; figures arrive a second later than states.
  const isOld = state !== 'up' && (upstream.lastError?.at ?? 0) < since - STATED_MS
  const lastError = isOld || !isAboutApi(upstream.lastError) ? undefined : upstream.lastError
  // A moment later it is known why.
  if (state === 'down' && !lastError && now - since < STATED_MS) return []
  const requests = say('{}: {} requests in flight', url, upstream.inFlight)
  const evidence = [...(lastError ? [errorText(lastError), ...traceTexts(lastError.trace)] : []), requests]
  const hangs = answers !== undefined && areMost(answers.unanswered)
  if (hangs || (state === 'down' && lastError?.code === 'timeout')) {
    const message = withWaiting(say('the tracking API takes requests and does not answer them'), waiting)
    const sinceAt = state === 'down' ? since : now - oldestMs
    const timedOut = lastError?.code === 'timeout' ? evidence : [requests, ...traceTexts(oldestTrace)]
    return [{ code: 'upstream_hanging', count: waiting, sinceAt, message, evidence: timedOut }]
  }
  if (state === 'down' && lastError?.code === 'not_the_api') return [notTheApi(upstream, lastError, waiting)]
  if (state === 'down') {
    const { does, action } = meaningOf(lastError)
    return [
      {
        code: 'upstream_down',
        count: waiting,
        sinceAt: since,
        message: withWaiting(say('the tracking API {}', does), waiting),
        ...(action && { action: say(action) }),
        evidence,
      },
    ]
  }
  if (state === 'limited') return [{ code: 'upstream_limited', count: waiting, sinceAt: since, evidence }]
  if (answers === undefined || !areMost(answers.slow)) return []
  const seconds = Math.round(Math.max(usualMs, answers.slow.leastMs) / 100) / 10
  const message = say('the tracking API takes {} s for a request: positions arrive late', seconds)
  return [{ code: 'upstream_slow', count: waiting, message, evidence: [requests] }]
}

/**
 * Returns whether these are most lanes: nearly all of those answered since, or half of all known ones. A single lane tells
 * nothing about the API if there are others.
 */
function areMost({ count, known, others }: WaitingLanes): boolean {
  if (count <= 1) return count === 1 && known <= 1
  const areNearlyAll = count >= FEW && others * EXCEPTIONS <= count
  return areNearlyAll || (count > others && count * 2 > known)
}

/** Lanes that get no answer while others do. */
function hangingLanes({ answers, state }: UpstreamFacts): Found[] {
  if (!answers || state !== 'up' || areMost(answers.unanswered)) return []
  const hanging = answers.unanswered.named.filter(({ others }) => others > 0)
  return byCompany(hanging).flatMap(({ company_id, lanes }): Found[] => {
    if (lanes.length <= FEW)
      return lanes.map(({ lane, since, waiting, others }) => {
        const { courier_id, route_id } = laneIds(lane)
        return {
          code: 'lane_hanging',
          subject: { company_id, courier_id, route_id },
          count: 1,
          sinceAt: since,
          message: say(
            'the tracking API does not answer courier {} on route {}, and answers others',
            courier_id,
            route_id,
          ),
          evidence: [
            say(
              'no answer since {}: {}',
              new Date(since).toISOString(),
              counted(waiting, '{} position waits', '{} positions wait'),
            ),
            say('other lanes answered since: at least {}', others),
          ],
        }
      })
    return [
      {
        code: 'lane_hanging',
        subject: { company_id },
        count: lanes.length,
        sinceAt: Math.min(...lanes.map(({ since }) => since)),
        message: say(
          'the tracking API does not answer {} lanes of company {}, and answers others',
          lanes.length,
          company_id,
        ),
        evidence: lanes.map(({ lane }) => laneText(lane)),
      },
    ]
  })
}

function byCompany<Lane extends { readonly lane: string }>(lanes: readonly Lane[]) {
  const groups = Map.groupBy(lanes, ({ lane }) => companyOfLane(lane))
  return Array.from(groups, ([company_id, some]) => ({ company_id, lanes: some }))
}

function notTheApi({ since, url }: UpstreamFacts, error: UpstreamError, waiting: number): Found {
  const { at, content_type, location, message, operation, status } = error
  const what = [status, content_type].filter(Boolean).join(' ')
  return {
    code: 'not_the_api',
    count: waiting,
    sinceAt: since,
    message: withWaiting(say('what answers at {} is not the tracking API', url), waiting),
    evidence: [
      say('{}: {}, last at {}', operation, what, new Date(at).toISOString()),
      ...traceTexts(error.trace),
      ...(location === undefined ? [] : [say('it redirects to: {}', location)]),
      ...(message === undefined ? [] : [say('it begins with: {}', message)]),
    ],
  }
}

/** Returns the identifiers by which the API can look a request up. */
function traceTexts(trace: RequestNames | undefined): Text[] {
  return trace ? [say('x-request-id {}, traceparent {}', trace.requestId, trace.traceparent)] : []
}

/** One finding for each lane; one for each company that has more than a few. */
function refusedPositions(refused: readonly RefusedPositions[], now: number): Found[] {
  const recent = mergedLanes(refused.filter(({ at }) => now - at <= REFUSED_MS))
  return byCompany(recent).flatMap(({ company_id, lanes }): Found[] => {
    if (lanes.length <= FEW)
      return lanes.map(({ lane, message, positions, status, trace }) => ({
        code: 'positions_refused',
        subject: laneIds(lane),
        count: positions,
        message: say(
          'the tracking API refuses positions of courier {} on route {}: they are parked',
          laneIds(lane).courier_id,
          laneIds(lane).route_id,
        ),
        evidence: [`${status} ${message}`.trim(), ...traceTexts(trace)],
      }))
    const count = lanes.reduce((sum, { positions }) => sum + positions, 0)
    const evidence = lanes.map(({ lane, message, status }) =>
      joined([laneText(lane), `${status} ${message}`.trim()], ': '),
    )
    return [{ code: 'positions_refused', subject: { company_id }, count, evidence }]
  })
}

/** Combines the reports of several workers about a lane; the last answer counts. */
function mergedLanes(refused: readonly RefusedPositions[]): RefusedPositions[] {
  return [...Map.groupBy(refused, ({ lane }) => lane).values()].map((same) => {
    const [last] = same.toSorted((a, b) => b.at - a.at)
    return { ...last, positions: same.reduce((sum, { positions }) => sum + positions, 0) }
  })
}

function tokenRefused(company_id: string): Found {
  const message = say(
    'the tracking API refuses the OAuth token of company {}: orders and numbers are not relayed',
    company_id,
  )
  return { code: 'token_refused', subject: { company_id }, message }
}

function missingPositions({
  company_id,
  lanes: windows,
}: ReturnType<typeof byCompany<MissingPositions>>[number]): Found {
  const lanes = [...Map.groupBy(windows, ({ lane }) => lane)]
    .map(([lane, own]) => ({
      lane,
      missing: sumOf(own, 'missing'),
      checked: sumOf(own, 'checked'),
      repaired: sumOf(own, 'repaired'),
      firstAt: Math.min(...own.map(({ firstAt }) => firstAt)),
      lastAt: Math.max(...own.map(({ lastAt }) => lastAt)),
    }))
    .toSorted((one, other) => other.missing - one.missing)
  const count = sumOf(lanes, 'missing')
  return {
    code: 'missing_at_api',
    subject: { company_id },
    count,
    sinceAt: Math.min(...windows.map(({ at }) => at)),
    message: say(
      'the tracking API does not have {} of company {} that it took, on {}',
      counted(count, '{} position', '{} positions'),
      company_id,
      counted(lanes.length, '{} route', '{} routes'),
    ),
    evidence: lanes.map(({ checked, firstAt, lane, lastAt, missing, repaired }) => {
      const [first, last] = [firstAt, lastAt].map((at) => new Date(at).toISOString())
      const what = say('{} of {} compared, from {} to {}', missing, checked, first, last)
      const again = repaired > 0 ? [say('{} of these pushed once more, or queued for that', repaired)] : []
      return joined([laneText(lane), joined([what, ...again], '; ')], ': ')
    }),
  }
}

function sumOf<Name extends string>(some: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return some.reduce((sum, each) => sum + each[name], 0)
}

/** Why the tracking API refuses a lane whole. */
export interface LaneRefusal {
  readonly code: LaneCause
  readonly company: string
  /** The company has no apikey: nothing was sent. */
  readonly isMissing: boolean
  /** ms UTC. */
  readonly since: number
  readonly action: Text
}

/** The refusal of each lane that is parked whole, by the name of the lane. */
export function laneRefusals(answers: readonly RefusedLanes[] = []): Map<string, LaneRefusal> {
  const refusals = new Map<string, LaneRefusal>()
  for (const answer of answers) {
    const code = causeOf(answer)
    if (!code) continue
    const { company, lanes, since, status } = answer
    const refusal = { code, company, isMissing: status === 0, since, action: say(CODES[code].action) }
    for (const lane of lanes) refusals.set(lane, refusal)
  }
  return refusals
}

/** Groups the lanes of a company by cause, even if the answers were different. */
function groupsOf(lanes: readonly RefusedLanes[]): { code: LaneCause; answers: RefusedLanes[] }[] {
  const causes = lanes.flatMap((answer) => {
    const code = causeOf(answer)
    return code ? [{ code, answer }] : []
  })
  return [...Map.groupBy(causes, ({ code, answer }) => `${code} ${answer.company}`).values()].map((same) => ({
    code: same[0].code,
    answers: same.map(({ answer }) => answer),
  }))
}

/**
 * Returns the cause of 401 and 403: the apikey is refused, unless it is accepted for other lanes and these lanes are refused
 * again after that. In between the cause is unknown: the key may be accepted again, and these lanes may not have been tried
 * yet.
 */
function causeOf({ acceptedAt = 0, acceptedBefore = 0, since, status }: RefusedLanes): LaneCause | undefined {
  if (status === 401 || status === 0) return 'apikey_refused'
  if (status !== 403 || acceptedBefore >= since) return 'lane_refused'
  return acceptedAt < since ? 'apikey_refused' : undefined
}

function refusedLanes({ code, answers }: ReturnType<typeof groupsOf>[number]): Found {
  const [{ company }] = answers
  const lanes = answers.flatMap((answer) => answer.lanes)
  const isOfPositions = code === 'lane_refused' && !answers.some(({ status }) => OF_LANE.has(status))
  const number = counted(lanes.length, '{} lane', '{} lanes')
  const statuses = answers.map(({ status }) => status).join(', ')
  const said = answers.flatMap(({ message, status }) => (message === '' ? [] : `${status || ''} ${message}`.trim()))
  return {
    code,
    subject: { company_id: company },
    count: lanes.length,
    sinceAt: Math.min(...answers.map(({ since }) => since)),
    message:
      code === 'lane_refused'
        ? say('the tracking API refuses {} of company {} ({})', number, company, statuses)
        : statuses === '0'
          ? say('company {} has no apikey: {} parked', company, number)
          : say('the tracking API refuses the apikey of company {} ({}): {} parked', company, statuses, number),
    evidence: [...said, ...traceTexts(answers[0].trace), ...lanes.slice(0, LANES_NAMED).map(laneText)],
    ...(isOfPositions && { action: say(OF_POSITIONS) }),
  }
}

function laneText(lane: string): Text {
  const { courier_id, route_id } = laneIds(lane)
  return say('courier {}, route {}', courier_id, route_id)
}

function errorText({ at, code, message = '', operation, status }: UpstreamError): Text {
  const words = WORDS.get(code)
  const failed = words ? say(words) : say('the connection failed ({})', code)
  const what = status === undefined ? failed : `${status} ${message}`.trim()
  return say('{}: {}, last at {}', operation, what, new Date(at).toISOString())
}

/** Returns the behaviour of the API, and the action if there is a more specific one. */
function meaningOf(error: UpstreamError | undefined): { readonly does: Text; readonly action?: Template } {
  if (!error) return { does: say('is down') }
  const { code, status } = error
  if (status !== undefined) return { does: say('answers {}', status) }
  return { does: say(faultWords(code)), action: ACTIONS.get(code) }
}

function withWaiting(message: Text, fixes: number): Text {
  return fixes === 0 ? message : joined([message, counted(fixes, '{} position waits', '{} positions wait')], ': ')
}

type LaneCause = 'apikey_refused' | 'lane_refused'

/** Returns what a server does, for a failed request: `refuses connections`. `fault`: see src/tracking/exchange.ts. */
export function faultWords(fault: string): Template {
  return WORDS.get(fault) ?? 'cannot be reached'
}

const WORDS = new Map<string, Template>([
  ['refused', 'refuses connections'],
  ['reset', 'cuts connections'],
  ['timeout', 'does not answer in time'],
  ['dns', 'cannot be found: its host name does not exist'],
  ['unreachable', 'cannot be reached'],
  ['tls', 'has a certificate that is not accepted'],
  ['authority', 'has a certificate of an authority that is not trusted'],
  ['needs_tls', 'speaks HTTPS, and is asked without'],
  ['no_tls', 'does not speak HTTPS at that port'],
  ['malformed', 'sends what is no HTTP'],
  ['proxy', 'cannot be reached through the proxy'],
])
const ACTIONS = new Map<string, Template>([
  ['dns', 'correct tracking.base_url (or push_url), or the DNS of this machine'],
  ['unreachable', 'check the network and the firewall between this machine and the API'],
  ['tls', 'renew the certificate of the API, or correct tracking.base_url'],
  [
    'authority',
    'if the authority is your own, name its certificate in tracking.tls.ca (gateway.yaml); otherwise have the API send its whole chain, or correct tracking.base_url',
  ],
  ['proxy', 'check the proxy of the API (tracking.proxy in gateway.yaml): waybridge check --live says what it answers'],
  ['needs_tls', 'write https:// in tracking.base_url (or push_url)'],
  ['no_tls', 'correct tracking.base_url (or push_url): its port, or http:// in place of https://'],
])
/** Answers about the courier, the route or the company. */
const OF_LANE = new Set([403, 404, 410])
const OF_POSITIONS: Template =
  'correct what its answer names: it does not say that the courier or the route is wrong; then retry: waybridge parked retry'
/** A worker notes the state right after the error, and its figures once a second. */
const STATED_MS = 2000
/** If a position was refused within this time, its cause still holds. */
const REFUSED_MS = 10_000
/** One of so many is an exception. */
const EXCEPTIONS = 10
const NO_ERROR: UpstreamError = { at: 0, code: 'http', operation: '' }
/** Answers other than 5xx that concern the API. */
const MAY_PASS = new Set([408, 425, 429])
const LANES_NAMED = 3
/** More lanes of a company with the same trouble are one finding. */
const FEW = 5
