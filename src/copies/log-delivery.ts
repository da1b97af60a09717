import {
  advanceCopy,
  companyOfLog,
  type CopiedFix,
  type CopyPlace,
  entryMark,
  fixesIn,
  forgottenIn,
  packParked,
  readCopied,
  type RefusalReason,
  type Shard,
} from '../store/index.ts'
import { english } from '../texts/text.ts'
import type { Gate } from './gate.ts'
import type { Receiver, ReceiverAnswer } from './receiver.ts'
import type { TimeShare } from './time-share.ts'

export interface LogDeliveryOptions {
  readonly shard: Shard
  readonly place: CopyPlace
  readonly receiver: Receiver
  readonly gate: Gate
  readonly time: TimeShare
  /** Proves in each step that this process has the turn. */
  readonly token: string
  /** When aborted, nothing more is sent, and requests in flight are given up. */
  readonly stopping: AbortSignal
  readonly aborting: AbortSignal
  /** Whether the turn surely holds now. */
  readonly isHeld: () => boolean
  /** Called if fixes must be read again: some were deleted, or the turn or the log has changed. */
  readonly outdated: () => void
  /** Whether the copy gets a fix by its settings. */
  readonly isWanted: (fix: CopiedFix) => boolean
}

/**
 * Sends one log of a shard to one receiver. Reads on while fixes wait for an answer, so that a queue without answers stops no
 * other queue, until too many fixes are in memory. The cursor advances once all fixes of the entries before it are delivered
 * or parked.
 */
export class LogDelivery {
  readonly #options: LogDeliveryOptions
  readonly #entries: ReadEntry[] = []
  readonly #queues = new Map<string, Queue>()
  /** Devices that were moved from their usual queue, with their present queue. */
  readonly #apart = new Map<string, string>()
  readonly #running = new Set<Promise<void>>()
  /** The number of the entry to read next. */
  #next = 0
  /** How often fixes had been deleted from the log when its entries were read. */
  #forgotten = 0
  #pending = 0
  #split = 0
  #reading: Promise<void> | undefined
  #advancing: Promise<void> | undefined

  constructor(options: LogDeliveryOptions) {
    this.#options = options
  }

  /** Whether everything that was read is settled. */
  get isIdle(): boolean {
    return this.#running.size === 0 && this.#entries.length === 0 && !this.#reading && !this.#advancing
  }

