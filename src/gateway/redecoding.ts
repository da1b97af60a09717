import { setTimeout as sleep } from 'node:timers/promises'
import type { Fix, Message } from '../../protocols/kit/index.ts'
import { yieldToEventLoop } from '../async.ts'
import { sameId } from '../domain/ids.ts'
import { belongedAt, type DeviceEntry } from '../roster/device-entry.ts'
import type { Replica } from '../roster/replica.ts'
import {
  claimFrames,
  decodeAgain,
  devicesWithFrames,
  dropFrames,
  dropOld,
  endClaim,
  type FrameId,
  frameIds,
  markReleasing,
  rewriteFrame,
  type Store,
  type StoredFrame,
  withTexts,
} from '../store/index.ts'
import type { MisunderstoodFrame } from '../store/misunderstood-frame.ts'
import type { OwnClock } from './clock.ts'
import type { FixStorage } from './fix-storage.ts'
import { ResolvedDevice, trustIn } from './identity.ts'
import type { Journal, LeavingReason } from './journal.ts'
import { KeptReader, type KeptReaderOptions } from './kept-reader.ts'
import { doubtOf } from './outcome.ts'

export interface RedecodingOptions extends KeptReaderOptions {
  readonly redis: Store
  /** While it is not current, no frame is looked at. */
  readonly replica: Pick<Replica, 'current' | 'roster' | 'version'>
  readonly storage: Pick<FixStorage, 'store'>
  readonly journal: Pick<Journal, 'decoded' | 'keptNoMore' | 'refusedLate' | 'understoodLate'>
  /** While it is in doubt, no frame is too old. */
  readonly clock: Pick<OwnClock, 'isInDoubt' | 'now'>
  /** How long a frame is kept, ms; null: for ever. Older fixes are filtered. */
  readonly maxAgeMs: number | null
}

/**
 * Decodes frames again that were not understood when they arrived: all of them once after a start, which may be the start of
 * a new version; those of a device when the roster changes it. Understood fixes go where their own time says. A frame is
 * dropped once its fixes are stored; a process that ends between the two steps stores them again, as duplicates. Works on a
 * few frames at a time, and on each device in one gateway, since two could swap its fixes. Gives up frames that are too old.
 * For held fixes whose protocol is a guess, the frames are dropped once the guess turns out to be right. If the entry of the
 * device names another protocol, the frames are decoded with it, while the held fixes are discarded (holding.ts): neither
 * waits for the other. An entry that is undone within a second may cost these fixes, which are counted.
 */
export class Redecoding {
  readonly #options: RedecodingOptions
  readonly #reader: KeptReader
  readonly #closing = new AbortController()
  /** Devices that the roster has changed, without leading zeros. */
  #changed = new Set<string>()
  #isAllDue = true
  /** When all are due again, by `performance.now()`. */
  #againAt = Infinity
  #looks = 0
  #decoded = 0

  constructor(options: RedecodingOptions) {
    this.#options = options
    this.#reader = new KeptReader(options)
  }

  /** Call it when the roster has changed these devices; undefined: perhaps all. */
  rosterChanged(changed: ReadonlySet<string> | undefined): void {
    if (changed) for (const id of changed) this.#changed.add(id)
    else this.#isAllDue = true
  }

  /** Call it when mappings have changed. A frame that was read by the earlier ones may still wait until it is kept. */
  mappingsChanged(): void {
    this.#isAllDue = true
    this.#againAt = performance.now() + KEPT_AFTER_MS
  }

  /** Ends a look between two frames. */
  close(): void {
    this.#closing.abort()
  }

