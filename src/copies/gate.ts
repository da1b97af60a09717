import { setTimeout as sleep } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'
import { inTurns } from '../async.ts'
import type { RefusalReason } from '../store/index.ts'
import { answerText, type Text } from '../texts/text.ts'
import type { ReceiverAnswer } from './receiver.ts'

export interface GateOptions {
  /** Requests at once. */
  readonly concurrency: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
}

/**
 * Through it go all requests to one receiver. While the receiver fails there is one request at a time, each after a delay that
 * grows, and the queues take turns: so queues that it would take are found.
 */
export class Gate {
  readonly #options: GateOptions
  readonly #limit: LimitFunction
  readonly #inTurn = inTurns()
  #failures = 0
  #opensAt = 0
  /** Consecutive answers that refuse. */
  #refusals = 0
  #recovered = Promise.withResolvers<void>()
  /** Why the last request failed, and since when all do, ms UTC. */
  failing: { readonly reason: Text; readonly since: number; readonly tries: number } | undefined
  /** When it took something last, by `performance.now()`. */
  deliveredAt = -Infinity

  constructor(options: GateOptions) {
    this.#options = options
    this.#limit = pLimit(options.concurrency)
  }

  /** Sends a request when its turn comes; undefined: it was aborted before, or may not be sent by then. Rejects if `maySend` does. */
  run(
    maySend: () => Promise<boolean>,
    send: () => Promise<ReceiverAnswer>,
    signal: AbortSignal,
  ): Promise<ReceiverAnswer | undefined> {
    const request = { maySend, send, signal }
    return this.#limit(() => (this.#isFailing ? this.#inTurn(() => this.#late(request)) : this.#now(request)))
  }

  /**
   * Waits before a queue that has failed this often in a row is tried again. Ends early if the receiver has recovered, but
   * never before the time that the receiver asked for.
   */
  async pause(tries: number, signal: AbortSignal, leastMs = 0): Promise<void> {
    const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {})
    const recovered = this.#recovered.promise
    const askedMs = Math.min(leastMs, MOST_ASKED_MS)
    if (askedMs > 0) await wait(askedMs)
    await Promise.race([wait(Math.max(0, this.#delay(tries) - askedMs)), recovered])
  }

  get #isFailing(): boolean {
    return this.#failures >= FAILURES
  }

  async #late(request: GateRequest): Promise<ReceiverAnswer | undefined> {
    const ms = this.#opensAt - performance.now()
    if (ms > 0) await sleep(ms, undefined, { signal: request.signal }).catch(() => {})
    return this.#now(request)
  }

  async #now({ maySend, send, signal }: GateRequest): Promise<ReceiverAnswer | undefined> {
    if (signal.aborted || !(await maySend()) || signal.aborted) return undefined
    const answer = await send()
    if (answer.to === 'retry') this.#failed(answer.reason, answer.leastMs)
    else if (answer.to === 'delivered') this.#delivered()
    else this.#refused(answer)
    return answer
  }

  #refused({ status, message }: RefusalReason): void {
    this.#refusals++
    if (this.#refusals >= REFUSALS) {
      // It refuses all: it is asked less and less often, so that not all is parked.
      this.#failed(answerText(status, message))
      this.#failures = Math.max(this.#failures, FAILURES)
    } else {
      this.#failures = 0
      this.failing = undefined
    }
  }

  #failed(reason: Text, leastMs = 0): void {
    this.#failures++
    const delay = Math.max(leastMs, this.#delay(this.#failures - FAILURES + 1))
    this.#opensAt = performance.now() + Math.min(delay, MOST_ASKED_MS)
    this.failing = { reason, since: this.failing?.since ?? Date.now(), tries: (this.failing?.tries ?? 0) + 1 }
  }

  #delivered(): void {
    const wasFailing = this.#isFailing
    this.#failures = 0
    this.#refusals = 0
    this.failing = undefined
    this.deliveredAt = performance.now()
    if (!wasFailing) return
    this.#recovered.resolve()
    this.#recovered = Promise.withResolvers<void>()
  }

  #delay(tries: number): number {
    const { firstDelayMs, maxDelayMs } = this.#options
    const ms = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(Math.max(0, tries - 1), 30))
    return ms * (0.8 + Math.random() * 0.4)
  }
}

interface GateRequest {
  readonly maySend: () => Promise<boolean>
  readonly send: () => Promise<ReceiverAnswer>
  readonly signal: AbortSignal
}

/** Failures in a row after which it counts as failing; answers in a row that refuse. */
const FAILURES = 3
const REFUSALS = 8
/** The longest delay that `Retry-After` may ask for. */
const MOST_ASKED_MS = 600_000
