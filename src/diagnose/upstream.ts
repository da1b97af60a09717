import { counted, joined, say, type Template, type Text } from '../texts/text.ts'
import { CODES } from './codes.ts'
import type { Facts, Found, RefusedLanes, UpstreamError, UpstreamFacts } from './facts.ts'

/** What is wrong with the tracking API, or what it says is wrong with what we send. */
export function upstreamTroubles({ upstream, backlog, lanes = [], now }: Facts): Found[] {
  const waiting = backlog?.fixes ?? 0
  return [
    ...(upstream ? [...answerTroubles(upstream, waiting, now), ...refusedPositions(upstream, now)] : []),
    ...(upstream?.tokensRefused ?? []).map(tokenRefused),
    ...groupsOf(lanes).map(refusedLanes),
  ]
}

/** At most one: the first that is true explains the others. */
function answerTroubles(upstream: UpstreamFacts, waiting: number, now: number): Found[] {
  const { answeredAt = 0, oldestMs, since, state, url, usualMs = 0 } = upstream
  // An error from before the present state does not explain it; figures arrive a second later than states.
  const isOld = state !== 'up' && (upstream.lastError?.at ?? 0) < since - STATED_MS
  const lastError = isOld ? undefined : upstream.lastError
  // A moment later it is known why.
  if (state === 'down' && !lastError && now - since < STATED_MS) return []
  const evidence = [
    ...(lastError ? [errorText(lastError)] : []),
    say('{}: {} requests in flight', url, upstream.inFlight),
  ]
  const hangs = oldestMs >= HANGING_MS && answeredAt < now - HANGING_MS
  if (hangs || (state === 'down' && lastError?.code === 'timeout')) {
    const message = withWaiting(say('the tracking API takes requests and does not answer them'), waiting)
    const sinceAt = state === 'down' ? since : now - oldestMs
    return [{ code: 'upstream_hanging', count: waiting, sinceAt, message, evidence }]
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
  if (Math.max(usualMs, oldestMs) < SLOW_MS) return []
  const seconds = (Math.max(usualMs, oldestMs) / 1000).toFixed(1)
  const message = say('the tracking API takes {} s for a request: positions arrive late', seconds)
  return [{ code: 'upstream_slow', count: waiting, message, evidence }]
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
      ...(location === undefined ? [] : [say('it redirects to: {}', location)]),
      ...(message === undefined ? [] : [say('it begins with: {}', message)]),
    ],
  }
}

function refusedPositions({ refused: { at, message = '', positions, status } }: UpstreamFacts, now: number): Found[] {
  if (at === undefined || now - at > REFUSED_MS) return []
  return [{ code: 'positions_refused', count: positions, evidence: [`${status} ${message}`.trim()] }]
}

function tokenRefused(company_id: string): Found {
  const message = say(
    'the tracking API refuses the OAuth token of company {}: orders and numbers are not relayed',
    company_id,
  )
  return { code: 'token_refused', subject: { company_id }, message }
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

/** The lanes of a company that have the same cause, even if the answers were different. */
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
 * 401 and 403 mean that the apikey is refused, unless it is accepted for other lanes and these lanes are refused again
 * after that. In between the cause is not known: the key may be accepted again, and these lanes may not have been tried
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
    evidence: [...said, ...lanes.slice(0, LANES_NAMED).map(laneText)],
  }
}

function laneText(lane: string): Text {
  const [, courier, route] = lane.split('/')
  return say('courier {}, route {}', courier, route)
}

function errorText({ at, code, message = '', operation, status }: UpstreamError): Text {
  const words = WORDS.get(code)
  const failed = words ? say(words) : say('the connection failed ({})', code)
  const what = status === undefined ? failed : `${status} ${message}`.trim()
  return say('{}: {}, last at {}', operation, what, new Date(at).toISOString())
}

/** What the API does, and what to do about it where that is known better than in general. */
function meaningOf(error: UpstreamError | undefined): { readonly does: Text; readonly action?: Template } {
  if (!error) return { does: say('is down') }
  const { code, status } = error
  if (status !== undefined) return { does: say('answers {}', status) }
  return { does: say(WORDS.get(code) ?? 'cannot be reached'), action: ACTIONS.get(code) }
}

function withWaiting(message: Text, fixes: number): Text {
  return fixes === 0 ? message : joined([message, counted(fixes, '{} position waits', '{} positions wait')], ': ')
}

type LaneCause = 'apikey_refused' | 'lane_refused'

const WORDS = new Map<string, Template>([
  ['refused', 'refuses connections'],
  ['reset', 'cuts connections'],
  ['timeout', 'does not answer in time'],
  ['dns', 'cannot be found: its host name does not exist'],
  ['unreachable', 'cannot be reached'],
  ['tls', 'has a certificate that is not accepted'],
])
const ACTIONS = new Map<string, Template>([
  ['dns', 'correct tracking.base_url (or push_url), or the DNS of this machine'],
  ['unreachable', 'check the network and the firewall between this machine and the API'],
  ['tls', 'renew the certificate of the API, or correct tracking.base_url'],
])
const HANGING_MS = 15_000
/** A worker notes the state right after the error, and its figures once a second. */
const STATED_MS = 2000
const SLOW_MS = 5000
/** If a position was refused within this time, its cause still holds. */
const REFUSED_MS = 10_000
const LANES_NAMED = 4
