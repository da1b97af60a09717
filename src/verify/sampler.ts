import { randomUUID } from 'node:crypto'
import { companyOfLane } from '../domain/ids.ts'
import {
  forgetMissing,
  holdsTurn,
  keys,
  type MissingFixes,
  readBackSince,
  type Store,
  verifiedInHour,
  WINDOW_MS,
} from '../store/index.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { isChosen, missingFixes, windowOf } from './compare.ts'
import { type DeliveredFix, deliveredIn, type RouteWindow, routeOf } from './delivered.ts'
import type { NotKnown, ReadBack } from './read-back.ts'
import { countUnknown, intervalToRead, judge, type Settlement } from './settle.ts'

/** The `verify` section of gateway.yaml. */
export interface VerifySettings {
  readonly share: number
  /** ms. */
  readonly after: number
  readonly repair: boolean
}

export interface SamplerSources {
  readonly redis: Store
  readonly readBack: Pick<ReadBack, 'read'>
  readonly settlement: Settlement
  readonly settings: VerifySettings
  /** The API of a company. */
  readonly tracking: (company_id: string) => Pick<TrackingClient, 'baseUrl'>
  /** Resolves to a function that tells whether the API of a company accepts pushes now. */
  readonly isUp: () => Promise<(company_id: string) => boolean>
}

/** A route and window to be read, from `dueAt` on, ms UTC. */
interface Task extends RouteWindow {
  readonly dueAt: number
  readonly isFresh: boolean
  /** Fixes that the first read did not contain. */
  readonly suspects?: readonly DeliveredFix[]
}

/**
 * Compares a share of the delivered fixes with the tracking API. A share of each route's windows is chosen. A window is read
 * 15 s after its end; if late fixes come, again an hour and half a day after the end of its hour. A fix is read after `after`
 * at the earliest, and a missing one again half a minute later. Of several admin processes, one does this.
 */
export class Sampler {
  readonly #sources: SamplerSources
  readonly #process = randomUUID()
  #tasks: Task[] = []
  #lastWindow: number | undefined
  readonly #lastHours = new Map<number, number>()
  /** Until when nothing is read, ms UTC, for all companies of an API, or for one. */
  readonly #pausedUntil = new Map<string | object, number>()
  readonly #recheckedAt = new Map<string, number>()
  #lookedAt = -Infinity

  constructor(sources: SamplerSources) {
    this.#sources = sources
  }