  /** Decodes the frames that are due. Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    const { replica } = this.#options
    if (!replica.current) return
    if (this.#looks++ % DROP_OLD_EVERY === 0) await this.#dropOld()
    if (performance.now() >= this.#againAt) {
      this.#againAt = Infinity
      this.#isAllDue = true
    }
    await this.#markDue()
    try {
      while (await this.#decodeNext());
    } catch (error) {
      // Redis may have claimed a device for this gateway, which no other look finds then.
      this.#isAllDue = true
      throw error
    }
  }

  async #dropOld(): Promise<void> {
    const { clock, journal, maxAgeMs, redis } = this.#options
    const now = clock.now()
    if (maxAgeMs === null || clock.isInDoubt) return
    journal.keptNoMore('max_age', await dropOld(redis, now - maxAgeMs))
  }

  /** Resolves to whether a device was due. */
  async #decodeNext(): Promise<boolean> {
    if (this.#closing.signal.aborted) return false
    const { redis } = this.#options
    const device = await claimFrames(redis)
    if (device === undefined) return false
    const laterMs = await this.#decodeAll(device).catch(() => LATER_MS)
    await endClaim(redis, device, laterMs)
    return true
  }

  /**
   * Marks devices that the roster has changed as due. Tells every shard the roster version first: a frame that a gateway
   * decoded by an earlier version is then either found here, or is due as soon as it is stored.
   */
  async #markDue(): Promise<void> {
    const { redis, replica } = this.#options
    const [isAllDue, changed] = [this.#isAllDue, this.#changed]
    if (!isAllDue && changed.size === 0) return
    this.#isAllDue = false
    this.#changed = new Set()
    try {
      await markReleasing(redis, replica.version, [])
      if (isAllDue) return await decodeAgain(redis)
      await decodeAgain(
        redis,
        (await devicesWithFrames(redis)).filter((device) => changed.has(sameId(device))),
      )
    } catch (error) {
      this.#isAllDue ||= isAllDue
      this.#changed = this.#changed.union(changed)
      throw error
    }
  }

  /** Resolves to after which time the frames of a device are to be decoded again; undefined: not until something changes. */
  async #decodeAll(device: string): Promise<number | undefined> {
    const { redis } = this.#options
    const ids = await frameIds(redis, [device])
    let laterMs: number | undefined
    for (let at = 0; at < ids.length; at += AT_ONCE)
      for (const stored of await withTexts(ids.slice(at, at + AT_ONCE))) {
        await this.#pace()
        if (this.#closing.signal.aborted) return LATER_MS
        const frame = JSON.parse(stored.text) as MisunderstoodFrame
        const entry = this.#options.replica.roster.find(frame.device)
        const became = entry && (await this.#decode(stored, frame, entry))
        if (became === 'not_stored') return LATER_MS
        if (became === 'sealed') laterMs = SECRET_LATER_MS
      }
    return laterMs
  }

  /**
   * Resolves to `not_stored` if fixes that are now understood cannot be stored yet; to `sealed` if the files here do not have
   * the secret of the device yet: those of another gateway may, or soon these.
   */
  async #decode(
    stored: StoredFrame,
    frame: MisunderstoodFrame,
    entry: DeviceEntry,
  ): Promise<'decoded' | 'sealed' | 'not_stored'> {
    const isOther = frame.company === undefined ? !belongedAt(entry, frame.at) : entry.company_id !== frame.company
    if (isOther) {
      await this.#leave(stored, 'other_company')
      return 'decoded'
    }
    const { message, isOpened, lacksSecret } = await this.#reader.read(frame, entry)
    if (lacksSecret) return 'sealed'
    const spoken = { protocol: frame.protocol, isGuess: frame.isGuess === true }
    const trust = trustIn(entry, spoken, isOpened)
    // A frame without the proof that the entry now demands stays where it is.
    if (trust === 'unproven' && frame.company === undefined) return 'decoded'
    if (trust === 'trusted' && frame.reason === 'guessed') {
      await this.#leave(stored, 'not_needed')
      return 'decoded'
    }
    // Fixes that were read with a wrong protocol are discarded.
    const known = trust === 'other_protocol' ? [] : (frame.fixes ?? [])
    if (!message) {
      if (frame.reason === 'guessed') await this.#rewrite(stored, { ...frame, reason: 'malformed', fixes: known })
      return 'decoded'
    }
    const isKnown = new Set(known.map(String))
    const fixes = message.fixes?.filter((fix) => !isKnown.has(String(markOf(fix)))) ?? []
    if (!(await this.#store({ ...message, fixes }, frame))) return 'not_stored'
    const reason = doubtOf(message)
    if (!reason) await this.#leave(stored, fixes.length > 0 ? 'understood' : 'no_position')
    else if (fixes.length > 0 || frame.reason === 'guessed') {
      const marks = [...known, ...fixes.map(markOf)]
      await this.#rewrite(stored, { ...frame, reason, fixes: marks, unreadable: message.unreadable })
    }
    return 'decoded'
  }

  #rewrite(stored: StoredFrame, frame: MisunderstoodFrame): Promise<void> {
    return rewriteFrame({ ...stored, text: JSON.stringify(frame) })
  }

  /**
   * Stores fixes, each for the device that it or its message names, else that of the frame. Those of a device that is not
   * accepted are left out and counted. Returns false if some cannot be stored now.
   */
  async #store({ device, fixes = [] }: Message, frame: MisunderstoodFrame): Promise<boolean> {
    const { journal, replica, storage } = this.#options
    // A secret may be a part of the id, which is masked there.
    const isReadable = device !== undefined && (!frame.masked || replica.roster.find(device) !== undefined)
    const sender = isReadable ? device : frame.device
    for (const [id, own] of Map.groupBy(fixes, (fix) => fix.device ?? sender)) {
      const entry = replica.roster.find(id)
      const isNamed = own.some((fix) => fix.device !== undefined)
      if (!entry || !isAccepted(entry, frame, isNamed)) {
        journal.refusedLate(entry ? 'not_permitted' : 'unknown_device')
        continue
      }
      const source = {
        session: { transport: frame.transport, sender: undefined, trial: undefined },
        at: frame.at,
        lateAt: Date.now(),
      }
      const share = await storage.store(own, new ResolvedDevice(entry.id, entry), source)
      journal.understoodLate(share, frame.protocol)
      if (share.failure) return false
    }
    return true
  }

