import type { Fix } from '../../protocols/kit/index.ts'
import type { Replica } from '../roster/replica.ts'
import type { Appender } from '../store/index.ts'
import type { Capacity } from './acceptance.ts'
import type { OwnClock } from './clock.ts'
import type { Holding } from './holding.ts'
import type { Refusal, ResolvedDevice } from './identity.ts'
import type { FixSource, Obstacle, Share } from './outcome.ts'
import { type FilterOptions, type HoldOptions, type LogsOf, placeFixes, unstored } from './place.ts'
import { Trails } from './suspicion.ts'

export interface FixStorageOptions {
  readonly replica: Pick<Replica, 'current' | 'roster' | 'version'>
  readonly filter: FilterOptions
  readonly hold: HoldOptions
  readonly appender: Pick<Appender, 'append' | 'count'>
  readonly clock: Pick<OwnClock, 'isInDoubt' | 'jumps' | 'now'>
  readonly capacity: Pick<Capacity, 'hasShortage' | 'shortageFor'>
  /** The tracks of devices at all gateways; without it, those at this gateway alone. */
  readonly trails?: Trails
  readonly holding: Pick<Holding, 'marking'>
  /** Returns which copies get the fixes of a company; undefined: none. */
  readonly logsOf?: LogsOf
}

/** Places the fixes of a device, and stores them. */
export class FixStorage {
  readonly #options: FixStorageOptions
  readonly #trails: Trails

  constructor(options: FixStorageOptions) {
    this.#options = options
    this.#trails = options.trails ?? new Trails()
  }

  /** Resolves with what became of the fixes: they are stored unless it has a `failure`. */
  async store<Source extends FixSource>(
    fixes: readonly Fix[],
    sender: ResolvedDevice,
    source: Source,
  ): Promise<Share<Source>> {
    const { appender, capacity, clock, filter, hold, holding, logsOf, replica } = this.#options
    const { id, entry } = sender
    const { at: now, lateAt, session, spoken } = source
    const { jumps } = clock
    const share: Draft<Source> = {
      sender,
      source,
      fixes,
      placed: undefined,
      duplicates: 0,
      claim: undefined,
      move: undefined,
      failure: undefined,
    }
    for (let { marking } = holding; marking; { marking } = holding)
      if (!(await marking)) return failing(share, 'roster')
    const { current, roster, version } = replica
    if (!current) return failing(share, 'roster')
    if (session.trial?.isFull) return failing(share, 'memory')
    // A frame that is understood late tells nothing about where the device is now.
    const trail = entry && lateAt === undefined ? this.#trails.of(id, entry.company_id, sender.trail) : undefined
    if (trail) {
      sender.trail = trail
      share.claim = this.#trails.heard(id, trail, { now, sender: session.sender })
    }
    const origin = { device: id, entry, now, lateAt, isProven: session.transport !== 'udp', spoken, trail }
    // Version 0 has them judged again at once.
    const rosterVersion = spoken?.isRefuted ? 0 : version
    const placed = placeFixes(fixes, origin, {
      roster,
      rosterVersion,
      filter,
      hold,
      isClockInDoubt: clock.isInDoubt,
      logsOf,
    })
    share.placed = placed
    if (trail?.offTrack) share.move = trail.suspicion
    // The account of a trial is the trial's own.
    if (session.trial?.push === false) {
      share.placed = unstored(placed)
      return share
    }
    const shortage = capacity.hasShortage && capacity.shortageFor(placed.parts)
    if (shortage) return failing(share, shortage)
    if (placed.parts.length === 0) {
      appender.count(placed.filtered)
      return share
    }
    let isRefused: boolean
    try {
      ;({ duplicates: share.duplicates, refused: isRefused } = await appender.append(placed))
    } catch {
      return failing(share, 'redis')
    }
    // The fix was held by an earlier clock, so newer fixes may be in its lane by now; the device sends it again.
    if (placed.aheadMs > 0) clock.now()
    if (placed.aheadMs > 0 && clock.jumps !== jumps) return failing(share, 'redis')
    if (!isRefused) return share
    // A fix held for its time waits until older fixes are released: see lua/hold.lua.
    if (entry) return failing(share, 'roster')
    return failing(share, { reason: sender.objection?.reason ?? 'unknown_device', device: id, isCrowded: true })
  }
}

/** A share while it is being filled in. */
type Draft<Source extends FixSource> = { -readonly [Key in keyof Share<Source>]: Share<Source>[Key] }

function failing<Source extends FixSource>(share: Draft<Source>, failure: Obstacle | Refusal): Share<Source> {
  share.failure = failure
  return share
}
