import { networkOf } from '../../domain/addresses.ts'
import { metrics } from '../../observe/metrics.ts'
import { observations } from '../../observe/observations.ts'
import { say } from '../../texts/text.ts'
import type { Conversation } from '../conversation.ts'
import { RecentlyUsed } from '../recently-used.ts'

/*
 * Limits of what one sender may use, so that enough is left for the others. A token is a frame, or 1 KiB.
 * The following fleet must never meet a limit: 10,000 vans behind the one address of a mobile carrier. Each has a connection
 * and sends a fix every few seconds, sometimes a keepalive; or it opens a connection for each fix, as phones do (2,000 a
 * second). All reconnect within a minute, or at once after a restart. After an outage each sends the backlog of a day: at one
 * fix in five seconds 17,280, at worst one per frame. Together they send no faster than a gateway stores: 26,000 frames a
 * second.
 */
const RATES = {
  /**
   * For one connection. A device that sends live stays below this rate, and no other rate applies to it. An
   * unidentified sender may not exceed it.
   */
  connection: { perSecond: 10, burst: 200 },
  /** For a device in one network, over all its connections: the backlog of a day at once. */
  device: { perSecond: 200, burst: 30_000 },
  /** For a network, without the connections that send live: twice what a gateway stores on two cores. */
  network: { perSecond: 50_000, burst: 500_000 },
  /** New connections of a network: all vans at once three times, or one for each fix and half as many again. */
  connections: { perSecond: 3000, burst: 30_000 },
  /** Logins of a device in a network whose connection ends without a fix. While nothing is stored, it may reconnect at once. */
  logins: { perSecond: 5, burst: 300 },
  /** Messages of a network that are refused, or leave a sender unidentified: 5,000 of 10,000 vans at once, each again after 200 s. */
  failures: { perSecond: 50, burst: 5000 },
  /**
   * Datagrams of unidentified peers of all networks together, since addresses may be forged. A token is a ms of processing
   * time: they get a quarter of a gateway's time. Each of 10,000 vans may send one at once, then one in two seconds.
   */
  unidentified: { perSecond: 250, burst: 500 },
} satisfies Record<string, TokenRate>

/**
 * The limits that the gateways of one `start` divide among themselves, because the kernel spreads connections and datagrams
 * over them. The other limits are not divided: a connection belongs to one gateway, and a device sends its backlog over one
 * connection.
 */
const DIVIDED: ReadonlySet<FloodLimit> = new Set(['network', 'connections', 'logins', 'failures'])

type FloodLimit = keyof typeof RATES
/** Limits that connections share, by network, or by device in its network. */
type SharedLimit = Exclude<FloodLimit, 'connection'>

/**
 * Limits the load of each sender. Above a limit, a connection is not read for a while, a datagram is dropped, and a request
 * is answered with 503. Memory is bounded: of more than 50,000 networks or devices, those that were not seen for the longest
 * time are forgotten, and start again.
 */
export class Flood {
  readonly now: () => number
  readonly #gateways: number
  readonly #limits = new Map<SharedLimit, Limit>()
  #notedAt = Number.NEGATIVE_INFINITY

  /** `now`: a clock in ms that never goes back. `gateways`: how many share the ports. */
  constructor(now: () => number = performance.now.bind(performance), gateways = 1) {
    this.now = now
    this.#gateways = gateways
  }

  /**
   * Takes tokens of `who`: a network, or the result of `inNetwork`. Returns the ms until its debt is paid back; 0: it had
   * enough tokens.
   */
  take(limit: SharedLimit, who: string, tokens: number): number {
    const waitMs = this.charge(limit, who, tokens)
    if (waitMs > 0) this.notePause(limit, who)
    return waitMs
  }

  /** Takes tokens of `who` without pausing a connection. Returns the ms until its debt is paid back; 0: it had enough tokens. */
  charge(limit: SharedLimit, who: string, tokens: number): number {
    const now = this.now()
    const { rate, paidUntil } = this.#limitOf(limit)
    const until = takeTokens(tokens, rate, paidUntil.get(who), now)
    paidUntil.set(who, until, now)
    return Math.max(0, until - now)
  }