  /** Reads waiting fixes and sends them. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    await this.#advance()
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    await this.#reading
  }

  /** Resolves once no request is under way and the cursor is moved. */
  async settled(): Promise<void> {
    await Promise.all(this.#running)
    await this.#advance().catch(() => {})
  }

  async #read(): Promise<void> {
    const { outdated, place, shard, stopping, time } = this.#options
    while (this.#pending < MOST_PENDING && !stopping.aborted) {
      await time.turn()
      const read = await readCopied(shard, place, { from: this.#next, most: ENTRIES })
      if (!read) return
      if (this.#entries.length === 0) this.#forgotten = read.forgotten
      if (this.#forgotten !== read.forgotten) return outdated()
      if (read.entries.length === 0) return
      time.run(() => read.entries.forEach((bytes, index) => this.#add(read.first + index, bytes)))
      this.#next = read.first + read.entries.length
      if (read.entries.length < ENTRIES) return
    }
  }

  #add(number: number, bytes: Buffer): void {
    const { isWanted, receiver } = this.#options
    const fixes = fixesIn(bytes)
    const known = fixes.filter((fix) => fix !== undefined).filter(isWanted)
    const { length } = known
    const entry = {
      number,
      mark: entryMark(bytes),
      fixes: fixes.length,
      left: length,
      discarded: fixes.length - length,
      parked: [],
      isGone: false,
    }
    this.#entries.push(entry)
    this.#pending += known.length
    for (const fix of known) {
      const name = this.#apart.get(fix.device) ?? receiver.queueOf(fix)
      const queue = this.#queues.get(name) ?? { name, items: [], suspects: 0, tries: 0, failedSince: 0 }
      queue.items.push({ fix, entry })
      if (this.#queues.has(name)) continue
      this.#queues.set(name, queue)
      this.#start(queue)
    }
    if (known.length === 0) void this.#advance().catch(() => {})
  }

  #start(queue: Queue): void {
    const run: Promise<void> = this.#run(queue).finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  /** Sends a queue until it is empty: one request at a time, in order. */
  async #run(queue: Queue): Promise<void> {
    const { aborting, gate, isHeld, place, receiver, stopping, time } = this.#options
    // Fixes that are added in the same turn share one request.
    await Promise.resolve()
    while (!stopping.aborted && queue.items.length > 0) {
      await time.turn()
      let batch: readonly QueuedFix[] = []
      const maySend = async () => {
        if (!isHeld() || !(await this.#isCurrent())) return false
        batch = this.#batchOf(queue)
        return batch.length > 0 && isHeld()
      }
      const send = () => {
        const fixes = batch.map(({ fix }) => fix)
        return time.run(() => receiver.send(companyOfLog(place.log), fixes, aborting))
      }
      const answer = await gate.run(maySend, send, stopping).catch(() => 'unknown' as const)
      if (aborting.aborted || (!answer && !isHeld())) break
      // Redis does not answer: it is not known whether the fixes were deleted.
      if (answer === 'unknown') await gate.pause(1, stopping)
      else if (answer) await this.#answered(queue, batch, answer)
    }
    this.#queues.delete(queue.name)
    for (const [device, name] of this.#apart) if (name === queue.name) this.#apart.delete(device)
  }

  /** Resolves to whether no fix was deleted from the log since its entries were read. Rejects if Redis does not answer. */
  async #isCurrent(): Promise<boolean> {
    const { outdated, place, shard } = this.#options
    const isCurrent = (await forgottenIn(shard, place.log)) === this.#forgotten
    if (!isCurrent) outdated()
    return isCurrent
  }

  /** Returns the fixes of the next request, without those that were discarded in the meantime. */
  #batchOf(queue: Queue): QueuedFix[] {
    const { most } = this.#options.receiver
    while (queue.items[0]?.entry.isGone) queue.items.shift()
    const size = queue.suspects > 0 ? Math.max(1, queue.suspects >> 1) : most
    const batch = queue.items.slice(0, Math.min(size, most))
    return batch.some(({ entry }) => entry.isGone)
      ? batch.slice(
          0,
          batch.findIndex(({ entry }) => entry.isGone),
        )
      : batch
  }

  async #answered(queue: Queue, batch: readonly QueuedFix[], answer: ReceiverAnswer): Promise<void> {
    const { gate, stopping } = this.#options
    if (answer.to === 'delivered') return this.#delivered(queue, batch)
    if (answer.to === 'refuse') return this.#refused(queue, batch, answer)
    queue.tries++
    if (queue.tries === 1) queue.failedSince = performance.now()
    const { leastMs, mayBeFixes, reason } = answer
    // Other fixes are accepted, so these fixes are the cause.
    const isAlone = mayBeFixes && queue.tries >= TRIES_ALONE && gate.deliveredAt > queue.failedSince
    if (isAlone && this.#devicesIn(queue).size === 1)
      return this.#refused(queue, batch, { status: 0, message: `tried ${queue.tries} times: ${english(reason)}` })
    if (mayBeFixes && queue.tries % TRIES_TOGETHER === 0) this.#splitUp(queue)
    await gate.pause(queue.tries, stopping, leastMs)
  }

  #delivered(queue: Queue, batch: readonly QueuedFix[]): void {
    queue.tries = 0
    queue.suspects = Math.max(0, queue.suspects - batch.length)
    this.#settle(queue, batch)
  }

  /** Halves a refused batch until the refused fix is found, which is parked. */
  #refused(queue: Queue, batch: readonly QueuedFix[], { status, message, isWhole }: FixRefusal): void {
    if (batch.length > 1 && !isWhole) return void (queue.suspects = batch.length)
    queue.suspects = 0
    queue.tries = 0
    const { log } = this.#options.place
    for (const { entry, fix } of batch) entry.parked.push(packParked({ at: Date.now(), status, message, log, fix }))
    this.#settle(queue, batch)
  }

  #settle(queue: Queue, batch: readonly QueuedFix[]): void {
    queue.items.splice(0, batch.length)
    const counted = batch.filter(({ entry }) => !entry.isGone)
    for (const { entry } of counted) entry.left--
    this.#progress(counted.length)
  }

  /** Moves the second half of a queue's devices to a queue of their own, so that a failing one stops fewer others. */
  #splitUp(queue: Queue): void {
    const devices = [...this.#devicesIn(queue)]
    if (devices.length < 2) return
    const name = `apart ${this.#split++}`
    const moved = new Set(devices.slice(devices.length >> 1))
    for (const device of moved) this.#apart.set(device, name)
    const items = queue.items.filter(({ fix }) => moved.has(fix.device))
    queue.items = queue.items.filter(({ fix }) => !moved.has(fix.device))
    queue.suspects = 0
    const other = { name, items, suspects: 0, tries: 0, failedSince: 0 }
    this.#queues.set(name, other)
    this.#start(other)
  }

  #devicesIn({ items }: Queue): Set<string> {
    return new Set(items.map(({ fix }) => fix.device))
  }

  #progress(count: number): void {
    this.#pending -= count
    void this.#advance().catch(() => {})
    const hasRoom = this.#pending < MOST_PENDING / 2 && this.#pending + count >= MOST_PENDING / 2
    if (hasRoom) void this.look().catch(() => {})
  }

  /** Advances the cursor past settled entries, one call at a time. Rejects if Redis does not answer. */
  #advance(): Promise<void> {
    this.#advancing ??= this.#moveCursor().finally(() => (this.#advancing = undefined))
    return this.#advancing
  }