  async #leave(frame: FrameId, reason: LeavingReason): Promise<void> {
    this.#options.journal.keptNoMore(reason, await dropFrames([frame]))
  }

  /** Makes way for frames that arrive. */
  async #pace(): Promise<void> {
    await yieldToEventLoop()
    if (++this.#decoded % AT_ONCE === 0)
      await sleep(PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
  }
}

/**
 * Returns whether the fixes of a kept frame are accepted for this device. They are for the frame's own device, and for any
 * device that was accepted when the frame came. The id of another device may have been unreadable then: it is accepted within
 * the company of the frame if its entry asks for no proof. The same rule applies to the frame's own device if its fixes name
 * it, but the frame is not known to be a relay's. Over MQTT a frame cannot name another device.
 */
function isAccepted(entry: DeviceEntry, frame: MisunderstoodFrame, isNamed: boolean): boolean {
  const { at, company, device, isGuess, others, protocol, transport } = frame
  const id = sameId(entry.id)
  const isOwn = id === sameId(device)
  if (isOwn && (!isNamed || others !== undefined || transport === 'mqtt')) return true
  if (transport === 'mqtt') return false
  const known = others?.find(([other]) => sameId(other) === id)
  if (known) return known[1] === entry.company_id
  if (entry.company_id !== company || !belongedAt(entry, at)) return false
  return trustIn(entry, { protocol, isGuess: isGuess === true }) === 'trusted'
}

function markOf({ time, latitude, longitude }: Fix): readonly [number, number, number] {
  return [time, latitude, longitude]
}

/** From when a frame is read until it is kept, or is not: it may wait for Redis, which may then not answer. */
const KEPT_AFTER_MS = 45_000
/** In seconds. */
const DROP_OLD_EVERY = 10
/** Frames after which there is a pause: at most a thousand in a second. */
const AT_ONCE = 20
const PAUSE_MS = 20
/** The pause before what could not be stored is tried again. */
const LATER_MS = 30_000
/** The pause before a secret is looked for again: no file may ever have it. */
const SECRET_LATER_MS = 300_000
