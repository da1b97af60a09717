interface DeafTime {
  readonly from: number
  readonly until: number
}

/** The latest times in which no device could be heard: nothing took messages, or our clock was set forward. ms UTC. */
export class DeafTimes {
  #times: readonly DeafTime[] = []

  /** Adds a time. One that has gone on since it was added last is added again as a whole. */
  add(from: number, until: number): void {
    if (until <= from) return
    const others = this.#times.filter((time) => time.until < from || time.from > until)
    const met = this.#times.filter((time) => !others.includes(time))
    const whole = {
      from: Math.min(from, ...met.map((time) => time.from)),
      until: Math.max(until, ...met.map((time) => time.until)),
    }
    this.#times = [...others, whole].slice(-MOST)
  }

  /** Returns how long no device could be heard within a time, ms. */
  within(from: number, until: number): number {
    return this.#times.reduce((sum, time) => {
      return sum + Math.max(0, Math.min(until, time.until) - Math.max(from, time.from))
    }, 0)
  }
}

const MOST = 20
