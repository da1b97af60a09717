import { laneIds } from '../domain/ids.ts'
import { counted, joined, say, type Template, type Text } from '../texts/text.ts'
import { CODES } from './codes.ts'
import type { ApiFacts, Facts, Found, UpstreamError, UpstreamFacts, WaitingLanes } from './facts.ts'
import { byCompany, FEW, laneText, traceTexts } from './lane-texts.ts'

/** Returns the troubles of the tracking APIs: how they answer, if they do. */
export function upstreamTroubles({ upstream, apis, backlog, now }: Facts): Found[] {
  const ofAnswers = apis
    ? apis.flatMap((api) => answerTroubles(api, api.waiting, now).map((found) => ofApi(found, api)))
    : upstream
      ? answerTroubles(upstream, backlog?.fixes ?? 0, now)
      : []
  const all = apis ?? (upstream ? [upstream] : [])
  return [...ofAnswers, ...all.flatMap(hangingLanes)]
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
  const inFlight = counted(upstream.inFlight, '{} request in flight', '{} requests in flight')
  // Without a worker it is not known where pushes go.
  const requests = joined(url === '' ? [inFlight] : [url, inFlight], ': ')
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
  ['handshake', 'does not complete a TLS handshake'],
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
    'handshake',
    'if the API asks for a client certificate, name it in tracking.tls (gateway.yaml), cert and key; otherwise tell who runs the API which versions of TLS it refuses: 1.2 and 1.3',
  ],
  [
    'authority',
    'if the authority is your own, name its certificate in tracking.tls.ca (gateway.yaml); otherwise have the API send its whole chain, or correct tracking.base_url',
  ],
  ['proxy', 'check the proxy of the API (tracking.proxy in gateway.yaml): waybridge check --live says what it answers'],
  ['needs_tls', 'write https:// in tracking.base_url (or push_url)'],
  ['no_tls', 'correct tracking.base_url (or push_url): its port, or http:// in place of https://'],
])
/** A worker notes the state right after the error, and its figures once a second. */
const STATED_MS = 2000
/** One of so many is an exception. */
const EXCEPTIONS = 10
const NO_ERROR: UpstreamError = { at: 0, code: 'http', operation: '' }
/** Answers other than 5xx that concern the API. */
const MAY_PASS = new Set([408, 425, 429])
