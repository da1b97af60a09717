/**
 * Values by key, which forgets those that are not in use: a value that was not set during two generations. A generation
 * ends when it has `max` values, or after `lastsMs`.
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

  get(key: string): Value | undefined {
    return this.#younger.get(key) ?? this.#older.get(key)
  }

  /** `now`: ms of a clock that never goes back. */
  set(key: string, value: Value, now: number): void {
    if (this.#younger.size >= this.#max || now - this.#since > this.#lastsMs) {
      this.#older = this.#younger
      this.#younger = new Map()
      this.#since = now
    }
    this.#younger.set(key, value)
  }
}
