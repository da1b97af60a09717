import type { Protocol } from '../../../protocols/kit/index.ts'
import { addressOf, networkOf } from '../../domain/addresses.ts'
import { type Conversation } from '../conversation.ts'
import type { Outcome } from '../outcome.ts'
import { type Detector, type Guess, Undecided } from './detect.ts'
import type { Shared } from './listener.ts'

/** The rules of a port: the protocol of its devices (undefined: any), and the detector of the actual protocol. */
export interface PortRules extends Pick<Shared, 'detector' | 'journal'> {
  readonly protocol: Protocol | undefined
  readonly port: number
}

/**
 * Chooses the protocol of a connection: that of its port, unless the port has none, or does not understand the connection and
 * another protocol does. The choice is final once the device is known.
 */
export class ProtocolChoice {
  /** undefined: not known yet. */
  protocol: Protocol | undefined
  readonly #rules: PortRules
  readonly #firstBytes: Buffer
  readonly #session: Conversation
  #undecided: Undecided | undefined
  #isOver = false

  /** `bytes`: the first ones of the connection that the session is of. */
  constructor(rules: PortRules, session: Conversation, bytes: Buffer) {
    this.#rules = rules
    this.#session = session
    this.protocol = rules.protocol
    this.#firstBytes = Buffer.from(bytes.subarray(0, SHOWN_BYTES))
  }

  /** Resolves to the protocol of all bytes so far, once it is clear; it then stays. `isQuiet`: the sender waits. */
  async decide(bytes: Buffer, isQuiet = false): Promise<Protocol | undefined> {
    if (!this.protocol) this.#take(await this.#look(bytes, isQuiet))
    return this.protocol
  }

  /**
   * Resolves to whether another protocol understands bytes that the present one does not; it then replaces the present one.
   * The bytes must name a device. The likeliest protocol stays: otherwise two that understand the same frame of a damaged
   * stream would replace each other for ever.
   */
  async findsAnother(bytes: Buffer): Promise<boolean> {
    await this.#look(bytes, true)
    const guess = replacementIn(this.#undecided?.guesses ?? [])
    if (!guess || guess.protocol === this.protocol) return false
    this.#take(guess)
    return true
  }

  /**
   * Fixes the choice once the device is known. A device on the port of another protocol becomes a finding once some of its
   * data is accepted.
   */
  settle(isTaken: boolean): void {
    const { journal, port, protocol: expected } = this.#rules
    const { protocol } = this
    if (isTaken && protocol && expected && expected !== protocol)
      journal.wrongPort(this.#session, protocol, { port, expected })
  }

  /**
   * Stores what an unidentified connection has sent when it ends, so that people can look at it. At the end of the gateway it
   * may not have been looked at.
   */
  giveUp(): void {
    this.#isOver = true
    if (this.#session.ended === 'shutdown') return
    const { journal, port, protocol } = this.#rules
    const guesses = this.#undecided?.guesses ?? []
    journal.notUnderstood(this.#session, { port, protocol: protocol?.name, bytes: this.#firstBytes, guesses })
  }

  #take(guess: Guess | undefined): void {
    if (!guess) return
    this.protocol = guess.protocol
    this.#session.believed(guess.evidence)
  }

  async #look(bytes: Buffer, isQuiet: boolean): Promise<Guess | undefined> {
    const { detector } = this.#rules
    if (!detector) return undefined
    const undecided = (this.#undecided ??= new Undecided(detector, this.#session, this.protocol))
    const look = () => undecided.decide(bytes, { isQuiet, now: Date.now() })
    if (!undecided.isNews(bytes)) return look()
    const network = networkOf(addressOf(this.#session.remote))
    return detector.budget.inTurn(network, { isGone: () => this.#isOver, look })
  }
}

/**
 * Makes the detector remember the protocol of a session's device, if fixes of it are stored. Without that condition, anybody
 * could use the device's id in another protocol, and the device itself would be misunderstood.
 */
export function learnFrom(session: Conversation, protocol: Protocol, detector?: Detector): void {
  if (session.hasStoredAsOwn && session.device !== undefined) detector?.learn(session.device, protocol)
}

export function isStored({ status }: Outcome): boolean {
  return status === 'stored'
}

export function isMisunderstood({ status }: Outcome): boolean {
  return status === 'misunderstood'
}

/**
 * Returns the likeliest protocol that may replace that of the port, which has refused the bytes; undefined: none. It must
 * name a device, and have read fixes or be sure that there are none: otherwise its answer would acknowledge what the port has
 * refused.
 */
export function replacementIn(guesses: readonly Guess[], refused?: Protocol): Guess | undefined {
  return guesses.find(
    ({ protocol, device, holds, score }) =>
      protocol !== refused && device !== undefined && score >= ENOUGH && holds !== 'unknown',
  )
}

/** The least weight of a guess on the port of another protocol: that of an IMEI. */
const ENOUGH = 20
/** How much is kept of a connection that was not understood. */
const SHOWN_BYTES = 256
