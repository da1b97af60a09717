import { randomUUID } from 'node:crypto'
import type { Copy } from '../config/copies.ts'
import type { Logger } from '../observe/log.ts'
import {
  companyOfLog,
  type CopiedFix,
  type CopySurvey,
  endRetry,
  holdCopy,
  isParked,
  jobFaults,
  parkedCopies,
  readParked,
  releaseCopy,
  settleParked,
  type Shard,
} from '../store/index.ts'
import type { Gate } from './gate.ts'
import { LogDelivery } from './log-delivery.ts'
import type { Receiver } from './receiver.ts'
import { isOfCopy, logsToSend } from './routes.ts'
import type { TimeShare } from './time-share.ts'

export interface CopyDeliveryOptions {
  readonly copy: Copy
  /** The logs that it gets. */
  readonly gets: ReadonlySet<string>
  readonly shard: Shard
  readonly receiver: Receiver
  readonly gate: Gate
  readonly time: TimeShare
  readonly logger: Logger
}

/** Sends the fixes of a copy from one shard while this process has the turn: one worker at a time sends. */
export class CopyDelivery {
  readonly #options: CopyDeliveryOptions
  readonly #token = randomUUID()
  #logs = new Map<string, LogDelivery>()
  #stopping = new AbortController()
  readonly #aborting = new AbortController()
  /** Until when the turn surely holds, by `performance.now()`. */
  #until = -Infinity
  #renewAt = -Infinity
  /** What was read must not be sent any more: another worker may have the turn, or fixes were deleted. */
  #isStale = false
  #isClosing = false
  #resetting: Promise<void> | undefined
  #retrying: Promise<void> | undefined

  constructor(options: CopyDeliveryOptions) {
    this.#options = options
  }

  /** Sends the fixes that wait in the logs of the shard. Call it often. Rejects if Redis does not answer. */
  async look({ counts, logs }: CopySurvey): Promise<void> {
    if (this.#isClosing) return
    const isHeld = await this.#hold()
    if (this.#isStale) this.#resetting ??= this.#reset().finally(() => (this.#resetting = undefined))
    if (!isHeld || this.#isStale || this.#isClosing) return
    const { copy, gets } = this.#options
    // Reading starts again at the cursor.
    for (const [log, delivery] of this.#logs) if (delivery.isIdle) this.#logs.delete(log)
    const waiting = logsToSend(copy.name, gets, logs).filter(({ cursors, fixes, log }) => {
      return this.#logs.has(log) || (cursors.get(copy.name)?.fix ?? fixes) < fixes
    })
    await Promise.all(waiting.map(({ log }) => this.#delivery(log).look()))
    const parked = counts.get(`${copy.name} retry`) ?? 0
    if (parked > 0) this.#retrying ??= this.#retry(parked).finally(() => (this.#retrying = undefined))
  }

  /** Ends once the requests under way have ended, after `ms` in any case, and gives the turn away. */
  async close(ms: number): Promise<void> {
    this.#isClosing = true
    this.#stopping.abort()
    const timer = setTimeout(() => this.#aborting.abort(), ms)
    await Promise.all([this.#resetting, this.#retrying, ...Array.from(this.#logs.values(), (log) => log.settled())])
    clearTimeout(timer)
    const { copy, shard } = this.#options
    if (this.#until > performance.now()) await releaseCopy(shard, copy.name, this.#token).catch(() => {})
  }

  /**
   * Tries parked fixes once more, each on its own. Those that are refused again stay parked; those that the copy does not get by its settings
   * any more are discarded. Goes on later if it is interrupted.
   */
  async #retry(most: number): Promise<void> {
    const { copy, gate, gets, logger, receiver, shard } = this.#options
    const stopping = this.#stopping.signal
    try {
      for (const entry of await parkedCopies(shard, copy.name, most)) {
        const { fix, log } = readParked(entry)
        if (!isOfCopy(log, gets) || !this.#isWanted(fix)) {
          await settleParked(shard, copy.name, entry, 'discarded')
          continue
        }
        let isThere = true
        const maySend = async () => {
          isThere = await isParked(shard, copy.name, entry)
          return isThere && this.#isHeld()
        }
        const send = () => receiver.send(companyOfLog(log), [fix], this.#aborting.signal)
        const answer = await gate.run(maySend, send, stopping)
        if (!isThere) continue
        if (answer?.to === 'retry') await gate.pause(1, stopping, answer.leastMs)
        if (!answer || answer.to === 'retry') return
        if (answer.to === 'delivered') await settleParked(shard, copy.name, entry, 'delivered')
      }
      await endRetry(shard, copy.name, most)
    } catch (error) {
      jobFaults(logger)(error, 'parked fixes of a copy')
    }
  }

  #delivery(log: string): LogDelivery {
    const known = this.#logs.get(log)
    if (known) return known
    const { copy, gate, receiver, shard, time } = this.#options
    const delivery = new LogDelivery({
      shard,
      place: { copy: copy.name, log },
      receiver,
      gate,
      time,
      token: this.#token,
      stopping: this.#stopping.signal,
      aborting: this.#aborting.signal,
      isHeld: () => this.#isHeld(),
      outdated: () => void (this.#isStale = true),
      isWanted: (fix) => this.#isWanted(fix),
    })
    this.#logs.set(log, delivery)
    return delivery
  }

  #isWanted({ route }: CopiedFix): boolean {
    return route !== undefined || this.#options.copy.without_route
  }

  /** Another worker may send once the turn has ended: then everything that was read is read again. */
  #isHeld(): boolean {
    if (performance.now() >= this.#until) this.#isStale = true
    return !this.#isStale
  }

  /** Reads everything again once the requests under way have ended. */
  async #reset(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(Array.from(this.#logs.values(), (log) => log.settled()))
    if (this.#isClosing) return
    this.#logs = new Map()
    this.#stopping = new AbortController()
    this.#isStale = false
  }

  async #hold(): Promise<boolean> {
    const now = performance.now()
    if (now < this.#renewAt && now < this.#until) return true
    const { copy, shard } = this.#options
    const isHeld = await holdCopy(shard, copy.name, { token: this.#token, ms: TURN_MS })
    // Another worker has the turn, or may have had it in between.
    if ((!isHeld || now > this.#until) && this.#logs.size > 0) this.#isStale = true
    if (!isHeld) return false
    this.#until = now + TURN_MS
    this.#renewAt = now + RENEW_MS
    return true
  }
}

/** How long a turn holds that is not renewed: a worker that was killed keeps others from sending for so long. */
const TURN_MS = 10_000
const RENEW_MS = 3000
