import type { Company } from '../config/schema.ts'
import type { Link } from '../diagnose/codes.ts'
import { linkStates } from '../diagnose/diagnose.ts'
import type { UpstreamError } from '../diagnose/facts.ts'
import { type Flow, verdict } from '../diagnose/order.ts'
import { plainly } from '../diagnose/plain.ts'
import { areProcessesKnown } from '../diagnose/system.ts'
import {
  BEHIND_MS,
  countHeldFixes,
  custodyCounters,
  type RedisPrimary,
  type SeenProcess,
  type Store,
  type TrialAccount,
} from '../store/index.ts'
import type { WithTexts } from '../texts/language.ts'
import type { CopyCollector } from './copies.ts'
import type { FixAccount } from './custody.ts'
import { type ApiState, type Upstream, worstOf } from './api-states.ts'
import type { FactGatherer } from './facts.ts'
import { type Findings, findingJson } from './findings.ts'
import type { FlowHour } from './flow-hour.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { StatusJson } from './schemas/status.ts'
import type { Scope } from './scope.ts'

export interface StatusSources {
  /** The account of all fixes: the last one while Redis does not answer, undefined if there is none yet. */
  readonly account: () => Promise<FixAccount | undefined>
  readonly apis: () => Promise<readonly ApiState[]>
  readonly findings: Pick<Findings, 'current' | 'facts'>
  readonly gatherer: Pick<FactGatherer, 'gateways' | 'primaries' | 'processes' | 'pushes' | 'pushesTo'>
  readonly rates: () => Rates
  readonly hour: Pick<FlowHour, 'of'>
  readonly copies?: Pick<CopyCollector, 'json'>
  readonly companies: () => readonly Pick<Company, 'company_id' | 'name'>[]
  /** Returns the number of configured devices in each condition. */
  readonly vans: (scope: Scope) => StatusJson['vans']
  /** Returns how many of them should send but are not heard. */
  readonly overdue: (scope: Scope) => number
  /** Ids of companies whose OAuth token the tracking API refuses. */
  readonly tokensRefused: () => string[]
  /** The account of the trials; undefined while none runs. */
  readonly trial: () => Promise<TrialAccount | undefined>
  /** The time zone of times that are given without an offset. */
  readonly zone: () => string
}

/** `GET /admin/status`: `oldest_at` is absent if nothing waits, `drained_at` if no backlog shrinks. */
export function statusOperations(sources: StatusSources): Operation[] {
  const summary = 'Get the verdict, what is wrong, the seven links, and where all fixes are'
  const handle: Operation['handle'] = (_request, _reply, scope) => statusJson(sources, scope)
  return [
    {
      method: 'GET',
      path: '/admin/status',
      id: 'getStatus',
      summary,
      answer: StatusJson,
      companies: 'filtered',
      handle,
    },
  ]
}

/** The answer of `GET /admin/status`. */
export async function statusJson(sources: StatusSources, scope: Scope): Promise<WithTexts<StatusJson>> {
  const { account, apis, companies, findings, hour, overdue, tokensRefused, trial, vans, zone } = sources
  const [taken, noted, tried] = await Promise.all([account(), apis(), trial()])
  const all = noted.map((each) => asFound(each, findings.current))
  const seen = scope.isAll ? all : all.filter((each) => each.companies.some((id) => scope.sees(id)))
  const api: Upstream = worstOf(seen) ?? { state: 'up', since: Date.now() }
  const { waiting, parked, held } = taken?.storedFor(scope) ?? {}
  const found = scope.findings(findings.current)
  const whole = scope.isAll && taken ? wholeSystem(sources, taken, api) : undefined
  const counts = { ...vans(scope), overdue: overdue(scope) }
  const isEarly = !findings.facts || !areProcessesKnown(findings.facts)
  const known = { flows: whole?.flows, vans: counts, isEarly }
  return {
    verdict: verdict(found, known),
    plain_verdict: verdict(
      found.map((finding) => ({ ...finding, message: plainly(finding.message) })),
      known,
    ),
    findings: found.map(findingJson),
    links: linkStates(found, known).map(({ link, perS: per_s, findings: codes, ...rest }) => {
      return { link, ...rest, per_s, hour: whole && hour.of(link), findings: [...codes] }
    }),
    waiting: waiting && { fixes: waiting.fixes, lanes: waiting.lanes, oldest_at: instant(waiting.oldestAt) },
    parked,
    held,
    ...whole?.figures,
    upstream: {
      state: api.state,
      since_at: instant(api.since) ?? '',
      token_refused: tokensRefused().filter((company) => scope.sees(company)),
      ...whole?.upstream,
    },
    apis: seen.map((each) => apiJson(each, sources, scope)),
    companies: companies()
      .filter(({ company_id }) => scope.sees(company_id))
      .map(({ company_id, name }) => ({ company_id, name })),
    trial: scope.isAll ? tried : undefined,
    on_trial: tried && true,
    vans: vans(scope),
    time_zone: zone(),
  }
}

/** A tracking API that takes requests and does not answer them is not up, although its workers have noted no failure yet. */
function asFound(api: ApiState, findings: Findings['current']): ApiState {
  const hanging = findings.find(({ code, subject }) => {
    return code === 'upstream_hanging' && (subject.api ?? api.name) === api.name
  })
  return hanging && api.state === 'up' ? { ...api, state: 'down', since: hanging.sinceAt } : api
}

