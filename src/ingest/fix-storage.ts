import type { Fix, Transport } from '../../protocols/kit/index.ts'
import { zoneAhead } from '../config/times.ts'
import type { Appender, Stored } from '../lanes/index.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import type { Replica } from '../roster/replica.ts'
import { say } from '../texts/text.ts'
import type { Capacity } from './acceptance.ts'
import type { OwnClock } from './clock.ts'
import type { DayBook } from './day-book.ts'
import type { Sender, SpokenNow } from './device.ts'
import type { Obstacle } from './frame.ts'
import type { HeardDevices } from './heard.ts'
import type { Holding } from './holding.ts'
import { type IdentityReason, noteTooMany, type ResolvedDevice } from './identity.ts'
import { type FilterOptions, type HoldOptions, type Placement, placeFixes } from './place.ts'
import { noteSuspicion, Trails } from './suspicion.ts'

export interface FixStorageOptions {
  readonly replica: Pick<Replica, 'current' | 'roster' | 'version'>
  readonly filter: FilterOptions
  readonly hold: HoldOptions
  readonly appender: Pick<Appender, 'append' | 'count'>
  readonly heard: HeardDevices
  readonly clock: Pick<OwnClock, 'isInDoubt' | 'jumps' | 'now'>
  readonly capacity: Pick<Capacity, 'hasShortage' | 'shortageFor'>
  /** The tracks of devices at all gateways; without it, those at this gateway alone. */
  readonly trails?: Trails
  readonly holding: Pick<Holding, 'marking'>
  /** Notes the days of devices; without it, no day is noted. */
  readonly days?: Pick<DayBook, 'of'>
}

/** How fixes came. */
export interface FixSource {
  /** When they arrived, ms UTC. */
  readonly now: number
  readonly transport: Transport
  readonly sender?: Sender
  /** What they were read with, where the device is not configured. */
  readonly spoken?: SpokenNow
  /** When they are stored, ms UTC, where their frame is understood later than it arrived. */
  readonly lateAt?: number
}

/** Places the fixes of a device, and stores them. */
export class FixStorage {
  readonly #options: FixStorageOptions
  readonly #trails: Trails

  constructor(options: FixStorageOptions) {
    this.#options = options
    this.#trails = options.trails ?? new Trails()
  }

  /** Answers undefined once they are stored. */
  async store(
    fixes: readonly Fix[],
    resolved: ResolvedDevice,
    { now, transport, sender, spoken, lateAt }: FixSource,
  ): Promise<Obstacle | IdentityReason | undefined> {
    const { appender, capacity, clock, filter, hold, holding, replica } = this.#options
    const { id, entry } = resolved
    const { jumps } = clock
    for (let { marking } = holding; marking; { marking } = holding) if (!(await marking)) return 'roster'
    const { current, roster, version } = replica
    if (!current) return 'roster'
    // What is understood late says nothing of where the device is now.
    const isNow = entry !== undefined && lateAt === undefined
    const trail = isNow
      ? (resolved.trail = this.#trails.heard(id, { company: entry.company_id, now, sender }, resolved.trail))
      : undefined
    const origin = { device: id, entry, now, lateAt, isProven: transport !== 'udp', spoken, trail }
    // Version 0 has them judged again at once.
    const rosterVersion = spoken?.isRefuted ? 0 : version
    const placed = placeFixes(fixes, origin, { roster, rosterVersion, filter, hold, isClockInDoubt: clock.isInDoubt })
    if (trail?.offTrack) noteSuspicion(id, trail.suspicion)
    if (placed.aheadMs > 0) noteAhead(id, placed.aheadMs)
    else if (placed.lastFix && observations.devices.has(id)) observations.over(id, CLOCK)
    const shortage = capacity.hasShortage && capacity.shortageFor(placed.parts)
    if (shortage) return shortage
    let stored: Readonly<Stored> = NOTHING_STORED
    if (placed.parts.length === 0) appender.count(placed.filtered)
    else {
      try {
        stored = await appender.append(placed)
      } catch {
        return 'redis'
      }
      // Held by an earlier clock: newer fixes may be in their lane by now, and so the device sends it again.
      if (placed.aheadMs > 0) clock.now()
      if (placed.aheadMs > 0 && clock.jumps !== jumps) return 'redis'
    }
    if (!stored.refused) {
      this.#noteStored(placed, resolved, { at: now, isNow, duplicates: stored.duplicates })
      return undefined
    }
    // What is held for its time waits until older fixes are released: see lua/hold.lua.
    if (entry) return 'roster'
    noteTooMany(id)
    return 'unknown_device'
  }

  /** Counts what is stored or filtered; notes the last fixes of a configured device, and what became of its message. */
  #noteStored(placed: Placement, resolved: ResolvedDevice, { at, isNow, duplicates }: Arrived): void {
    const { days, heard } = this.#options
    const { filtered, lastFix, lastUnplaced, parts, received, repaired } = placed
    const { id, entry } = resolved
    for (const reason of filtered) metrics.filtered.inc({ reason })
    if (duplicates > 0) metrics.filtered.inc({ reason: 'duplicate' }, duplicates)
    if (repaired > 0) metrics.repaired.inc({ reason: 'gps_week' }, repaired)
    if (entry && days && !resolved.notes?.isOpen) resolved.notes = days.of(id)
    if (entry) resolved.notes?.placed(placed, at, duplicates)
    if (!isNow) return
    const isDuplicate = duplicates > 0 && lastFix
    const device = (resolved.heard ??= heard.of(id))
    device.stored({
      fix: lastFix && { at, fix: lastFix },
      filtered: isDuplicate ? { at, reason: 'duplicate', fix: lastFix } : lastUnplaced && { at, ...lastUnplaced },
    })
    if (parts.length === 0) device.became('filtered', filtered[filtered.length - 1])
    // Duplicates change nothing.
    if (duplicates >= received - filtered.length) return
    for (const part of parts)
      if ('lane' in part) device.became('routed', part.lane)
      else device.became('held', part.held)
  }
}

/** How fixes arrived that are stored now. */
interface Arrived {
  /** When, ms UTC. */
  readonly at: number
  /** Whether they say where a configured device is now. */
  readonly isNow: boolean
  /** How many of them were stored before. */
  readonly duplicates: number
}

const NOTHING_STORED: Readonly<Stored> = { duplicates: 0, refused: false }
/** What a fix in time shows to be over. */
const CLOCK = ['clock_ahead'] as const

/** Notes that a device is ahead of our clock, and what would fit: a zone, if it is whole quarters of an hour ahead. */
function noteAhead(device: string, aheadMs: number): void {
  const zone = zoneAhead(aheadMs)
  const fits = zone === undefined ? say('its clock is wrong') : say('time_zone "{}" would fit', zone)
  observations.note('clock_ahead', {
    subject: { device },
    evidence: say('about {} min ahead: {}', Math.round(aheadMs / 60_000), fits),
  })
}
