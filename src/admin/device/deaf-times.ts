interface DeafTime {
  readonly from: number
  readonly until: number
}

/**
 * The latest times in which no device could be heard, since nothing took messages or our clock was set forward, and those
 * in which none could that comes by a bridge. ms UTC.
 */
export class DeafTimes {
  /** The key is a bridge, as the `remote` of a contact names it; undefined: the times in which no device at all could be heard. */
  readonly #times = new Map<string | undefined, readonly DeafTime[]>()

  /**
   * Adds a time until now. One that has gone on since it was added last is added again as a whole. If it begins later, the
   * clock was set back: what was noted of later does not count.
   */
  add(from: number, until: number, bridge?: string): void {
    if (until < from) this.#cut(until)
    if (until <= from) return
    const times = this.#times.get(bridge) ?? []
    const others = times.filter((time) => time.until < from || time.from > until)
    const met = times.filter((time) => !others.includes(time))
    const whole = {
      from: Math.min(from, ...met.map((time) => time.from)),
      until: Math.max(until, ...met.map((time) => time.until)),
    }
    this.#times.set(bridge, [...others, whole].slice(-MOST))
  }

  /** Returns when the last time ended in which a bridge was down, ms UTC; -Infinity: it never was. */
  endOf(bridge: string): number {
    return Math.max(...(this.#times.get(bridge) ?? []).map(({ until }) => until))
  }

  #cut(now: number): void {
    for (const [bridge, times] of this.#times)
      this.#times.set(
        bridge,
        times.flatMap((time) => (time.from < now ? [{ from: time.from, until: Math.min(time.until, now) }] : [])),
      )
  }

  /** Returns how long a device could not be heard within a time, ms. `remote`: of its last contact. */
  within(from: number, until: number, remote: string): number {
    const times = [undefined, remote].flatMap((bridge) => this.#times.get(bridge) ?? [])
    let counted = from
    let sum = 0
    // Times may overlap.
    for (const time of times.toSorted((one, other) => one.from - other.from)) {
      const begin = Math.max(counted, time.from)
      const end = Math.min(until, time.until)
      if (end <= begin) continue
      sum += end - begin
      counted = end
    }
    return sum
  }
}

const MOST = 20
