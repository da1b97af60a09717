/** Notices that the clock was set, or the machine was suspended. */
export class ClockJumps {
  #last = { now: Date.now(), at: performance.now() }

  /** Returns by how much the clock has jumped since the last call, ms, if by more than five seconds; else 0. */
  take(now: number): number {
    const before = this.#last
    this.#last = { now, at: performance.now() }
    const jump = now - before.now - (this.#last.at - before.at)
    return Math.abs(jump) > JUMP_MS ? jump : 0
  }
}

const JUMP_MS = 5000
