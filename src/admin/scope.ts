import { CODES, type FindingCode } from '../diagnose/codes.ts'
import type { Finding } from '../diagnose/facts.ts'
import { companyOfLane } from '../domain/ids.ts'
import { say, type Text } from '../texts/text.ts'

/**
 * What a caller may see and change: everything, or what belongs to some companies. Every function that shows or changes
 * something takes a scope; access is decided nowhere else.
 */
export class Scope {
  /** null: all, and what belongs to no company as well. */
  readonly companies: ReadonlySet<string> | null
  /** Equal for scopes that see the same. */
  readonly key: string

  constructor(companies: Iterable<string> | null) {
    this.companies = companies && new Set(companies)
    this.key = this.companies ? [...this.companies].toSorted().join() : 'all'
  }

  get isAll(): boolean {
    return this.companies === null
  }

  /** Returns whether an object of a company is visible; undefined: of no company. */
  sees(company_id: string | undefined): boolean {
    return this.companies === null || (company_id !== undefined && this.companies.has(company_id))
  }

  /** Whether a lane is seen, by its name. */
  seesLane(lane: string): boolean {
    return this.sees(companyOfLane(lane))
  }

  /**
   * Returns whether an object of these companies is visible: the scope must include each company; for an empty list,
   * everything.
   */
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
  // A sentence without a value names nothing, and may be about another cause than the usual one.
  const usual = isGeneral(finding.message) ? {} : { message: say(message, ''), action: say(action) }
  return [{ ...finding, count: 1, evidence: [], ...usual }]
}

function isGeneral(text: Text): boolean {
  return typeof text !== 'string' && text.values.length === 0
}

/** Findings about causes that hold back or delay the positions of all companies. */
const CONCERNS_ALL: ReadonlySet<FindingCode> = new Set<FindingCode>([
  ...(['no_gateway', 'no_worker', 'own_clock', 'not_stored', 'backlog', 'connections_full'] as const),
  ...(['redis_down', 'replicas_missing', 'redis_full', 'disk_full', 'parked_full'] as const),
  ...(['upstream_down', 'not_the_api', 'upstream_hanging', 'upstream_slow', 'upstream_limited'] as const),
])