  /** Makes at most one request. Call it once a second. Rejects if Redis does not answer. */
  async look(now: number): Promise<void> {
    const { redis } = this.#sources
    if (!(await holdsTurn(redis, keys.verifying, { holder: this.#process, ms: TURN_MS }))) return
    if (now < this.#lookedAt - WINDOW_MS) this.#forget()
    this.#lookedAt = now
    if (this.#sources.settings.share > 0) {
      await this.#sample(now)
      for (const age of LATE_MS) await this.#sampleLate(now, age)
    }
    const isUp = await this.#sources.isUp()
    const isReadable = (company: string) => isUp(company) && !this.#isPaused(company, now)
    const task = this.#nextTask(now, isReadable)
    if (task) await this.#read(task, now)
    else await this.#recheck(now, isReadable)
  }

  /** Drops what was noted by a clock that was ahead: it would stop the comparisons until that time. */
  #forget(): void {
    this.#tasks = []
    this.#lastWindow = undefined
    for (const noted of [this.#lastHours, this.#pausedUntil, this.#recheckedAt]) noted.clear()
  }

  /** The windows that ended since the last look; those from before the start are among the late ones. */
  async #sample(now: number): Promise<void> {
    const { redis, settings } = this.#sources
    const last = windowOf(now - SETTLE_MS) - WINDOW_MS
    const first = Math.max((this.#lastWindow ?? last - WINDOW_MS) + WINDOW_MS, last - MOST_BEHIND_MS)
    for (let window = first; window <= last; window += WINDOW_MS) {
      const isWanted = (route: string, of = window) => of === window && isChosen(route, window, settings.share)
      await this.#add(await deliveredIn(redis, Math.floor(window / HOUR_MS), isWanted), now)
    }
    this.#lastWindow = Math.max(this.#lastWindow ?? last, last)
  }

  /** Samples the last hour that ended `age` ago, except windows that are fully compared. */
  async #sampleLate(now: number, age: number): Promise<void> {
    const { redis, settings } = this.#sources
    const hour = Math.floor((now - age) / HOUR_MS) - 1
    if ((this.#lastHours.get(age) ?? 0) >= hour) return
    const noted = await verifiedInHour(redis, hour)
    const found = await deliveredIn(redis, hour, (route, window) => {
      return window === undefined || isChosen(route, window, settings.share)
    })
    const isNew = ({ fixes, window }: RouteWindow) => {
      const lanes = Map.groupBy(fixes, ({ lane }) => lane)
      return [...lanes].some(([lane, own]) => own.length > noted(lane, window))
    }
    await this.#add(found.filter(isNew), now)
    this.#lastHours.set(age, hour)
  }

  /** Adds tasks while there is room, whatever they are. Their APIs are noted: they may be others when they are read. */
  async #add(found: readonly RouteWindow[], now: number): Promise<void> {
    for (const company of new Set(found.map(({ route }) => companyOfLane(route)))) await this.#since(company, now)
    const waiting = new Set(this.#tasks.map(taskKey))
    const some = found.filter((each) => !waiting.has(taskKey(each)))
    const room = Math.max(0, MOST_TASKS - this.#tasks.length)
    const chosen = some.length <= room ? some : some.toSorted(() => Math.random() - 0.5).slice(0, room)
    const dueAt = now + this.#sources.settings.after
    this.#tasks.push(...chosen.map((each) => ({ ...each, dueAt, isFresh: true })))
  }

  /** Returns the task that has been due for longest, among those of companies that can be read. */
  #nextTask(now: number, isReadable: (company: string) => boolean): Task | undefined {
    const due = this.#tasks.filter(({ dueAt, route }) => dueAt <= now && isReadable(companyOfLane(route)))
    const [next] = due.toSorted((one, other) => one.dueAt - other.dueAt)
    this.#tasks = this.#tasks.filter((task) => task !== next)
    return next
  }

  /** Since when a company has its API. */
  #since(company: string, now: number): Promise<number> {
    const { redis, tracking } = this.#sources
    return readBackSince(redis, company, tracking(company).baseUrl, now)
  }

  #isPaused(company: string, now: number): boolean {
    const api = this.#sources.tracking(company)
    return Math.max(this.#pausedUntil.get(company) ?? 0, this.#pausedUntil.get(api) ?? 0) > now
  }

  async #read(task: Task, now: number): Promise<void> {
    const { readBack, settlement, settings } = this.#sources
    const { fixes, isFresh, route, suspects = fixes, window } = task
    const interval = intervalToRead(window, window)
    const positions = await readBack.read({ route, ...interval })
    if ('reason' in positions) return this.#pause(task, positions, now)
    // An earlier API has what was delivered then.
    if (window < (await this.#since(companyOfLane(route), now))) return
    const missing = missingFixes(suspects, positions)
    if (missing.length > 0 && !task.suspects) {
      this.#tasks.push({ ...task, suspects: missing, dueAt: now + PAUSE_MS })
      return
    }
    const judged = judge(fixes, missing, { last: positions, ...interval })
    await settlement.note(task, judged, { isFresh, repairs: settings.repair })
  }

  /** Without an answer, all companies of the API pause; if one company cannot be read, only that one does. */
  #pause({ fixes, isFresh, route }: Task, { reason }: NotKnown, now: number): void {
    if (isFresh) countUnknown(fixes.length)
    if (reason === 'no_answer') this.#pausedUntil.set(this.#sources.tracking(companyOfLane(route)), now + NO_ANSWER_MS)
    else if (reason === 'refused') this.#pausedUntil.set(companyOfLane(route), now + REFUSED_MS)
    else if (reason === 'no_operation') this.#pausedUntil.set(companyOfLane(route), now + NO_OPERATION_MS)
  }

  /** Reads missing fixes again, those checked longest ago first. */
  async #recheck(now: number, isReadable: (company: string) => boolean): Promise<void> {
    const { redis, settlement } = this.#sources
    const lookedAt = (each: MissingFixes) => this.#recheckedAt.get(keyOfMissing(each)) ?? each.at
    const [next] = settlement.missing
      .filter((each) => Math.abs(now - lookedAt(each)) >= RECHECK_MS && isReadable(companyOfLane(each.lane)))
      .toSorted((one, other) => lookedAt(one) - lookedAt(other))
    if (!next) return
    for (const key of this.#recheckedAt.keys())
      if (!settlement.missing.some((each) => keyOfMissing(each) === key)) this.#recheckedAt.delete(key)
    this.#recheckedAt.set(keyOfMissing(next), now)
    // The API that has lost it is not that of the company any more.
    if (next.window < (await this.#since(companyOfLane(next.lane), now))) return forgetMissing(redis, next)
    const route = routeOf(next.lane)
    const isWanted = (other: string, window = next.window) => other === route && window === next.window
    const [found] = await deliveredIn(redis, Math.floor(next.window / HOUR_MS), isWanted)
    if (found && !this.#tasks.some((task) => taskKey(task) === taskKey(found)))
      this.#tasks.push({ ...found, dueAt: now, isFresh: false })
  }
}

function taskKey({ route, window }: Pick<RouteWindow, 'route' | 'window'>): string {
  return `${route} ${window}`
}

function keyOfMissing({ lane, window }: Pick<MissingFixes, 'lane' | 'window'>): string {
  return `${lane} ${window}`
}

const HOUR_MS = 3_600_000
/** The usual time of trackers and batches until a fix is delivered. */
const SETTLE_MS = 15_000
const PAUSE_MS = 30_000
const LATE_MS = [HOUR_MS, 12 * HOUR_MS]
const MOST_BEHIND_MS = 9 * WINDOW_MS
const MOST_TASKS = 1000
const TURN_MS = 70_000
const NO_ANSWER_MS = 60_000
const REFUSED_MS = 60_000
const NO_OPERATION_MS = 600_000
const RECHECK_MS = 300_000
