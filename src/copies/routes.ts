import type { Copy } from '../config/copies.ts'
import type { Company } from '../config/schema.ts'
import { type CompanyLogs, type CopyLog, type CopyPlace, logOf, otherLogOf } from '../store/index.ts'

/** The configured copies: each function returns the same object until it changes. */
export interface CopySettings {
  copies(): readonly Copy[]
  companies(): readonly Pick<Company, 'company_id'>[]
}

/** The logs that each copy gets. */
export function placesOf(settings: CopySettings): CopyPlace[] {
  const all = settings.companies().map(({ company_id }) => company_id)
  return settings.copies().flatMap(({ name, companies, without_route }) => {
    return (companies ?? all).map((company) => ({ copy: name, log: logOf(company, without_route) }))
  })
}

/** The logs that a copy gets. */
export function logsOfCopy(settings: CopySettings, copy: string): ReadonlySet<string> {
  return new Set(placesOf(settings).flatMap((place) => (place.copy === copy ? [place.log] : [])))
}

/** Whether a copy gets the fixes of a log: it gets it, or since `without_route` was changed, the other one of the company. */
export function isOfCopy(log: string, gets: ReadonlySet<string>): boolean {
  return gets.has(log) || gets.has(otherLogOf(log))
}

/** The logs that are sent to a copy now. What waits in the other log of a company from before `without_route` was changed comes first. */
export function logsToSend(copy: string, gets: ReadonlySet<string>, logs: readonly CopyLog[]): CopyLog[] {
  const own = logs.filter(({ cursors, log }) => cursors.has(copy) && isOfCopy(log, gets))
  const isWaiting = ({ cursors, fixes }: CopyLog) => (cursors.get(copy)?.fix ?? fixes) < fixes
  const earlier = new Set(own.flatMap((each) => (!gets.has(each.log) && isWaiting(each) ? [each.log] : [])))
  return own.filter(({ log }) => !earlier.has(otherLogOf(log)))
}

/** Returns the logs to which the fixes of a company are written. It follows the settings. */
export class CopyRoutes {
  readonly #settings: CopySettings
  #copies: readonly Copy[] = []
  #known = new Map<string, CompanyLogs | undefined>()

  constructor(settings: CopySettings) {
    this.#settings = settings
  }

  /** Undefined: no copy gets the fixes of the company. */
  readonly logsOf = (company: string): CompanyLogs | undefined => {
    const copies = this.#settings.copies()
    if (copies.length === 0) return undefined
    if (copies !== this.#copies) {
      this.#copies = copies
      this.#known = new Map()
    }
    if (!this.#known.has(company)) this.#known.set(company, logsFor(company, copies))
    return this.#known.get(company)
  }
}

function logsFor(company: string, copies: readonly Copy[]): CompanyLogs | undefined {
  const own = copies.filter(({ companies }) => companies === null || companies.includes(company))
  if (own.length === 0) return undefined
  const [routed, all] = [false, true].map((isWithoutRoute) => {
    return own.some((copy) => copy.without_route === isWithoutRoute) ? [logOf(company, isWithoutRoute)] : []
  })
  return {
    arriving: [...routed, ...all].join(' '),
    unassigned: all.join(' '),
    released: routed.join(' '),
    hasSaid: own.some(({ format }) => format === 'json'),
  }
}
