import { setImmediate, setTimeout } from 'node:timers/promises'
import { addressOf, networkOf } from '../../domain/addresses.ts'
import { metrics } from '../../observe/metrics.ts'
import { observations } from '../../observe/observations.ts'
import { say, type Text } from '../../texts/text.ts'
import { type TokenRate, takeTokens } from '../admit/flood.ts'
import { RecentlyUsed } from '../recently-used.ts'
import { RoundRobin } from '../round-robin.ts'

/**
 * Bounds the time that a gateway spends on detecting protocols, over all its listeners, to a tenth. Half of it is for
 * datagrams, half for connections and requests, and either may use what the other leaves. Senders with a known protocol need
 * none. Connections and requests wait, the networks in turn. A datagram is dropped: its device sends again.
 */
export class GuessBudget {
  readonly #now: () => number
  readonly #datagrams: TimeAccount
  readonly #turns: TimeAccount
  /** Until when the guesses that each peer of datagrams, and each network of peers, asked for are paid: see `takeTokens`. */
  readonly #peers = new RecentlyUsed<number>(MAX_PEERS / 2, GENERATION_MS)
  readonly #networks = new RecentlyUsed<number>(MAX_PEERS / 2, GENERATION_MS)
  readonly #waiting = new RoundRobin<PendingGuess>()
  #isServing = false
  #clearedAt = Number.NEGATIVE_INFINITY
  #notedAt = Number.NEGATIVE_INFINITY

  /** `now`: a clock in ms that never goes back. */
  constructor(now: () => number = performance.now.bind(performance)) {
    this.#now = now
    this.#datagrams = new TimeAccount(now)
    this.#turns = new TimeAccount(now)
  }

  /**
   * Judges a datagram of a peer, `address:port`, at once; undefined: there is no time for it. A peer that asks more often
   * than once a second, and a network of many such peers, leave half of the time to others, so that a new device is detected
   * even during a flood.
   */
  ofDatagram<Found extends object>(remote: string, look: () => Found): Found | undefined {
    const isGreedy =
      this.#isInDebt(this.#peers, remote, PEER) || this.#isInDebt(this.#networks, networkOf(addressOf(remote)), NETWORK)
    const account = accountOf(this.#datagrams, this.#turns, isGreedy ? HALF : 0)
    if (account) return account.spend(look)
    metrics.refused.inc({ reason: 'guesses' })
    this.#note(say('datagrams from {}', remote))
    return undefined
  }

  /**
   * Looks at what a connection or request of a network has sent, in its turn. Resolves to undefined without a look if the sender
   * is gone by then, or if `mostWaiting` of its network wait already.
   */
  async inTurn<Found>(network: string, guess: Guessing<Found>): Promise<Found | undefined> {
    const { isGone, look, mostWaiting = Number.POSITIVE_INFINITY } = guess
    const free = this.#isServing ? undefined : this.#turnAccount()
    if (free) return free.spend(look)
    if (this.#waiting.waiting(network) >= mostWaiting) {
      metrics.refused.inc({ reason: 'guesses' })
      this.#note(say('requests from {}', network))
      return undefined
    }
    const since = this.#now()
    const account = await new Promise<TimeAccount>((start) => {
      this.#waiting.add(network, { isGone, start })
      if (!this.#isServing) void this.#serve()
    })
    if (this.#now() - since > LONG_MS) this.#note(say('connections from {}', network))
    return isGone() ? undefined : account.spend(look)
  }

  /** Whether the next guess at a connection or request has to wait. */
  get mustWait(): boolean {
    return this.#isServing || this.#turnAccount() === undefined
  }

  #turnAccount(): TimeAccount | undefined {
    return accountOf(this.#turns, this.#datagrams, 0)
  }

  /** Starts one guess in a turn of the event loop, so that other senders are served between them. */
  async #serve(): Promise<void> {
    this.#isServing = true
    for (let next = this.#waiting.next(); next; next = this.#waiting.next()) {
      let account = this.#turnAccount()
      while (!account && !next.isGone()) {
        await setTimeout(PAUSE_MS, undefined, { ref: false })
        this.#letGo()
        account = this.#turnAccount()
      }
      next.start(account ?? this.#turns)
      if (!next.isGone()) await setImmediate()
    }
    this.#isServing = false
  }

  /** Removes waiting connections that have closed, because their bytes would otherwise stay in memory until their turn. */
  #letGo(): void {
    const now = this.#now()
    if (now - this.#clearedAt < CLEARED_EVERY_MS) return
    this.#clearedAt = now
    for (const { start } of this.#waiting.removeGone(({ isGone }) => isGone())) start(this.#turns)
  }

  /** Takes a token of `who` for a guess. Returns whether it had none left. */
  #isInDebt(asked: RecentlyUsed<number>, who: string, rate: TokenRate): boolean {
    const now = this.#now()
    const paidUntil = takeTokens(1, rate, asked.get(who), now)
    asked.set(who, paidUntil, now)
    return paidUntil > now
  }

  /** Notes only a sample of what happens: under a flood it happens with each datagram. */
  #note(evidence: Text): void {
    const now = this.#now()
    if (now - this.#notedAt < NOTED_EVERY_MS) return
    this.#notedAt = now
    observations.note('guesses_refused', { evidence })
  }
}

interface Guessing<Found> {
  readonly isGone: () => boolean
  readonly look: () => Found
  /** How many of a network may wait at once; all without it. */
  readonly mostWaiting?: number
}

interface PendingGuess {
  readonly isGone: () => boolean
  readonly start: (account: TimeAccount) => void
}

/** The account that pays for a guess: the own one with more than `least` of its time left, or the other one if it is half full. */
function accountOf(own: TimeAccount, other: TimeAccount, least: number): TimeAccount | undefined {
  if (own.left > least) return own
  return other.left > HALF ? other : undefined
}

/** Measured time that may be spent: a twentieth of all time, plus the unspent time of the last two seconds. */
class TimeAccount {
  readonly #now: () => number
  #paidUntil: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** The share of its time that is left: at most 1; 0 or less if none is. */
  get left(): number {
    return Math.min(1, (this.#now() - (this.#paidUntil ?? Number.NEGATIVE_INFINITY)) / SAVED_MS)
  }

  spend<Found>(look: () => Found): Found {
    const began = this.#now()
    try {
      return look()
    } finally {
      const now = this.#now()
      this.#paidUntil = takeTokens(now - began, GUESSES, this.#paidUntil, now)
    }
  }
}

/** In ms of guesses. */
const GUESSES: TokenRate = { perSecond: 50, burst: 100 }
const SAVED_MS = (GUESSES.burst / GUESSES.perSecond) * 1000
const HALF = 0.5
/** Datagrams of a peer with an unknown protocol. A device repeats its fix after a second at the earliest. */
const PEER: TokenRate = { perSecond: 1, burst: 5 }
/** Datagrams of such peers of one network: of a thousand vans at once, then so few that most of the time is left to others. */
const NETWORK: TokenRate = { perSecond: 20, burst: 1000 }
const MAX_PEERS = 50_000
/** By this time a peer has paid its debt. */
const GENERATION_MS = 60_000
const PAUSE_MS = 5
const CLEARED_EVERY_MS = 200
/** A wait that is longer is a finding. */
const LONG_MS = 1000
const NOTED_EVERY_MS = 10