  /** Returns the ms until the debt of `who` is paid back; the connection then pauses for that time. */
  debtOf(limit: SharedLimit, who: string): number {
    const waitMs = Math.max(0, (this.#limitOf(limit).paidUntil.get(who) ?? 0) - this.now())
    if (waitMs > 0) this.notePause(limit, who)
    return waitMs
  }

  /** Takes tokens of `who` if it has no debt. Returns whether it did. */
  admit(limit: SharedLimit, who: string, tokens: number): boolean {
    const isAdmitted = (this.#limitOf(limit).paidUntil.get(who) ?? 0) <= this.now()
    if (isAdmitted) this.charge(limit, who, tokens)
    else this.#note(limit, who)
    return isAdmitted
  }

  /** Counts a pause of a connection of `who`. */
  notePause(limit: FloodLimit, who: string): void {
    metrics.paused.inc({ limit })
    this.#note(limit, who)
  }

  #limitOf(name: SharedLimit): Limit {
    const known = this.#limits.get(name)
    if (known) return known
    const limit = {
      rate: rateOf(name, this.#gateways),
      paidUntil: new RecentlyUsed<number>(MAX_SENDERS / 2, GENERATION_MS),
    }
    this.#limits.set(name, limit)
    return limit
  }

  /** Notes only a sample of what happens: under a flood it happens with each datagram. */
  #note(limit: FloodLimit, who: string): void {
    const now = this.now()
    if (now - this.#notedAt < NOTED_EVERY_MS) return
    this.#notedAt = now
    observations.note('flood', { evidence: say('{}: more than the limit of {}', who.replace('\n', ' in '), limit) })
  }
}

interface Limit {
  readonly rate: TokenRate
  /** Until when the tokens that each sender took are paid: see `takeTokens`. */
  readonly paidUntil: RecentlyUsed<number>
}

function rateOf(limit: SharedLimit, gateways: number): TokenRate {
  const { burst, perSecond } = RATES[limit]
  return DIVIDED.has(limit) ? { burst: burst / gateways, perSecond: perSecond / gateways } : RATES[limit]
}

/**
 * The sender on one connection. Each method returns for how many ms the connection must not be read, or not be answered; a
 * connection that would wait for `MAX_DEBT_MS` or longer ends.
 */
export class SenderLimits {
  readonly network: string
  readonly #flood: Flood
  /** Until when the tokens that this connection took are paid: see `takeTokens`. */
  #paidUntil: number | undefined
  /** The device that sent last, and the key of its limits. */
  #device: string | undefined
  #isAccepted = false
  #key = ''

  constructor(flood: Flood, address: string) {
    this.#flood = flood
    this.network = networkOf(address)
  }

  /** Takes the tokens of bytes that were read. Returns how long to pause, ms. */
  read(frames: number, bytes: number, { device, isConfigured = false }: NamedDevice): number {
    const tokens = tokensOf(frames, bytes)
    const now = this.#flood.now()
    this.#paidUntil = takeTokens(tokens, RATES.connection, this.#paidUntil, now)
    if (this.#paidUntil <= now) return 0
    if (device === undefined) {
      this.#flood.notePause('connection', this.network)
      return MAX_DEBT_MS
    }
    const deviceMs = this.#flood.take('device', this.#keyOf(device, isConfigured), tokens)
    const networkMs = this.#flood.take('network', this.network, tokens)
    return Math.min(Math.max(deviceMs, networkMs), MAX_DEBT_MS - 1)
  }

  /**
   * Charges a connection that has named its device. Returns how long to pause, ms. The pause is short: others in the network
   * may have logged in too often under the id of a van without a secret.
   */
  identified({ device = '', isConfigured = false }: NamedDevice): number {
    return Math.min(this.#flood.debtOf('logins', this.#keyOf(device, isConfigured)), LOGIN_WAIT_MS)
  }

  endedWithoutFix({ device = '', isConfigured = false }: NamedDevice): void {
    this.#flood.charge('logins', this.#keyOf(device, isConfigured), 1)
  }

  /** This number of its messages were refused, or did not identify the sender. Returns how long to pause, ms. */
  failed(messages: number): number {
    return messages === 0 ? 0 : this.#flood.take('failures', this.network, messages)
  }

  #keyOf(device: string, isAccepted: boolean): string {
    if (device === this.#device && isAccepted === this.#isAccepted) return this.#key
    this.#device = device
    this.#isAccepted = isAccepted
    return (this.#key = inNetwork(device, this.network, isAccepted))
  }
}

/** The device that a connection has named. */
type NamedDevice = Partial<Pick<Conversation, 'device' | 'isConfigured'>>

/**
 * Returns the key of a device in one network. Use of the same id from another network does not count against the device.
 * Senders that are not accepted as the device, and unconfigured devices, have a separate key.
 */
export function inNetwork(device: string, network: string, isAccepted: boolean): string {
  // Joined, it takes less memory than a template, which keeps its parts.
  return (isAccepted ? [device, network] : [device, network, 'not accepted']).join('\n')
}

/** Returns the tokens for frames: one each, and one for each KiB. */
export function tokensOf(frames: number, bytes: number): number {
  return frames + bytes / 1024
}

/** The tokens per second in the long run, and at once. */
export interface TokenRate {
  readonly perSecond: number
  readonly burst: number
}

/**
 * Takes tokens of one sender. This always succeeds, since the bytes were already read; a sender that takes more tokens than
 * it has must wait until its debt is paid back, at most `MAX_DEBT_MS`. `paidUntil`: until when its earlier tokens are paid;
 * undefined: it took none. Returns the new such time. `now` and both times: ms of a monotonic clock.
 */
export function takeTokens(tokens: number, rate: TokenRate, paidUntil: number | undefined, now: number): number {
  const { burst, perSecond } = rate
  const full = now - (burst / perSecond) * 1000
  return Math.min(Math.max(paidUntil ?? full, full) + (tokens / perSecond) * 1000, now + MAX_DEBT_MS)
}

/** A device that connects in a loop does so once a second. */
const LOGIN_WAIT_MS = 1000
/** The longest debt: a sender never waits longer because of others in its network. */
export const MAX_DEBT_MS = 30_000
const MAX_SENDERS = 50_000
/** A sender that took nothing for this time is forgotten: no debt lasts that long. */
const GENERATION_MS = 160_000
const NOTED_EVERY_MS = 10
