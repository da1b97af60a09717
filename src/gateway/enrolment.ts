import { observations } from '../observe/observations.ts'
import { enrolmentLeft } from '../store/enrolment.ts'
import { type Redis } from '../store/index.ts'
import { say } from '../texts/text.ts'

/** The enrolment window as this gateway knows it: while it is open, devices that are not configured are admitted. */
export class Enrolment {
  readonly #redis: Redis
  /** ms UTC by the clock of this machine; 0: it is closed. */
  #endsAt = 0

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Whether the window is open. It ends in time even while Redis is away. */
  get isOpen(): boolean {
    return Date.now() < this.#endsAt
  }

  /** Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    const leftMs = await enrolmentLeft(this.#redis)
    this.#endsAt = leftMs > 0 ? Date.now() + leftMs : 0
    const evidence = [say('until {}', atMinute(this.#endsAt))]
    if (this.isOpen) observations.noteState('enrolment_open', { subject: {}, evidence, count: 1 })
  }
}

function atMinute(ms: number): string {
  return `${new Date(Math.round(ms / 60_000) * 60_000).toISOString().slice(0, 16)}Z`
}
