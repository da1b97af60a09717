interface DeafTime {
  readonly from: number
  readonly until: number
}

/**
 * The latest times in which no device could be heard: nothing took messages, or our clock was set forward; and those in
 * which none could by way of a broker. ms UTC.
 */
export class DeafTimes {
  readonly #times: Record<DeafWay, readonly DeafTime[]> = { any: [], bridge: [] }

  /** Adds a time. One that has gone on since it was added last is added again as a whole. */
  add(from: number, until: number, way: DeafWay = 'any'): void {
    if (until <= from) return
    const times = this.#times[way]
    const others = times.filter((time) => time.until < from || time.from > until)
    const met = times.filter((time) => !others.includes(time))
    const whole = {
      from: Math.min(from, ...met.map((time) => time.from)),
      until: Math.max(until, ...met.map((time) => time.until)),
    }
    this.#times[way] = [...others, whole].slice(-MOST)
  }

  /** Returns how long no device that comes that way could be heard within a time, ms. */
  within(from: number, until: number, way: DeafWay = 'any'): number {
    const { any, bridge } = this.#times
    const times = way === 'any' ? any : [...any, ...bridge]
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

export type DeafWay = 'any' | 'bridge'

const MOST = 20
