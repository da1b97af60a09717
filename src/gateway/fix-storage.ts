import type { Fix, Message } from '../../protocols/kit/index.ts'
import type { Appender } from '../store/index.ts'
import type { Capacity, Waiting } from './acceptance.ts'
import type { OwnClock } from './clock.ts'
import type { FrameKeeper } from './frame-keeper.ts'
import type { Holding } from './holding.ts'
import { type Identity, type Objection, objectionsTo, type Refusal, ResolvedDevice } from './identity.ts'
import type { FixSource, FrameArrival, Obstacle, Share } from './outcome.ts'
import { placeFixes, type PlacingOptions, unstored } from './place.ts'
import type { Trails } from './suspicion.ts'

export interface FixStorageOptions extends PlacingOptions {
  readonly appender: Pick<Appender, 'append' | 'count'>
  readonly capacity: Pick<Capacity, 'hasShortage' | 'shortageFor'>
  readonly trails: Trails
  readonly holding: Pick<Holding, 'marking'>
}

/** Places the fixes of a device, and stores them. */
export class FixStorage {
  readonly #options: FixStorageOptions

  constructor(options: FixStorageOptions) {
    this.#options = options
  }

  /** Resolves with what became of the fixes: they are stored unless it has a `failure`. */
  async store<Source extends FixSource>(
    fixes: readonly Fix[],
    sender: ResolvedDevice,
    source: Source,
  ): Promise<Share<Source>> {
    const { appender, capacity, clock, filter, hold, holding, logsOf, replica, trails } = this.#options
    const { id, entry } = sender
    const { at: now, lateAt, session, spoken } = source
    const { jumps } = clock
    // By this version the sender was judged. If the roster has a later one, what is held is judged again at once.
    const { version } = replica
    const rosterVersion = spoken?.rosterVersion ?? version
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
    const { current, roster } = replica
    if (!current) return failing(share, 'roster')
    if (session.trial?.isFull) return failing(share, 'memory')
    // A frame that is understood late tells nothing about where the device is now.
    const trail = entry && lateAt === undefined ? trails.of(id, entry.company_id, sender.trail) : undefined
    if (trail) {
      sender.trail = trail
      share.claim = trails.heard(id, trail, { now, sender: session.sender })
    }
    const origin = { device: id, entry, now, lateAt, isProven: session.transport !== 'udp', spoken, trail }
    const placed = placeFixes(fixes, origin, {
      roster,
      rosterVersion,
      filter,
      hold,
      isClockInDoubt: clock.isInDoubt,
      logsOf,
    })
    // A clock in doubt tells nothing about the clocks of devices.
    const noted = clock.isInDoubt ? { ...placed, aheadMs: 0 } : placed
    share.placed = noted
    if (trail?.offTrack) share.move = trail.suspicion
    // The account of a trial is the trial's own.
    if (session.trial?.push === false) {
      share.placed = unstored(noted)
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

/** Parts of the path of a frame that `FrameStorage` asks. */
export interface StorageParts {
  readonly clock: Pick<OwnClock, 'jumps' | 'now'>
  readonly storage: Pick<FixStorage, 'store'>
  readonly identity: Pick<Identity, 'senderOf'>
  readonly frames: Pick<FrameKeeper, 'keepGuessed'>
  readonly waiting: Waiting
}

/** Stores the fixes of frames: those of one device, or of each device that a relay names. It tries until the deadline of the frame. */
export class FrameStorage {
  readonly #parts: StorageParts

  constructor(parts: StorageParts) {
    this.#parts = parts
  }

  /** Stores the fixes of one device. Resolves with what became of them; a fault of ours is the failure of these alone. */
  async store(sender: ResolvedDevice, message: Message, arrival: FrameArrival): Promise<Share> {
    const { session, protocol } = arrival
    let share: Share | undefined
    try {
      if (!session.sender) session.sendsIn(protocol.name)
      share = await (sender.entry
        ? this.#parts.storage.store(message.fixes ?? [], sender, arrival)
        : this.#storeOfUnknown(sender, message, arrival))
      return share.failure ? await this.#storeAgain(share, message, arrival) : share
    } catch (fault) {
      return { ...(share ?? notStored(sender, arrival, 'fault')), failure: 'fault', fault }
    }
  }

  async #storeOfUnknown(sender: ResolvedDevice, message: Message, arrival: FrameArrival): Promise<Share> {
    const failure = await this.#parts.frames.keepGuessed({ message, sender }, arrival)
    return failure
      ? notStored(sender, arrival, failure)
      : this.#parts.storage.store(message.fixes ?? [], sender, arrival)
  }

  /**
   * Tries to store fixes again until the deadline. If the clock has jumped since they came, they are not stored and the device has
   * to send them again: judged by the earlier clock, they would come behind newer ones. So it is if the time zone of the device
   * changes: the frame was read by the earlier one.
   */
  async #storeAgain(first: Share, message: Message, arrival: FrameArrival): Promise<Share> {
    const { clock, identity, storage, waiting } = this.#parts
    const { session, protocol, deadline, jumps } = arrival
    const { fixes = [] } = message
    const { id, entry } = first.sender
    let share = first
    while (typeof share.failure === 'string' && (await waiting.mayRetry(share.failure, deadline))) {
      clock.now()
      if (clock.jumps !== jumps) break
      // The roster may have changed meanwhile, and another device may have spoken on the session.
      const sender = identity.senderOf({ ...message, device: id }, session, protocol.name)
      const { claim, move } = share
      if ('reason' in sender) return { ...notStored(first.sender, arrival, sender), claim, move }
      if (sender.entry?.time_zone !== entry?.time_zone) break
      const next = await storage.store(fixes, sender, arrival)
      share = { ...next, claim: next.claim ?? claim, move: next.move ?? move }
    }
    return share
  }

  /**
   * Stores the fixes of a relay's frame, each for the device that it names. Those of a device that is refused are left out.
   * `failure`: why some that are not refused are not stored.
   */
  async storeOfMany(message: Message, arrival: FrameArrival): Promise<StoredShares> {
    const byDevice = Map.groupBy(message.fixes ?? [], (fix) => fix.device ?? message.device ?? '')
    const storing = Array.from(byDevice, ([device, fixes]) =>
      this.#storeOfOne({ ...message, device, fixes }, message, arrival).catch((fault: unknown) => ({
        ...notStored(new ResolvedDevice(device, undefined), arrival, 'fault'),
        fault,
      })),
    )
    const shares: Share[] = []
    const refusals: Refusal[] = []
    const objections: Objection[] = []
    let failure: Obstacle | undefined
    for (const stored of await Promise.all(storing)) {
      if (stored instanceof ResolvedDevice) {
        failure ??= 'flood'
        if (stored.id !== message.device) objections.push(...objectionsTo(stored))
      } else if ('reason' in stored) refusals.push(stored)
      else {
        shares.push(stored)
        if (typeof stored.failure === 'string') failure ??= stored.failure
        else if (stored.failure) refusals.push(stored.failure)
      }
    }
    return { shares, refusals, objections, failure }
  }

  /** Stores what a relay's frame says of one device. Resolves with the device where that is more than its quota. */
  async #storeOfOne(
    own: Message,
    { device }: Message,
    arrival: FrameArrival,
  ): Promise<Share | Refusal | ResolvedDevice> {
    const session = own.device === device ? arrival.session : arrival.session.about(own.device ?? '')
    const sender = this.#parts.identity.senderOf(own, session, arrival.protocol.name)
    if ('reason' in sender) return sender
    if (session.admits?.(sender) === false) return sender
    return this.store(sender, own, { ...arrival, session })
  }
}

/** What became of all fixes of a frame. */
interface StoredShares {
  readonly shares: readonly Share[]
  readonly refusals: readonly Refusal[]
  readonly objections: readonly Objection[]
  readonly failure: Obstacle | undefined
}

/** The fixes of a device that are given up before they are placed. */
function notStored(sender: ResolvedDevice, source: FrameArrival, failure: Share['failure']): Share {
  return { sender, source, fixes: [], placed: undefined, duplicates: 0, claim: undefined, move: undefined, failure }
}

/** What becomes of fixes, as far as it is known. */
type Draft<Source extends FixSource> = { -readonly [Key in keyof Share<Source>]: Share<Source>[Key] }

function failing<Source extends FixSource>(share: Draft<Source>, failure: Obstacle | Refusal): Share<Source> {
  share.failure = failure
  return share
}
