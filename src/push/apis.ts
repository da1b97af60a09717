import pLimit, { type LimitFunction } from 'p-limit'
import { companyOfLane } from '../domain/ids.ts'
import type { LaneApis } from '../store/index.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { type PushFigures, PushStatistics } from './figures.ts'
import { Rate } from './rate.ts'

/** How many requests an API gets from all workers together. */
export interface ApiBounds {
  readonly concurrency: number
  /** null: no bound. */
  readonly max_requests_per_s: number | null
}

/** The tracking API of a company. Companies with the same id share the API: its state, its rate and its slots. */
export interface CompanyApi extends ApiBounds {
  /** '' for the usual API. */
  readonly id: string
  readonly client: Pick<TrackingClient, 'push'>
}

/** The figures of one API other than the usual one. */
export interface ApiFigures extends PushFigures {
  readonly id: string
}

/** One API, as this worker pushes to it: a slow one takes the slots of no other. */
export class PushApi {
  readonly id: string
  readonly limit: LimitFunction
  readonly statistics: PushStatistics
  rate: Rate | null = null
  /** Tickets with its lanes that this process works on. */
  tickets = 0
  #bounds: ApiBounds

  constructor(id: string, bounds: ApiBounds, statistics: PushStatistics) {
    this.id = id
    this.statistics = statistics
    this.#bounds = bounds
    this.limit = pLimit(bounds.concurrency)
  }

  /** Sets these bounds; this worker gets its share among `workers`. */
  share(workers: number, bounds = this.#bounds): void {
    this.#bounds = bounds
    const { concurrency, max_requests_per_s: perSecond } = bounds
    this.limit.concurrency = Math.max(1, Math.floor(concurrency / workers))
    if (perSecond === null) this.rate = null
    else if (this.rate) this.rate.perSecond = perSecond / workers
    else this.rate = new Rate(perSecond / workers)
  }

  /** Whether this process takes more lanes of it. The process must renew the leases of all that it has. */
  get hasRoom(): boolean {
    const lanes = this.limit.activeCount + this.limit.pendingCount
    return this.tickets < MOST_TICKETS && lanes < MOST_LANES
  }

  /** Lets all lanes that wait for a slot continue, because no company pushes to this API any more. */
  release(): void {
    this.limit.concurrency = Number.POSITIVE_INFINITY
  }
}

interface ReplacedApis {
  readonly ids: readonly string[]
  readonly moved: ReadonlySet<string>
}

interface PushApisOptions {
  readonly client: Pick<TrackingClient, 'push'>
  readonly push: ApiBounds
  readonly days: ConstructorParameters<typeof PushStatistics>[0]
}

/** All APIs that this worker pushes to: the usual one, and those of companies. */
export class PushApis {
  readonly #options: PushApisOptions
  readonly #usual: PushApi
  readonly #apis = new Map<string, PushApi>()
  #companies: ReadonlyMap<string, CompanyApi> = new Map()
  #elsewhere: ReadonlyMap<string, string> = new Map()
  #workers = 1

  constructor(options: PushApisOptions, companies: ReadonlyMap<string, CompanyApi>) {
    this.#options = options
    this.#usual = this.#api('', options.push)
    this.replace(companies)
  }

  /** The usual one first. */
  get all(): readonly PushApi[] {
    return [...this.#apis.values()]
  }

  readonly ids = (): readonly string[] => [...this.#apis.keys()]

  /** The API of the company of a lane, and what asks it. */
  of(lane: string): { readonly api: PushApi; readonly client: CompanyApi['client'] } {
    const { id = '', client = this.#options.client } = this.#companies.get(companyOfLane(lane)) ?? {}
    return { api: this.#apis.get(id) ?? this.#usual, client }
  }

  /** Shares the bounds of each API with so many workers. */
  share(workers: number): void {
    this.#workers = workers
    for (const api of this.#apis.values()) api.share(workers)
  }

  /** Sets the APIs of the companies. Returns the ids of the earlier APIs, and the companies whose API has changed. */
  replace(companies: ReadonlyMap<string, CompanyApi>): ReplacedApis {
    const ids = this.ids()
    const earlier = this.#companies
    const isMoved = (company: string) => {
      const [one, other] = [earlier.get(company), companies.get(company)]
      return one?.id !== other?.id || one?.client !== other?.client
    }
    const moved = new Set([...earlier.keys(), ...companies.keys()].filter(isMoved))
    this.#companies = companies
    this.#elsewhere = new Map(
      Array.from(companies, ([company, { id }]) => [company, id] as const).filter(([, id]) => id),
    )
    for (const { id, ...bounds } of companies.values())
      if (id !== '') this.#api(id, bounds).share(this.#workers, bounds)
    const used = new Set(this.#elsewhere.values())
    for (const [id, api] of this.#apis)
      if (id !== '' && !used.has(id)) {
        this.#apis.delete(id)
        api.release()
      }
    return { ids, moved }
  }

  /** Returns the APIs, and the companies of those that are not the usual one; undefined: there is only the usual one. */
  readonly lanes = (): LaneApis | undefined => {
    if (this.#apis.size === 1) return undefined
    const apis = Array.from(this.#apis.values(), ({ id, hasRoom }) => [id, hasRoom] as const)
    return { apis, companies: this.#elsewhere }
  }

  figures(): PushFigures & { readonly apis: readonly ApiFigures[] } {
    const others = this.all.filter((api) => api !== this.#usual)
    return {
      ...this.#usual.statistics.figures(),
      apis: others.map(({ id, statistics }) => ({ id, ...statistics.figures() })),
    }
  }

  #api(id: string, bounds: ApiBounds): PushApi {
    const known = this.#apis.get(id)
    if (known) return known
    const api = new PushApi(id, bounds, new PushStatistics(this.#options.days))
    this.#apis.set(id, api)
    api.share(this.#workers)
    return api
  }
}

/** The apikeys of each company. A keyring is never changed, only replaced. */
export type Keyring = ReadonlyMap<string, readonly string[]>

/** The apikeys of companies: of each, the one first that the API accepted last. */
export class Apikeys {
  #keys: Keyring

  constructor(configured: Keyring) {
    this.#keys = configured
  }

  of(company: string): readonly string[] {
    return this.#keys.get(company) ?? []
  }

  /** Replaces the keys of all companies. Returns the companies that have others now. */
  replace(configured: Keyring): ReadonlySet<string> {
    const hasOthers = (company: string) =>
      new Set(configured.get(company)).symmetricDifference(new Set(this.of(company))).size > 0
    const changed = new Set([...this.#keys.keys(), ...configured.keys()].filter(hasOthers))
    this.#keys = new Map(Array.from(configured, ([id, keys]) => [id, changed.has(id) ? keys : this.of(id)]))
    return changed
  }

  /** Puts a key first, unless it was replaced while the API was asked. */
  accepted(company: string, apikey: string): void {
    const keys = this.of(company)
    if (apikey !== keys[0] && keys.includes(apikey))
      this.#keys = new Map(this.#keys).set(company, [apikey, ...keys.filter((other) => other !== apikey)])
  }
}

/** Tickets of one API that a process works on at once: beyond it, its lanes stay where they are. */
export const MOST_TICKETS = 64
/** The most lanes of one API that a process leases, if there are several APIs. */
const MOST_LANES = 4096
