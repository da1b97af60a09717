import { yieldToEventLoop } from '../async.ts'
import { type DaySheet, daySheet, type PlannedVan } from '../diagnose/day-sheet.ts'
import { type DaySpan, gapsOf } from '../diagnose/history.ts'
import { belongedAt, staysWithin } from '../roster/device-entry.ts'
import type { Roster } from '../roster/roster.ts'
import { type LaneDay, readDayOf, readLaneDays, type Store, type VerifiedCount, verifiedOf } from '../store/index.ts'
import type { FixAccount } from './custody.ts'
import type { DeviceIndex } from './device/device-index.ts'
import type { RosterInEffect } from './roster/writes.ts'
import { type LaneBacklog, readBacklogs, vanDayFacts } from './device/van-day.ts'

export interface DaySheetSources {
  readonly redis: Store
  readonly directory: () => Roster
  readonly index: DeviceIndex
  readonly live: Pick<RosterInEffect, 'version'>
  readonly account: () => Promise<Pick<FixAccount, 'lanes'>>
}

/** Which sheets are asked for. */
export interface AskedDay {
  /** Local; ms UTC. */
  readonly day: DaySpan
  /** Returns whether a lane is asked for, by its name. */
  readonly isListed: (lane: string) => boolean
  /** Equal for two questions with the same answer. */
  readonly key: string
  /** Whether the question is for a further page of an earlier answer. */
  readonly isNextPage?: boolean
}

/** The sheet of a lane on a day. `figures`: of the fixes delivered to it; undefined if there were none. */
export interface LaneSheet {
  readonly lane: string
  readonly sheet: DaySheet
  readonly figures?: LaneDay
  /** Result of the comparison with the tracking API; undefined if nothing was compared. */
  readonly verified?: VerifiedCount
}

interface KeptSheets {
  readonly sheets: Promise<readonly LaneSheet[]>
  /** The roster version that they were computed for. */
  readonly version: number
  /** By `performance.now()`; Infinity while they are being computed. */
  madeAt: number
}

/**
 * Computes the sheets of days. Keeps the last ones for some seconds, for further pages and for other callers at the same
 * time.
 */
export class DaySheets {
  readonly #sources: DaySheetSources
  readonly #kept = new Map<string, KeptSheets>()

  constructor(sources: DaySheetSources) {
    this.#sources = sources
  }

  /**
   * Resolves to the sheets of all lanes that the roster has a device on during the day, and of those that fixes of the day
   * were delivered to. Other work of the process and of Redis can run in between. Rejects if Redis does not answer.
   */
  read(asked: AskedDay): Promise<readonly LaneSheet[]> {
    const key = `${asked.day.from} ${asked.key}`
    const version = this.#sources.live.version()
    const kept = this.#kept.get(key)
    const age = performance.now() - (kept?.madeAt ?? -Infinity)
    const isFresh = asked.isNextPage ? age < NEXT_MS : kept?.version === version && age < FRESH_MS
    if (kept && isFresh) return kept.sheets
    const made: KeptSheets = { sheets: this.#make(asked), version, madeAt: Infinity }
    this.#kept.delete(key)
    this.#kept.set(key, made)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(oldest)
    void this.#forgetLater(key, made)
    return made.sheets
  }

  async #forgetLater(key: string, made: KeptSheets): Promise<void> {
    const forget = () => this.#kept.get(key) === made && this.#kept.delete(key)
    try {
      await made.sheets
      made.madeAt = performance.now()
      setTimeout(forget, NEXT_MS).unref()
    } catch {
      // Forgets the kept sheets; callers that wait for them still get them.
      forget()
    }
  }

  async #make({ day, isListed }: AskedDay): Promise<LaneSheet[]> {
    const { redis, directory, index } = this.#sources
    await index.catchUp()
    const now = Date.now()
    const roster = directory()
    const plans = await plansOf(roster, day, isListed)
    const devices = new Map<string, DaySpan[]>()
    for (const vans of plans.values())
      for (const { device, planned } of vans) devices.set(device, [...(devices.get(device) ?? []), ...planned])
    const [noted, gateways, figures, backlogs, verified] = await Promise.all([
      readDayOf(redis, [...devices.keys()], day.from),
      readDayOf(redis, [''], day.from),
      readLaneDays(redis, day.from),
      this.#backlogsIn(plans, now),
      verifiedOf(redis, day.from),
    ])
    const gaps = new Map<string, PlannedVan['gaps']>()
    for (const [device, planned] of devices) {
      const about = { index, roster, backlogs: backlogs.get(redis.shardOf(device)) ?? NONE, now }
      const own = { id: device, day, noted: noted.get(device), gateways: gateways.get('') }
      const isPlanned = ({ from, until }: DaySpan) => planned.some((span) => span.from < until && span.until > from)
      gaps.set(device, gapsOf(vanDayFacts(own, about), isPlanned))
      const pause = yieldToEventLoop()
      if (pause) await pause
    }
    for (const lane of figures.keys()) if (!plans.has(lane) && isListed(lane)) plans.set(lane, [])
    const sheets: LaneSheet[] = []
    for (const [lane, vans] of plans) {
      const planned = vans.map((van) => ({ ...van, gaps: gaps.get(van.device) ?? [] }))
      sheets.push({
        lane,
        sheet: daySheet({ ...day, now }, planned),
        figures: figures.get(lane),
        verified: verified.get(lane),
      })
      const pause = yieldToEventLoop()
      if (pause) await pause
    }
    return sheets
  }

  /** Resolves to the undelivered fixes on the lanes of the plans, by shard. */
  async #backlogsIn(plans: ReadonlyMap<string, unknown>, now: number) {
    const { redis, account } = this.#sources
    const lanes = (await account()).lanes.flatMap(({ lane }) => (plans.has(lane) ? [lane] : []))
    const backlogs = await redis.inShards((shard) => readBacklogs(redis, shard, { lanes, now }))
    return new Map(redis.shards.map((shard, number) => [shard, backlogs[number]]))
  }
}

type VanPlan = Omit<PlannedVan, 'gaps'>

/** Returns the devices that the roster has on each lane on a day. A day on which a device has changed its company is left out. */
async function plansOf(roster: Roster, day: DaySpan, isListed: (lane: string) => boolean) {
  const plans = new Map<string, VanPlan[]>()
  const interval = { from: day.from / 1000, until: day.until / 1000 }
  for (const entry of roster.devices()) {
    const pause = yieldToEventLoop()
    if (pause) await pause
    if (!belongedAt(entry, day.from)) continue
    for (const [lane, stays] of Map.groupBy(staysWithin(entry, interval), (stay) => stay.lane.key)) {
      if (!isListed(lane)) continue
      const planned = stays.map(({ from, until }) => ({ from: from * 1000, until: until * 1000 }))
      plans.set(lane, [...(plans.get(lane) ?? []), { device: entry.id, planned }])
    }
  }
  return plans
}

const NONE: ReadonlyMap<string, LaneBacklog> = new Map()
/** How long sheets are kept: for the next page, and for the same question from another caller. */
const NEXT_MS = 30_000
const FRESH_MS = 1000
const MOST_KEPT = 4
