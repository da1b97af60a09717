import { companyOfLane } from '../domain/ids.ts'
import { metrics } from '../observe/metrics.ts'
import { arrivalAt } from '../store/index.ts'
import type { ApiAnswer } from '../tracking/answer.ts'
import type { RequestTrace } from '../tracking/client.ts'
import type { DayFigures } from './day-figures.ts'
import { LaneAnswers, type LaneFigures } from './lane-answers.ts'

/** Figures of a worker's pushes. Instants in ms UTC, durations in ms. */
export interface PushFigures {
  readonly inFlight: number
  /** How long the oldest request in flight has waited. */
  readonly oldestMs: number
  /** Identifies that request. */
  readonly oldestTrace?: RequestTrace
  /** The longest that a request of the last minute took, those in flight included. */
  readonly slowestMs: number
  /** How long the requests that were answered in the last minute took; the median of at most 200. */
  readonly usualMs?: number
  /** When the last request was answered, well or not. */
  readonly answeredAt?: number
  readonly lastError?: PushError
  /** Company → when a push with its apikey was accepted last. */
  readonly acceptedAt: Readonly<Record<string, number>>
  /** Company → when one was accepted last before one was refused with 403 last. */
  readonly acceptedBefore: Readonly<Record<string, number>>
  /** Lanes in which single positions were refused within the last minute, latest first. */
  readonly refusedPositions: readonly RefusedInLane[]
  readonly lanes: LaneFigures
}

/** Positions of a lane that were refused singly. `at`, `status`, `message`, `trace`: of the last one. */
export interface RefusedInLane {
  readonly lane: string
  readonly positions: number
  readonly at: number
  readonly status: number
  readonly message: string
  readonly trace?: RequestTrace
}

/**
 * `code`: the kind of failure, `http` for an answer. For `not_the_api`, the message is the beginning of the page, with its
 * content type and the target of a redirect.
 */
export interface PushError {
  readonly at: number
  readonly code: string
  readonly status?: number
  readonly message?: string
  readonly content_type?: string
  readonly location?: string
  readonly trace?: RequestTrace
}

/** A request without an answer yet; times by `performance.now()`. */
interface RequestInFlight {
  readonly lane: string
  readonly at: number
  readonly laneAt: number
  readonly trace?: RequestTrace
}

/** How a request ended. */
interface EndedPush {
  readonly answer: ApiAnswer
  /** What it sent, and how many records that is. */
  readonly records: Buffer
  readonly count: number
}

/** Keeps the figures of this worker's pushes, and counts them in the metrics. */
export class PushStatistics {
  readonly #inFlight = new Set<RequestInFlight>()
  readonly #lanes = new LaneAnswers()
  readonly #acceptedAt = new Map<string, number>()
  readonly #acceptedBefore = new Map<string, number>()
  #answered: { readonly at: number; readonly ms: number }[] = []
  #refused: Omit<RefusedInLane, 'positions'>[] = []
  readonly #days: Pick<DayFigures, 'delivered'> | undefined
  #lastError: PushError | undefined

  /** `days`: gets everything that is delivered. */
  constructor(days?: Pick<DayFigures, 'delivered'>) {
    this.#days = days
  }

  /** Notes that a request begins. Returns it, for `ended`. */
  began(lane: string, trace?: RequestTrace): RequestInFlight {
    const request = { lane, at: performance.now(), laneAt: this.#lanes.began(lane), trace }
    this.#inFlight.add(request)
    return request
  }

  /** Notes how a request ended. */
  ended(request: RequestInFlight, { answer, records, count }: EndedPush): void {
    const { lane, at: beganAt, laneAt, trace } = request
    const ms = performance.now() - beganAt
    const at = Date.now()
    const company = companyOfLane(lane)
    this.#inFlight.delete(request)
    metrics.pushDuration.observe(ms / 1000)
    if ('fault' in answer) {
      this.#lanes.ended(lane, { end: answer.fault === 'timeout' ? 'timeout' : 'failed', beganAt: laneAt })
      this.#lastError = { at, code: answer.fault, trace }
      metrics.pushRequests.inc({ code: answer.fault })
      return
    }
    this.#lanes.ended(lane, { end: 'answered', beganAt: laneAt })
    this.#answered.push({ at, ms })
    if (this.#answered.length > KEPT) this.#answered.shift()
    if ('notTheApi' in answer) {
      const { status, begins: message, type: content_type, location } = answer.notTheApi
      this.#lastError = { at, code: NOT_THE_API, status, message, content_type, location, trace }
      metrics.pushRequests.inc({ code: NOT_THE_API })
      return
    }
    const { status, text } = answer
    metrics.pushRequests.inc({ code: String(status) })
    if (status === 403) this.#acceptedBefore.set(company, this.#acceptedAt.get(company) ?? 0)
    if (status >= 300) {
      this.#lastError = { at, code: 'http', status, message: text, trace }
      return
    }
    this.#acceptedAt.set(company, at)
    this.#days?.delivered(lane, records, at)
    metrics.delivered.inc({}, count)
    metrics.deliveryDelay.observe((at - arrivalAt(records, 0)) / 1000)
  }

  /** The API refused one position of a lane. */
  refused(lane: string, { status, message, trace }: Pick<RefusedInLane, 'status' | 'message' | 'trace'>): void {
    this.#refused.push({ lane, at: Date.now(), status, message, trace })
    if (this.#refused.length > KEPT) this.#refused.shift()
  }

  figures(): PushFigures {
    const since = Date.now() - RECENT_MS
    this.#answered = this.#answered.filter(({ at }) => at >= since)
    this.#refused = this.#refused.filter(({ at }) => at >= since)
    const times = this.#answered.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const [oldest] = this.#inFlight
    const oldestMs = oldest ? performance.now() - oldest.at : 0
    return {
      inFlight: this.#inFlight.size,
      oldestMs,
      oldestTrace: oldest?.trace,
      slowestMs: Math.max(oldestMs, times.at(-1) ?? 0),
      usualMs: times[times.length >> 1],
      answeredAt: this.#answered.at(-1)?.at,
      lastError: this.#lastError,
      acceptedAt: Object.fromEntries(this.#acceptedAt),
      acceptedBefore: Object.fromEntries(this.#acceptedBefore),
      refusedPositions: this.#refusedLanes().slice(0, MOST_LANES),
      lanes: this.#lanes.figures(),
    }
  }

  #refusedLanes(): RefusedInLane[] {
    const lanes = new Map<string, RefusedInLane>()
    for (const last of this.#refused.toReversed()) {
      const { positions = 0, ...known } = lanes.get(last.lane) ?? {}
      lanes.set(last.lane, { ...last, ...known, positions: positions + 1 })
    }
    return [...lanes.values()]
  }
}

/** The kind of failure of a push that an HTML page or a redirect answers. */
export const NOT_THE_API = 'not_the_api'
const RECENT_MS = 60_000
const KEPT = 200
/** Lanes with refused positions that are named. */
const MOST_LANES = 20
