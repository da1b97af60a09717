import { laneIds } from '../domain/ids.ts'
import { counted, joined, say, type Template, type Text } from '../texts/text.ts'
import { CODES } from './codes.ts'
import type { Facts, Found, RefusedLanes, RefusedPositions } from './facts.ts'
import { byCompany, FEW, laneText, traceTexts } from './lane-texts.ts'

/** Returns the troubles of what the tracking APIs refuse: positions, tokens, and lanes whole. */
export function refusalTroubles({ upstream, apis, lanes = [], now }: Facts): Found[] {
  const all = apis ?? (upstream ? [upstream] : [])
  return [
    ...refusedPositions(
      all.flatMap(({ refused }) => refused),
      now,
    ),
    ...(upstream?.tokensRefused ?? []).map(tokenRefused),
    ...groupsOf(lanes).map(refusedLanes),
  ]
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

type LaneCause = 'apikey_refused' | 'lane_refused'

/** Answers about the courier, the route or the company. */
const OF_LANE = new Set([403, 404, 410])
const OF_POSITIONS: Template =
  'correct what its answer names: it does not say that the courier or the route is wrong; then retry: waybridge parked retry'
/** If a position was refused within this time, its cause still holds. */
const REFUSED_MS = 10_000
const LANES_NAMED = 3
