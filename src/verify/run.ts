import { setTimeout as sleep } from 'node:timers/promises'
import { companyOfLane } from '../domain/ids.ts'
import { readBackSince, type Store, WINDOW_MS } from '../store/index.ts'
import { say } from '../texts/text.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { missingFixes } from './compare.ts'
import { type DeliveredFix, deliveredIn, type RouteWindow, routesOfHour } from './delivered.ts'
import type { NotKnown, ReadBack } from './read-back.ts'
import { countUnknown, intervalToRead, type Judgement, judge, type Settlement } from './settle.ts'

/** What is to be compared. */
export interface Wanted {
  /** `7/1003`: company and route. */
  readonly isWanted: (route: string) => boolean
  /** The local day, ms UTC. */
  readonly day: { readonly from: number; readonly until: number }
  /** Whether missing fixes are pushed again. */
  readonly repair: boolean
  /** The `next` of an earlier run, at which it ended. */
  readonly from?: string
  /** Ends the run early; the remaining fixes are not compared. */
  readonly signal: AbortSignal
}

export interface RunSources {
  readonly redis: Store
  readonly companies: () => readonly { readonly company_id: string }[]
  /** The API of a company. */
  readonly tracking: (company_id: string) => Pick<TrackingClient, 'baseUrl'>
  readonly readBack: Pick<ReadBack, 'read'>
  readonly settlement: Settlement
  /** ms after which a delivered fix must be there. */
  readonly afterMs: number
  /** ms between the two reads of missing fixes; default: 30 s. */
  readonly pauseMs?: number
  /** About so many requests are made; default: 60. */
  readonly mostRequests?: number
}

export interface RunResult {
  readonly checked: number
  readonly missing: readonly DeliveredFix[]
  readonly repaired: number
  readonly unknown: readonly Unknown[]
  /** Fixes from then on are too new to be compared, ms UTC. */
  readonly until: number
  /** From where to go on. */
  readonly next?: string
  /** Why the run has left something out, or has ended early. */
  readonly stopped?: NotKnown
}

/** Fixes of a company that could not be compared with the API. */
export interface Unknown extends NotKnown {
  readonly company: string
  readonly fixes: number
}

/** The windows of a route and hour, and the fixes that the first read did not contain. */
interface DoubtfulWindows {
  readonly route: string
  readonly windows: readonly RouteWindow[]
  readonly suspects: ReadonlySet<DeliveredFix>
  /** By `performance.now()`. */
  readonly readAt: number
}

/**
 * Compares all fixes that were delivered on a day to some routes with the API's positions, with one request per route and
 * hour. Reads missing fixes again, a quarter of an hour at a time, once `after` and a pause have passed.
 */
export class VerifyRun {
  readonly #sources: RunSources
  readonly #wanted: Wanted
  readonly #beganAt: number
  readonly #doubtful: DoubtfulWindows[] = []
  readonly #unreadable = new Map<string, NotKnown>()
  readonly #unknown = new Map<string, Unknown>()
  readonly #missing: DeliveredFix[] = []
  #requests = 0
  #checked = 0
  #repaired = 0
  /** Why an API has not answered in this run, by API. */
  readonly #unanswered = new Map<object, NotKnown>()

  constructor(sources: RunSources, wanted: Wanted, now: number) {
    this.#sources = sources
    this.#wanted = wanted
    this.#beganAt = now
  }

