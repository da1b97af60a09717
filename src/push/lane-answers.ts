/** How lanes are answered. Durations in ms; instants in ms UTC. */
export interface LaneFigures {
  /** Lanes that have got no answer for 15 s: what ran into `push.timeout` counts until the next answer. */
  readonly unanswered: LanesWaiting & { readonly named: readonly LaneWithoutAnswer[] }
  /** Of how many other lanes the last answer came within each time of `WITHIN_S`. */
  readonly answered: readonly number[]
  /** Lanes with a request that takes 5 s or longer, or whose last one in the last minute did. */
  readonly slow: LanesWaiting & { readonly leastMs: number }
  /** As `answered`, of lanes that are not slow. */
  readonly quick: readonly number[]
  /** All these lanes, if they are few. */
  readonly names?: readonly string[]
}

/** `newestMs`: how long ago the latest of their requests began; 0 if there are none. */
interface LanesWaiting {
  readonly count: number
  readonly newestMs: number
}

/** `at`: when that was so; `ms`: for how long it has got no answer. */
interface LaneWithoutAnswer {
  readonly lane: string
  readonly ms: number
  readonly at: number
}

/** How a request ended: with an answer of any status, without one in time, or by a failed connection. */
export type RequestEnd = 'answered' | 'timeout' | 'failed'

interface KnownLane {
  inFlight: number
  changedAt: number
  /** When the first of the requests began that were not answered. */
  unansweredSince?: number
  answered?: { readonly at: number; readonly ms: number }
}

/**
 * How the lanes that this worker has pushed within ten minutes are answered. Instants by `performance.now()`. Read the
 * figures once a second: time in which this process was paused does not count, since an answer may have come during it.
 */
export class LaneAnswers {
  readonly #lanes = new Map<string, KnownLane>()
  readonly #longestStepMs: number
  #lastAt = performance.now()
  #pausedMs = 0

  /** `longestStepMs`: after a longer time without a call this process was paused. */
  constructor(longestStepMs = LONGEST_STEP_MS) {
    this.#longestStepMs = longestStepMs
  }

  /** Notes that a request begins. Returns when, for `ended`. */
  began(lane: string, at = performance.now()): number {
    const now = this.#running(at)
    const known = this.#lanes.get(lane) ?? { inFlight: 0, changedAt: now }
    known.inFlight++
    known.changedAt = now
    known.unansweredSince ??= now
    this.#lanes.set(lane, known)
    return now
  }

  /** `beganAt`: what `began` returned. */
  ended(
    lane: string,
    { end, beganAt }: { readonly end: RequestEnd; readonly beganAt: number },
    at = performance.now(),
  ): void {
    const now = this.#running(at)
    const known = this.#lanes.get(lane)
    if (!known) return
    known.inFlight--
    known.changedAt = now
    if (end === 'answered') known.answered = { at: now, ms: now - beganAt }
    // Parts of a lane in two shards are pushed side by side.
    if (end !== 'timeout' && known.inFlight === 0) known.unansweredSince = undefined
  }

  figures(at = performance.now()): LaneFigures {
    const now = this.#running(at)
    const wallClock = Date.now()
    const [answered, quick] = [WITHIN_S.map(() => 0), WITHIN_S.map(() => 0)]
    const unanswered: LaneWithoutAnswer[] = []
    const slow: { readonly beganMs: number; readonly ms: number }[] = []
    for (const [lane, known] of this.#lanes) {
      const { changedAt, inFlight, unansweredSince = now } = known
      if (inFlight === 0 && now - changedAt > KEPT_MS) {
        this.#lanes.delete(lane)
        continue
      }
      const waitsMs = now - unansweredSince
      if (waitsMs >= UNANSWERED_MS) unanswered.push({ lane, ms: Math.round(waitsMs), at: wallClock })
      else count(answered, known, now)
      const last = known.answered && now - known.answered.at < RECENT_MS ? known.answered : undefined
      if (waitsMs >= SLOW_MS) slow.push({ beganMs: waitsMs, ms: waitsMs })
      else if (last && last.ms >= SLOW_MS) slow.push({ beganMs: now - last.at + last.ms, ms: last.ms })
      else count(quick, known, now)
    }
    return {
      unanswered: {
        count: unanswered.length,
        newestMs: leastOf(unanswered.map(({ ms }) => ms)),
        named: unanswered.toSorted((a, b) => b.ms - a.ms).slice(0, MOST_NAMED),
      },
      answered,
      slow: {
        count: slow.length,
        newestMs: leastOf(slow.map(({ beganMs }) => beganMs)),
        leastMs: leastOf(slow.map(({ ms }) => ms)),
      },
      quick,
      ...(this.#lanes.size <= FEW && { names: [...this.#lanes.keys()] }),
    }
  }

  /** Running time: `at` without the pauses. */
  #running(at: number): number {
    const step = at - this.#lastAt
    this.#lastAt = at
    if (step > this.#longestStepMs) this.#pausedMs += step
    return at - this.#pausedMs
  }
}

/** Adds a lane to the number of each time of `WITHIN_S` within which its last answer came. */
function count(within: number[], { answered }: KnownLane, now: number): void {
  for (const [index, seconds] of WITHIN_S.entries())
    if (answered && now - answered.at <= seconds * 1000) within[index]++
}

/** Returns the least of these times; 0 if there are none. */
function leastOf(times: readonly number[]): number {
  return times.reduce((least, time) => Math.min(least, time), times[0] ?? 0)
}

/** The times of `answered` and `quick`, in s. */
export const WITHIN_S = [5, 10, 15, 30, 60, 120, 300, 600] as const
const UNANSWERED_MS = 15_000
const SLOW_MS = 5000
const LONGEST_STEP_MS = 3000
const RECENT_MS = 60_000
const KEPT_MS = 600_000
/** Lanes that are named. */
const MOST_NAMED = 20
/** Up to so many lanes all are named, so that those of several workers are counted once. */
const FEW = 8
