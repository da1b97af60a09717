import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../async.ts'
import type { Logger } from '../observe/log.ts'
import { english, type Text } from '../texts/text.ts'
import type { DayReport } from './day-report.ts'
import type { AlertMessage } from './formats.ts'

/** Where messages go. */
export interface AlertTransport {
  /** For the log, without secrets: `webhook hooks.example.com`. */
  readonly name: string
  /** How long messages are collected before they are sent together, ms; 0: each is sent at once. */
  readonly collectMs: number
  readonly mostAtOnce: number
  /** A holding incident is sent again after this time, ms; undefined: never. */
  readonly repeatMs?: number
  /** Sends messages. Rejects with `NotDelivered` if they have not arrived. */
  send(messages: readonly AlertMessage[], signal: AbortSignal): Promise<void>
  /** Sends the report of a day. Rejects like `send`. */
  report(report: DayReport, signal: AbortSignal): Promise<void>
  /** Sends a message that says that nothing is wrong. Rejects like `send`. */
  test(signal: AbortSignal): Promise<void>
  close?(): void
}

/** Why messages have not arrived, without secrets. */
export class NotDelivered extends Error {
  readonly reason: Text

  constructor(reason: Text) {
    super(english(reason))
    this.reason = reason
  }
}

/** A receiver that fails. */
export interface DeliveryFailure {
  /** When the first of the consecutive failures happened, ms UTC. */
  readonly sinceAt: number
  /** Tries since then. */
  readonly tries: number
  readonly reason: Text
}

/** A clock; tests have their own. */
export interface AlertClock {
  now(): number
  wait(ms: number, signal: AbortSignal): Promise<void>
}

interface QueuedAlert {
  readonly message: AlertMessage
  readonly at: number
  readonly done: (isSent: boolean) => void
}

/**
 * Sends messages in order. Retries a failed one after 5 s, 10 s, up to 5 min; after an hour returns it to its caller, who
 * writes it anew. Logs once that a receiver cannot be reached, and once that it can be again.
 */
export class Outbox {
  readonly #transport: AlertTransport
  readonly #logger: Logger
  readonly #clock: AlertClock
  readonly #closing = new AbortController()
  /** Ends a wait for the next try. */
  #hurry = new AbortController()
  #waiting: QueuedAlert[] = []
  #sending: Promise<void> | undefined
  #failures = 0
  #failure: DeliveryFailure | undefined

  constructor(transport: AlertTransport, logger: Logger, clock: AlertClock = REAL_TIME) {
    this.#transport = transport
    this.#logger = logger
    this.#clock = clock
  }

  /** Why the last message has not arrived; undefined: it has. */
  get failure(): DeliveryFailure | undefined {
    return this.#failure
  }

  /** Restores the failure of the receiver from before this process started. */
  restore(failure: DeliveryFailure): void {
    this.#failure ??= failure
  }

  /** Takes a message, unless too many wait. `done`: it was sent, or not within an hour. Returns whether it is taken. */
  add(message: AlertMessage, done: (isSent: boolean) => void): boolean {
    if (this.#waiting.length >= MOST_WAITING || this.#closing.signal.aborted) return false
    this.#waiting.push({ message, at: this.#clock.now(), done })
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
    return true
  }

  /** Sends a test at once; if it arrives, sends waiting messages too. Resolves to the reason of a failure, or undefined. */
  async test(): Promise<Text | undefined> {
    try {
      await this.#transport.test(AbortSignal.any([this.#closing.signal, AbortSignal.timeout(MAX_SEND_MS)]))
    } catch (error) {
      return reasonOf(error)
    }
    this.#arrived()
    this.#hurry.abort()
    return undefined
  }

  /** Aborts requests in flight, or gives up after a second. */
  async close(): Promise<void> {
    this.#closing.abort()
    await within(LAST_SEND_MS, Promise.resolve(this.#sending))
    this.#transport.close?.()
  }

  async #sendAll(): Promise<void> {
    const { signal } = this.#closing
    const { collectMs } = this.#transport
    while (this.#waiting.length > 0 && !signal.aborted) {
      if (collectMs > 0 && this.#failures === 0) await this.#clock.wait(collectMs, signal).catch(() => {})
      if (!signal.aborted) await this.#sendNext()
    }
  }

  async #sendNext(): Promise<void> {
    const { signal } = this.#closing
    const next = this.#waiting.slice(0, this.#transport.mostAtOnce)
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_SEND_MS)])
    try {
      await this.#transport.send(
        next.map(({ message }) => message),
        limit,
      )
    } catch (error) {
      if (!signal.aborted) await this.#failed(next, reasonOf(error))
      return
    }
    this.#arrived()
    this.#end(next, true)
  }

  #arrived(): void {
    if (this.#failures > 0) this.#logger.info(`alerts: ${this.#transport.name} is told again`)
    this.#failures = 0
    this.#failure = undefined
  }

  async #failed(tried: readonly QueuedAlert[], why: Text): Promise<void> {
    const { name } = this.#transport
    const reason = english(why)
    const { sinceAt = this.#clock.now(), tries = 0 } = this.#failure ?? {}
    this.#failure = { sinceAt, tries: tries + 1, reason: why }
    if (this.#failures++ === 0)
      this.#logger.error({ reason }, `alerts: ${name} is not told of findings; it is tried again until it is`)
    const old = tried.filter(({ at }) => this.#clock.now() - at >= GIVE_UP_MS)
    this.#end(old, false)
    const delay = Math.min(FIRST_DELAY_MS * 2 ** (this.#failures - 1), MAX_DELAY_MS)
    this.#hurry = new AbortController()
    const early = AbortSignal.any([this.#closing.signal, this.#hurry.signal])
    await this.#clock.wait(delay, early).catch(() => {})
  }

  #end(sent: readonly QueuedAlert[], isSent: boolean): void {
    this.#waiting = this.#waiting.filter((each) => !sent.includes(each))
    for (const { done } of sent) done(isSent)
  }
}

/** Why something has not arrived. */
export function reasonOf(error: unknown): Text {
  return error instanceof NotDelivered ? error.reason : (error as Error).message
}

const REAL_TIME: AlertClock = {
  now: Date.now,
  wait: (ms, signal) => sleep(ms, undefined, { signal, ref: false }),
}
const MOST_WAITING = 1000
const MAX_SEND_MS = 10_000
const LAST_SEND_MS = 1000
const FIRST_DELAY_MS = 5000
const MAX_DELAY_MS = 300_000
const GIVE_UP_MS = 3_600_000
