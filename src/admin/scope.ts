import { CODES, type FindingCode } from '../diagnose/codes.ts'
import type { Finding } from '../diagnose/facts.ts'
import { say } from '../texts/text.ts'

/**
 * What a caller may see and change: everything, or what belongs to some companies. Every function that shows or changes
 * something takes a scope; nothing else decides about access.
 */
export class Scope {
  /** null: all, and what belongs to no company as well. */
  readonly companies: ReadonlySet<string> | null
  /** Equal where the same is seen. */
  readonly key: string

  constructor(companies: Iterable<string> | null) {
    this.companies = companies && new Set(companies)
    this.key = this.companies ? [...this.companies].toSorted().join() : 'all'
  }

  get isAll(): boolean {
    return this.companies === null
  }

  /** Whether something is seen that belongs to a company; undefined: to none. */
  sees(company_id: string | undefined): boolean {
    return this.companies === null || (company_id !== undefined && this.companies.has(company_id))
  }

  /** Whether a lane is seen, by its name. */
  seesLane(lane: string): boolean {
    return this.sees(lane.slice(0, lane.indexOf('/')))
  }

  /** Whether something of these companies is seen: by a token for each of them; of no company, by a token for everything. */
  seesEach(company_ids: readonly string[]): boolean {
    return this.isAll || (company_ids.length > 0 && company_ids.every((id) => this.sees(id)))
  }

  /** The findings that are seen: those of the companies, and what keeps everybody's positions back, in general words alone. */
  findings<Found extends Finding>(all: readonly Found[]): readonly Found[] {
    if (this.isAll) return all
    return all.flatMap((finding) => {
      if (this.sees(finding.subject.company_id)) return finding
      return finding.companies?.every((id) => !this.sees(id)) ? [] : generally(finding)
    })
  }
}

/** The scope that sees and changes everything. */
export const EVERYTHING = new Scope(null)

/** A finding without evidence, numbers and names, which may be about other companies. */
function generally<Found extends Finding>(finding: Found): Found[] {
  const { code, subject } = finding
  const { api: _api, ...others } = subject
  if (!CONCERNS_ALL.has(code) || Object.values(others).some((value) => value !== undefined)) return []
  const { action, message } = CODES[code]
  return [{ ...finding, count: 1, evidence: [], message: say(message, ''), action: say(action) }]
}

/** What keeps the positions of all companies back, or delays them. */
const CONCERNS_ALL: ReadonlySet<FindingCode> = new Set<FindingCode>([
  ...(['no_gateway', 'no_worker', 'own_clock', 'not_stored', 'backlog'] as const),
  ...(['redis_down', 'redis_full', 'disk_full', 'parked_full'] as const),
  ...(['upstream_down', 'not_the_api', 'upstream_hanging', 'upstream_slow', 'upstream_limited'] as const),
])