  /** Rejects if Redis does not answer, and with an AbortError once `signal` is aborted. */
  async result(): Promise<RunResult> {
    const next = await this.#readHours()
    await this.#confirm()
    return {
      checked: this.#checked,
      missing: this.#missing,
      repaired: this.#repaired,
      unknown: [...this.#unknown.values()],
      until: this.#until,
      next,
      stopped: this.#unanswered.values().next().value,
    }
  }

  get #until(): number {
    const due = this.#beganAt - this.#sources.afterMs
    // Whole windows alone are compared.
    return Math.min(this.#wanted.day.until, due - (due % WINDOW_MS))
  }

  /** @returns where it stopped, if something is left */
  async #readHours(): Promise<string | undefined> {
    const { day, from = '', isWanted, signal } = this.#wanted
    const { mostRequests = MOST_REQUESTS } = this.#sources
    const [firstHour, firstRoute] = from === '' ? [Math.floor(day.from / HOUR_MS), ''] : placeOf(from)
    for (let hour = firstHour; hour * HOUR_MS < this.#until; hour++) {
      const isLeft = (route: string) => isWanted(route) && (hour > firstHour || route >= firstRoute)
      const routes = (await routesOfHour(this.#sources.redis, hour)).filter(isLeft)
      for (let at = 0; at < routes.length; at += ROUTES_AT_ONCE) {
        const some = await this.#deliveredTo(routes.slice(at, at + ROUTES_AT_ONCE), hour)
        for (const [route, windows] of some) {
          signal.throwIfAborted()
          if (this.#isUnanswered(companyOfLane(route))) {
            if (this.#sources.companies().every(({ company_id }) => this.#isUnanswered(company_id))) return undefined
            continue
          }
          if (this.#requests >= mostRequests) return `${hour} ${route}`
          await this.#readHour(route, windows)
        }
      }
    }
    return undefined
  }

  /**
   * Resolves to the fixes delivered to some routes in an hour, if they are of the day and old enough; routes without fixes
   * are left out. What went to an earlier API of the company cannot be compared.
   */
  async #deliveredTo(routes: readonly string[], hour: number): Promise<Map<string, RouteWindow[]>> {
    const wanted = new Set(routes)
    const { day } = this.#wanted
    const isDue = (window: number) => window >= day.from && window < day.until && window + WINDOW_MS <= this.#until
    const windows = await deliveredIn(this.#sources.redis, hour, (route, window) => {
      return wanted.has(route) && (window === undefined || isDue(window))
    })
    const known: RouteWindow[] = []
    for (const each of windows) {
      if (await this.#isOfPresentApi(each)) known.push(each)
      else this.#cannotRead(each.route, each.fixes.length, OTHER_API)
    }
    return Map.groupBy(known, ({ route }) => route)
  }

  async #readHour(route: string, windows: readonly RouteWindow[]): Promise<void> {
    const fixes = windows.flatMap((each) => each.fixes)
    const positions = await this.#read(route, windows)
    if ('reason' in positions) return this.#cannotRead(route, fixes.length, positions)
    const suspects = new Set(missingFixes(fixes, positions))
    // Complete windows are not read again.
    for (const each of windows)
      if (!each.fixes.some((fix) => suspects.has(fix))) await this.#note(each, { missing: [], unknown: [] })
    const doubtful = windows.filter((each) => each.fixes.some((fix) => suspects.has(fix)))
    for (const some of quartersOf(doubtful))
      this.#doubtful.push({ route, windows: some, suspects, readAt: performance.now() })
  }

  async #confirm(): Promise<void> {
    const { afterMs, pauseMs = PAUSE_MS } = this.#sources
    const { signal } = this.#wanted
    for (const { readAt, route, suspects, windows } of this.#doubtful) {
      const waitMs = Math.max(this.#beganAt + afterMs - Date.now(), readAt + pauseMs - performance.now())
      if (waitMs > 0) await sleep(waitMs, undefined, { signal })
      const fixes = windows.flatMap((each) => each.fixes)
      const last = await this.#read(route, windows)
      if ('reason' in last) {
        this.#cannotRead(route, fixes.length, last)
        continue
      }
      const interval = intervalToRead(windows[0].window, windows[windows.length - 1].window)
      const own = fixes.filter((fix) => suspects.has(fix))
      const { missing, unknown, why } = judge(fixes, missingFixes(own, last), { last, ...interval })
      if (why) this.#addUnknown(route, unknown.length, why)
      for (const each of windows) {
        const isOwn = (fix: DeliveredFix) => each.fixes.includes(fix)
        await this.#note(each, { missing: missing.filter(isOwn), unknown: unknown.filter(isOwn) })
      }
    }
  }

  async #read(route: string, windows: readonly RouteWindow[]) {
    const known = this.#unreadable.get(companyOfLane(route))
    if (known) return known
    this.#requests++
    const interval = intervalToRead(windows[0].window, windows[windows.length - 1].window)
    const positions = await this.#sources.readBack.read({ route, ...interval })
    // The company may have got another API since the last look.
    return (await this.#isOfPresentApi(windows[0])) ? positions : OTHER_API
  }

  /** Whether the company of a route had its present API when a window began. */
  async #isOfPresentApi({ route, window }: RouteWindow): Promise<boolean> {
    const { redis, tracking } = this.#sources
    const company = companyOfLane(route)
    return window >= (await readBackSince(redis, company, tracking(company).baseUrl, Date.now()))
  }

  #cannotRead(route: string, fixes: number, why: NotKnown): void {
    countUnknown(fixes)
    this.#addUnknown(route, fixes, why)
    if (why.reason === 'no_answer') this.#unanswered.set(this.#sources.tracking(companyOfLane(route)), why)
    else if (why.reason !== 'not_readable' && why.reason !== 'other_api')
      this.#unreadable.set(companyOfLane(route), why)
  }

  /** Whether the API of a company has not answered in this run. */
  #isUnanswered(company: string): boolean {
    return this.#unanswered.has(this.#sources.tracking(company))
  }

  #addUnknown(route: string, fixes: number, why: NotKnown): void {
    const company = companyOfLane(route)
    const key = `${company} ${why.reason}`
    this.#unknown.set(key, { ...why, company, fixes: fixes + (this.#unknown.get(key)?.fixes ?? 0) })
  }

  async #note(each: RouteWindow, judged: Judgement): Promise<void> {
    const { repair } = this.#wanted
    this.#checked += each.fixes.length - judged.unknown.length
    this.#missing.push(...judged.missing)
    const noting = { isFresh: true, repairs: repair, repairsAgain: true }
    this.#repaired += await this.#sources.settlement.note(each, judged, noting)
  }
}

/** Groups windows by quarter of an hour: if the API truncates a long answer, a short one is complete. */
function quartersOf(windows: readonly RouteWindow[]): RouteWindow[][] {
  return [...Map.groupBy(windows, ({ window }) => Math.floor(window / QUARTER_MS)).values()]
}

function placeOf(next: string): [hour: number, route: string] {
  const [hour, route = ''] = next.split(' ')
  return [Number(hour), route]
}

const OTHER_API: NotKnown = { reason: 'other_api', message: say('the company had another tracking API then') }
const HOUR_MS = 3_600_000
const QUARTER_MS = 900_000
const MOST_REQUESTS = 60
const ROUTES_AT_ONCE = 60
const PAUSE_MS = 30_000