  async #moveCursor(): Promise<void> {
    const { outdated, place, shard, token } = this.#options
    // Requests that end in the same turn are counted together.
    await Promise.resolve()
    for (;;) {
      const open = this.#entries.findIndex(({ left }) => left > 0)
      const settled = this.#entries.slice(0, Math.min(open < 0 ? this.#entries.length : open, MOST_SETTLED))
      if (settled.length === 0) return
      const [first] = settled
      const to = first.number + settled.length
      const passed = sum(settled, ({ fixes }) => fixes)
      const discarded = sum(settled, (entry) => entry.discarded)
      const parked = settled.flatMap((entry) => entry.parked)
      const delivered = passed - discarded - parked.length
      const last = settled[settled.length - 1].mark
      const counts = { last, passed, delivered, discarded, parked }
      const moved = { token, forgotten: this.#forgotten, from: first.number, to, ...counts }
      const cursor = await advanceCopy(shard, place, moved)
      if (cursor === to) this.#entries.splice(0, settled.length)
      else if (cursor === undefined || cursor > first.number) this.#discardedUntil(cursor ?? Infinity)
      // Another worker has the turn, fixes were deleted, or a new primary has another cursor or other entries.
      else return outdated()
    }
  }

  /** Another process has discarded the fixes before an entry: drops them here. */
  #discardedUntil(number: number): void {
    while (this.#entries.length > 0 && this.#entries[0].number < number) {
      const [entry] = this.#entries.splice(0, 1)
      entry.isGone = true
      this.#pending -= entry.left
    }
    this.#next = Math.max(this.#next, number === Infinity ? 0 : number)
  }
}

interface ReadEntry {
  readonly number: number
  readonly mark: string
  readonly fixes: number
  /** Fixes that were deleted, or that the copy does not get by its settings. */
  readonly discarded: number
  /** Fixes that are neither delivered nor parked. */
  left: number
  readonly parked: Buffer[]
  /** Its fixes were discarded after they were read. */
  isGone: boolean
}

type FixRefusal = RefusalReason & { readonly isWhole?: boolean }

interface QueuedFix {
  readonly fix: CopiedFix
  readonly entry: ReadEntry
}

interface Queue {
  readonly name: string
  items: QueuedFix[]
  /** The first fixes, up to this number, contain at least one that is refused. */
  suspects: number
  /** Requests that failed in a row, since when (`performance.now()`). */
  tries: number
  failedSince: number
}

function sum<Each>(all: readonly Each[], of: (each: Each) => number): number {
  return all.reduce((total, each) => total + of(each), 0)
}

/** Entries read in one call. */
const ENTRIES = 32
/** Fixes that are read and neither delivered nor parked, after which no more are read. */
const MOST_PENDING = 4000
/** Entries that the cursor passes in one call. */
const MOST_SETTLED = 500
/** Failures after which a queue of several devices is split, and after which one of a single device counts as refused if others get through. */
const TRIES_TOGETHER = 3
const TRIES_ALONE = 6
