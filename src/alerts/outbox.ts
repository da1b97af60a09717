import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../async.ts'
import type { Finding } from '../diagnose/facts.ts'
import type { Logger } from '../observe/log.ts'

/** What a receiver is told: a finding begins or ends. */
export interface AlertMessage {
  readonly change: 'begins' | 'ends'
  readonly finding: Finding
  /** When it ended, ms UTC. */
  readonly endedAt?: number
}

/** Where messages go. */
export interface AlertTransport {
  /** For the log, without secrets: `webhook hooks.example.com`. */
  readonly name: string
  /** The time for which messages are collected and then sent together; 0: each is sent at once. */
  readonly collectMs: number
  /** Sends messages. Rejects with a sentence without secrets where they have not arrived. */
  send(messages: readonly AlertMessage[], signal: AbortSignal): Promise<void>
  close?(): void
}

/** Time as it passes; tests have their own. */
export interface AlertClock {
  now(): number
  wait(ms: number, signal: AbortSignal): Promise<void>
}

interface QueuedAlert {
  readonly message: AlertMessage
  readonly at: number
  readonly done: () => void
}

/**
 * Sends messages in their order, one after the other. What does not arrive is tried again after 5 s, 10 s, up to 5 min, for an
 * hour, then given up. The log says once that a receiver cannot be reached, and once that it can again.
 */
export class Outbox {
  readonly #transport: AlertTransport
  readonly #logger: Logger
  readonly #clock: AlertClock
  readonly #closing = new AbortController()
  #waiting: QueuedAlert[] = []
  #sending: Promise<void> | undefined
  #failures = 0

  constructor(transport: AlertTransport, logger: Logger, clock: AlertClock = REAL_TIME) {
    this.#transport = transport
    this.#logger = logger
    this.#clock = clock
  }

  /** Takes a message, unless too many wait. `done`: it was sent, or is given up. Answers whether it is taken. */
  add(message: AlertMessage, done: () => void): boolean {
    if (this.#waiting.length >= MOST_WAITING || this.#closing.signal.aborted) return false
    this.#waiting.push({ message, at: this.#clock.now(), done })
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
    return true
  }

  /** Aborts what is under way, or leaves it after a second. */
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
    const next = this.#waiting.slice(0, this.#transport.collectMs > 0 ? undefined : 1)
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_SEND_MS)])
    try {
      await this.#transport.send(
        next.map(({ message }) => message),
        limit,
      )
    } catch (error) {
      if (!signal.aborted) await this.#failed(next, (error as Error).message)
      return
    }
    if (this.#failures > 0) this.#logger.info(`alerts: ${this.#transport.name} is told again`)
    this.#failures = 0
    this.#end(next)
  }

  async #failed(tried: readonly QueuedAlert[], reason: string): Promise<void> {
    const { name } = this.#transport
    if (this.#failures++ === 0)
      this.#logger.error({ reason }, `alerts: ${name} is not told of findings; it is tried again for an hour`)
    const old = tried.filter(({ at }) => this.#clock.now() - at >= GIVE_UP_MS)
    if (old.length > 0) {
      this.#logger.warn({ reason, messages: old.length }, `alerts: messages to ${name} are given up after an hour`)
      this.#end(old)
    }
    const delay = Math.min(FIRST_DELAY_MS * 2 ** (this.#failures - 1), MAX_DELAY_MS)
    await this.#clock.wait(delay, this.#closing.signal).catch(() => {})
  }

  #end(sent: readonly QueuedAlert[]): void {
    this.#waiting = this.#waiting.filter((each) => !sent.includes(each))
    for (const { done } of sent) done()
  }
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