/** Parts of a status that concern the whole system, not single companies. */
function wholeSystem({ copies, findings, gatherer, rates }: StatusSources, taken: FixAccount, api: Upstream) {
  const now = Date.now()
  const perS = rates()
  return {
    flows: flowsOf(taken, perS, gatherer.gateways),
    figures: {
      rates: { received_per_s: perS.received, delivered_per_s: perS.delivered },
      custody: taken.custody,
      copies: copies?.json(findings.current),
      processes: gatherer.processes.map((process) => processJson(process, now)),
      redis: gatherer.primaries.length > 0 ? gatherer.primaries.map(primaryJson) : undefined,
    },
    upstream: {
      drained_at: instant(drainedAt({ waiting: taken.waiting, upstream: api, rates: perS, now })),
      ...pushesJson(gatherer.pushes),
    },
  }
}

function pushesJson({ lastError, inFlight, slowestMs }: FactGatherer['pushes']) {
  return {
    last_error: lastError && errorJson(lastError),
    in_flight: inFlight,
    slowest_ms: Math.round(slowestMs),
  }
}

function errorJson({ at, trace, ...error }: UpstreamError) {
  return { ...error, at: instant(at) ?? '', request_id: trace?.requestId }
}

/** One of the tracking APIs, with those of its companies that are seen. */
function apiJson(api: ApiState, { gatherer }: StatusSources, scope: Scope): StatusJson['apis'][number] {
  const { companies, name, since, state } = api
  return {
    api: name,
    state,
    since_at: instant(since) ?? '',
    companies: companies.filter((company) => scope.sees(company)),
    ...(scope.isAll && pushesJson(gatherer.pushesTo(api))),
  }
}

/** Numbers of fixes by link: since the account began, and in the last ten seconds. */
function flowsOf(
  { custody: { received, filtered, held, delivered } }: FixAccount,
  rates: Rates,
  gateways: FactGatherer['gateways'],
): Record<Link, Flow> {
  const perS = linkRates(rates, gateways)
  const placed = received - filtered - held
  return {
    connected: { count: gateways.connections, perS: perS.connected },
    understood: { count: gateways.frames, perS: perS.understood },
    identified: { count: received, perS: perS.identified },
    placed: { count: placed, perS: perS.placed },
    stored: { count: placed, perS: perS.stored },
    pushed: { count: delivered, perS: perS.pushed },
    accepted: { count: delivered, perS: perS.accepted },
  }
}

/** How much passes each link a second, over the last ten seconds. */
export function linkRates(
  { received, placed, delivered }: Rates,
  { framesPerS }: Pick<FactGatherer['gateways'], 'framesPerS'>,
): Record<Link, number> {
  return {
    connected: framesPerS,
    understood: framesPerS,
    identified: received,
    placed,
    stored: placed,
    pushed: delivered,
    accepted: delivered,
  }
}

function processJson({ role, pid, host, sinceAt, restarts = 0, ageMs }: SeenProcess, now: number) {
  const [since_at = '', last_seen_at = ''] = [sinceAt, now - ageMs].map(instant)
  return { role, pid, host, since_at, restarts, last_seen_at }
}

function primaryJson({ address, shards, replicas }: RedisPrimary) {
  const known = replicas.map(({ host, port, state, lagS: lag_s, lagBytes: lag_bytes }) => {
    return { address: `${host}:${port}`, state, lag_s, lag_bytes }
  })
  return { address, shards: [...shards], replicas: known }
}

type Backlog = Pick<FixAccount, 'waiting'> & {
  readonly upstream: Upstream
  readonly rates: Rates
  readonly now: number
}

/**
 * Returns when the backlog will be delivered at the present rates, ms UTC; undefined if no lane is behind or the backlog
 * grows.
 */
export function drainedAt({ waiting, upstream, rates, now }: Backlog): number | undefined {
  const { fixes, oldestAt = now } = waiting
  const drainPerS = rates.delivered - rates.received
  if (upstream.state !== 'up' || now - oldestAt <= BEHIND_MS || drainPerS <= 0) return undefined
  return now + (fixes / drainPerS) * 1000
}

/** Fixes per second over the last ten seconds, to a tenth; `placed`: neither filtered nor held. */
export type Rates = Readonly<Record<'received' | 'placed' | 'delivered', number>>

/** Computes the rates of the counters. They are 0 before the second look, and while Redis does not answer. */
export class RateCollector {
  readonly #redis: Store
  #samples: RateSample[] = []

  constructor(redis: Store) {
    this.#redis = redis
  }

  now(): Rates {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    const rate = (counter: keyof Rates) => rateOf(counter, first, last)
    return { received: rate('received'), placed: rate('placed'), delivered: rate('delivered') }
  }

  /** Call it once a second. */
  async look(): Promise<void> {
    const reading = [custodyCounters(this.#redis), countHeldFixes(this.#redis)] as const
    const read = await Promise.all(reading).catch(() => undefined)
    if (!read) return void (this.#samples = [])
    const [counters, held] = read
    const [received = 0, delivered = 0] = [counters.get('received'), counters.get('delivered')]
    const filtered = [...counters].filter(([name]) => name.startsWith('filtered:'))
    const placed = filtered.reduce((sum, [, count]) => sum - count, received - held)
    const last = this.#samples.at(-1)
    // Counters that fall: somebody emptied Redis.
    if (last && (received < last.received || delivered < last.delivered)) this.#samples = []
    this.#samples = [...this.#samples, { at: performance.now(), received, placed, delivered }].slice(-SAMPLES)
  }
}

/** `at`: ms of the process' monotonic clock. */
type RateSample = Rates & { readonly at: number }

function rateOf(counter: keyof Rates, first?: RateSample, last?: RateSample): number {
  if (!first || !last || first === last) return 0
  return Math.max(0, Math.round(((last[counter] - first[counter]) / (last.at - first.at)) * 10_000) / 10)
}

/** One sample a second: the first and the last are ten seconds apart. */
const SAMPLES = 11
