import type { UnfinishedMessage } from '../../../protocols/kit/index.ts'
import type { Conversation } from '../conversation.ts'

/**
 * The split messages that sessions have not completed. They share the memory budget of incomplete frames. A message that is
 * not complete after a minute is dropped; at most eight sessions of a device may have one.
 */
export class UnfinishedMessages {
  readonly #setPartial: (sender: KeptSession, bytes: number) => void
  readonly #now: () => number
  readonly #kept = new Map<Conversation, KeptSession>()
  readonly #byDevice = new Map<string, Set<Conversation>>()
  #sweeping: NodeJS.Timeout | undefined

  /** `now`: a clock in ms that never goes back. */
  constructor(
    setPartial: (sender: KeptSession, bytes: number) => void,
    now: () => number = performance.now.bind(performance),
  ) {
    this.#setPartial = setPartial
    this.#now = now
  }

  /** How many there are. */
  get size(): number {
    return this.#kept.size
  }

  /** Looks at what a session keeps, after one of its frames. */
  look(session: Conversation): void {
    const { unfinished } = session
    if (unfinished === undefined && this.#kept.size === 0) return
    const kept = this.#kept.get(session)
    if (kept && kept.message !== unfinished) this.#forget(session, kept)
    if (!unfinished) return
    if (kept?.message === unfinished) this.#setPartial(kept, unfinished.bytes)
    else this.#keep(session, unfinished)
  }

  /** Drops what a session keeps: it has ended, or may not keep anything. */
  drop(session: Conversation): void {
    session.dropUnfinished()
    this.look(session)
  }

  #keep(session: Conversation, message: UnfinishedMessage): void {
    const { device } = session
    if (device !== undefined && !this.#hasPlace(device, session)) return session.dropUnfinished()
    const kept: KeptSession = {
      message,
      session,
      device,
      since: this.#now(),
      partialBytes: 0,
      abort: () => this.drop(session),
    }
    this.#kept.set(session, kept)
    if (device !== undefined) this.#byDevice.set(device, (this.#byDevice.get(device) ?? new Set()).add(session))
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
    this.#setPartial(kept, message.bytes)
  }

  /** Returns whether another session of a device may keep a message. A session with proof takes the place of one without. */
  #hasPlace(device: string, { isProved }: Conversation): boolean {
    const others = this.#byDevice.get(device)
    if (!others || others.size < MAX_SESSIONS) return true
    const weaker = isProved ? others.values().find((other) => !other.isProved) : undefined
    if (weaker) this.drop(weaker)
    return weaker !== undefined
  }

  #forget(session: Conversation, kept: KeptSession): void {
    this.#kept.delete(session)
    this.#setPartial(kept, 0)
    const { device = '' } = kept
    const others = this.#byDevice.get(device)
    others?.delete(session)
    if (others?.size === 0) this.#byDevice.delete(device)
  }

  #sweep(): void {
    const before = this.#now() - MAX_AGE_MS
    for (const [session, { since }] of this.#kept) if (since <= before) this.drop(session)
    if (this.#kept.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}

/** The parts that one session keeps, counted like a sender with an incomplete frame. */
interface KeptSession {
  partialBytes: number
  readonly session: Conversation
  abort(): void
  readonly message: UnfinishedMessage
  readonly device: string | undefined
  /** When its first part came. */
  readonly since: number
}

const MAX_AGE_MS = 60_000
const SWEEP_MS = 1000
const MAX_SESSIONS = 8
