import { localDay } from '../domain/times.ts'
import { metrics } from '../observe/metrics.ts'
import { type MissingFixes, missingAtApi, noteVerified, type Store, WINDOW_MS } from '../store/index.ts'
import { say } from '../texts/text.ts'
import type { CourierPosition } from '../tracking/schemas.ts'
import { isOutside } from './compare.ts'
import type { DeliveredFix, RouteWindow } from './delivered.ts'
import type { ReadInterval, NotKnown } from './read-back.ts'
import { type BatchSettings, repair } from './repair.ts'

export interface SettlementSources {
  readonly redis: Store
  /** For how long delivered fixes are kept, ms. */
  readonly keptMs: number
  readonly batch: BatchSettings
  /** The time zone of local days. */
  readonly zone: () => string
}

/** The result of two reads of fixes. */
export interface Judgement {
  readonly missing: readonly DeliveredFix[]
  /** Fixes that could not be compared. */
  readonly unknown: readonly DeliveredFix[]
  readonly why?: NotKnown
}

/**
 * Returns the missing fixes: those that neither of two reads contains. If all fixes of one courier are missing while another
 * courier's on the same route are there, the result is unknown, because the API may return the positions of only one of them.
 * @param last the positions of the second read
 */
export function judge(
  fixes: readonly DeliveredFix[],
  missing: readonly DeliveredFix[],
  { last, from, to }: Pick<ReadInterval, 'from' | 'to'> & { readonly last: readonly CourierPosition[] },
): Judgement {
  if (missing.length === 0) return { missing, unknown: [] }
  if (last.some((position) => isOutside(position, from, to))) return { missing: [], unknown: fixes, why: OTHER_TIMES }
  if (missing.length === fixes.length) return { missing, unknown: [] }
  const lost = new Set(missing)
  const found = new Set(fixes.flatMap((fix) => (lost.has(fix) ? [] : fix.lane)))
  const [unknown, known] = [
    missing.filter(({ lane }) => !found.has(lane)),
    missing.filter(({ lane }) => found.has(lane)),
  ]
  return unknown.length > 0 ? { missing: known, unknown, why: OTHER_COURIER } : { missing, unknown }
}

interface Noting {
  /** The fixes were not looked at before: they are counted. */
  readonly isFresh: boolean
  readonly repairs: boolean
  /** Fixes that were pushed once more already are pushed again. */
  readonly repairsAgain?: boolean
}

/** Notes results for the day sheet and the finding, and queues missing fixes again. */
export class Settlement {
  readonly #sources: SettlementSources
  #missing: readonly MissingFixes[] = []

  constructor(sources: SettlementSources) {
    this.#sources = sources
  }

  /** Missing fixes as of the last look. */
  get missing(): readonly MissingFixes[] {
    return this.#missing
  }

  async look(now: number): Promise<void> {
    this.#missing = await missingAtApi(this.#sources.redis, now)
  }

  /** @returns how many fixes were queued once more */
  async note({ window, fixes }: RouteWindow, { missing, unknown }: Judgement, noting: Noting): Promise<number> {
    const { redis, batch, zone, keptMs } = this.#sources
    if (noting.isFresh) countFixes(fixes.length, missing.length, unknown.length)
    const repaired = missing.filter(
      ({ deliveries, isQueued }) => !isQueued && (deliveries === 1 || noting.repairsAgain),
    )
    const queued = noting.repairs ? await repair(redis, repaired, batch) : 0
    const notKnown = new Set(unknown.map(({ lane }) => lane))
    const lanes = Map.groupBy(fixes, ({ lane }) => lane)
    for (const [lane, own] of lanes) {
      if (notKnown.has(lane)) continue
      const lost = missing.filter((fix) => fix.lane === lane)
      const day = localDay(window, zone()).from
      const found = { lane, window, day, checked: own.length }
      await noteVerified(
        redis,
        lost.length === 0 ? found : { ...found, missing: this.#lost(lane, window, lost) },
        keptMs,
      )
    }
    const isKnown = this.#missing.some((other) => other.window === window && lanes.has(other.lane))
    if (missing.length > 0 || isKnown) await this.look(Date.now())
    return queued
  }

  /** Returns the missing fixes of a lane and window; keeps the time since when they are missing. */
  #lost(lane: string, window: number, lost: readonly DeliveredFix[]) {
    const before = this.#missing.find((other) => other.lane === lane && other.window === window)
    return {
      missing: lost.length,
      firstAt: lost[0].timestamp * 1000,
      lastAt: lost[lost.length - 1].timestamp * 1000,
      at: before?.at ?? Date.now(),
      repaired: lost.filter(({ deliveries, isQueued }) => isQueued || deliveries > 1).length,
    }
  }
}

/**
 * Returns the interval to ask for, so that it covers the windows from `first` to `last` (ms UTC) even if the API excludes its
 * ends.
 */
export function intervalToRead(first: number, last: number): Pick<ReadInterval, 'from' | 'to'> {
  return { from: first / 1000 - 1, to: (last + WINDOW_MS) / 1000 }
}

function countFixes(all: number, missing: number, unknown: number): void {
  metrics.verified.inc({ result: 'found' }, all - missing - unknown)
  metrics.verified.inc({ result: 'missing' }, missing)
  metrics.verified.inc({ result: 'unknown' }, unknown)
}

/** Counts fixes that could not be compared with the API. */
export function countUnknown(fixes: number): void {
  countFixes(fixes, 0, fixes)
}

const OTHER_TIMES: NotKnown = {
  reason: 'not_readable',
  message: say('the tracking API gives positions of other times than those that are asked for'),
}
const OTHER_COURIER: NotKnown = {
  reason: 'couriers',
  message: say('several couriers drove the route, and the tracking API may give the positions of one of them alone'),
}
