/** So many tokens a second in the long run, and so many at once. */
export interface TokenRate {
  readonly perSecond: number
  readonly burst: number
}

/**
 * Bounds a rate. Taking always succeeds, since what was read is read; who takes more than there is waits until the debt is
 * paid back. One number is the whole state: until when the tokens that were taken are paid.
 */
export class TokenBucket {
  readonly #rate: TokenRate
  #paidUntil = Number.NEGATIVE_INFINITY

  constructor(rate: TokenRate) {
    this.#rate = rate
  }

  /**
   * Takes tokens at `now`, ms of a clock that never goes back. Answers in how many ms the debt is paid back, 0: there is
   * none; at most `MAX_DEBT_MS`, however much is taken.
   */
  take(tokens: number, now: number): number {
    const { burst, perSecond } = this.#rate
    const full = now - (burst / perSecond) * 1000
    const paidUntil = Math.max(this.#paidUntil, full) + (tokens / perSecond) * 1000
    this.#paidUntil = Math.min(paidUntil, now + MAX_DEBT_MS)
    return Math.max(0, this.#paidUntil - now)
  }

  /** Takes tokens where there is no debt; answers whether it did. */
  admit(tokens: number, now: number): boolean {
    if (this.#paidUntil > now) return false
    this.take(tokens, now)
    return true
  }
}

/** Nobody pays longer for what others of the same network have taken. */
export const MAX_DEBT_MS = 30_000

/**
 * Values by key, of which those in use are kept: a value that was not asked for during two generations is forgotten. A
 * generation ends when it has `max` values, or after `lastsMs`.
 */
export class RecentlyUsed<Value> {
  readonly #max: number
  readonly #lastsMs: number
  #younger = new Map<string, Value>()
  #older = this.#younger
  #since = 0

  constructor(max: number, lastsMs: number) {
    this.#max = max
    this.#lastsMs = lastsMs
  }

  /** How many values are kept. */
  get size(): number {
    return this.#younger.size + (this.#older === this.#younger ? 0 : this.#older.size)
  }

  /** The value of a key, made where there is none. `now`: ms of a clock that never goes back. */
  get(key: string, now: number, make: () => Value): Value {
    const known = this.#younger.get(key)
    if (known !== undefined) return known
    const value = this.#older.get(key) ?? make()
    if (this.#younger.size >= this.#max || now - this.#since > this.#lastsMs) {
      this.#older = this.#younger
      this.#younger = new Map()
      this.#since = now
    }
    this.#younger.set(key, value)
    return value
  }
}
