import { addressOf, networkOf } from '../../domain/addresses.ts'
import { type Standing, standingOf } from '../conversation.ts'
import type { GuessDelays } from '../guesses.ts'
import type { Sighting, Trails } from '../suspicion.ts'
import type { ConnectionLimits, OpenConnections } from './connection-limits.ts'
import type { Slot, SlotElsewhere, Slots } from './slots.ts'

/** A JSON message from one gateway to the others, with the events since its last message. */
interface Notice {
  /** The gateway has just started, or it ends: it has no connection. */
  readonly began?: true
  /** Connections that have named their device. */
  opened?: Opened[]
  /** An answer to another gateway's `opened`: this gateway's connections of the same devices. */
  also?: Opened[]
  closed?: [device: string, remote: string][]
  /** Devices for which a wrong secret was presented, and the addresses that presented it. */
  guessed?: [device: string, address: string][]
  /** Devices that have presented their secret after a wrong one was counted. */
  accepted?: string[]
  /** The sender and the latest place of each device that sends fixes. */
  sighted?: [device: string, sighting: Sighting][]
  /** How many connections the gateway has on these ports. */
  readonly counted?: OpenConnections & { readonly ports: string }
}

type Opened = [device: string, remote: string, namedAt: number, isProved: boolean, standing: Standing]
type NoticeList = 'opened' | 'also' | 'closed' | 'guessed' | 'accepted' | 'sighted'

/** The state of a gateway that is shared with other gateways. */
export interface NeighbourShares {
  readonly slots: Slots
  readonly guesses: GuessDelays
  readonly trails: Trails
  readonly connectionLimits: Pick<ConnectionLimits, 'open' | 'elsewhere'>
}

interface NeighbourOptions {
  /** Names the ports: gateways that share them have one limit of connections. */
  readonly ports: string
  send(text: string): void
  /** Resolves to those of these gateways that no longer give a sign of life. */
  silent(gateways: readonly string[]): Promise<readonly string[]>
}

/**
 * Makes limits hold for all gateways around one Redis. Gateways tell each other which connections have named their device,
 * which secrets were wrong, and once a second how many connections are open. While Redis does not answer, each gateway counts
 * only its own. The counts of a gateway are dropped when it ends, even if it was killed.
 */
export class Neighbours {
  readonly #shares: NeighbourShares
  readonly #options: NeighbourOptions
  readonly #counts = new Map<string, OpenConnections>()
  /** When each other gateway was heard last, by `performance.now()`. */
  readonly #heard = new Map<string, number>()
  #counted = 0
  #countedAt = 0
  #notice: Notice = {}
  #sending: NodeJS.Timeout | undefined

  constructor(shares: NeighbourShares, options: NeighbourOptions) {
    this.#shares = shares
    this.#options = options
    shares.slots.follow({
      opened: (slot) => this.#tell('opened', openedOf(slot)),
      closed: (slot) => this.#tell('closed', [slot.slotDevice ?? '', slot.session?.remote ?? '']),
    })
    shares.guesses.follow({
      failed: (device, address) => this.#tell('guessed', [device, address]),
      accepted: (device) => this.#tell('accepted', device),
    })
    shares.trails.follow((device, sighting) => this.#tell('sighted', [device, shownOf(sighting)]))
  }

  began(): void {
    this.#send({ began: true })
  }

  receive(gateway: string, text: string): void {
    const {
      began,
      counted,
      opened = [],
      also = [],
      closed = [],
      guessed = [],
      accepted = [],
      sighted = [],
    } = JSON.parse(text) as Notice
    const { guesses, slots, trails } = this.#shares
    if (began) this.#forget(gateway)
    this.#heard.set(gateway, performance.now())
    if (counted?.ports === this.#options.ports) this.#hasCounted(gateway, counted)
    // A gateway that has just started does not know the count of this one, so it is sent again.
    if (began) this.#counted = 0
    for (const each of opened)
      for (const own of slots.openedElsewhere(slotAt(gateway, each))) this.#tell('also', openedOf(own))
    for (const each of also) slots.openedElsewhere(slotAt(gateway, each))
    for (const [device, remote] of closed) slots.closedElsewhere(gateway, device, remote)
    for (const [device, address] of guessed) guesses.count(device, address)
    for (const device of accepted) guesses.accepted(device)
    for (const [device, sighting] of sighted) trails.heardElsewhere(device, sighting)
  }

  /** Sends the news to the other gateways. Call it once a second. */
  report(): void {
    this.#count()
    this.#sendNotice()
  }

  /** Drops the connections of gateways that were killed, and so could not report their end. Call it once a second. */
  async forgetSilent(): Promise<void> {
    const askedAt = performance.now()
    const quiet = [...this.#heard].flatMap(([gateway, heardAt]) => (askedAt - heardAt > QUIET_MS ? [gateway] : []))
    if (quiet.length === 0) return
    for (const gateway of await this.#options.silent(quiet))
      if ((this.#heard.get(gateway) ?? askedAt) < askedAt) this.#forget(gateway)
  }

  /** Call it once the last connection has ended. */
  close(): void {
    clearTimeout(this.#sending)
    this.#send({ began: true })
  }

  /** A gateway that considered this one dead, while it was suspended, needs the count again. */
  #count(): void {
    const open = this.#shares.connectionLimits.open
    const now = performance.now()
    if (open.all === this.#counted && (open.all === 0 || now - this.#countedAt < AGAIN_MS)) return
    this.#counted = open.all
    this.#countedAt = now
    this.#send({ counted: { ...open, ports: this.#options.ports } })
  }

  #hasCounted(gateway: string, counted: OpenConnections): void {
    this.#counts.set(gateway, counted)
    this.#shares.connectionLimits.elsewhere = [...this.#counts.values()]
  }

  #forget(gateway: string): void {
    this.#heard.delete(gateway)
    this.#shares.slots.forget(gateway)
    this.#counts.delete(gateway)
    this.#shares.connectionLimits.elsewhere = [...this.#counts.values()]
  }

  #send(notice: Notice): void {
    this.#options.send(JSON.stringify(notice))
  }

  #tell<What extends NoticeList>(what: What, happened: NonNullable<Notice[What]>[number]): void {
    const happenings = (this.#notice[what] ??= []) as (typeof happened)[]
    happenings.push(happened)
    // Places of vans are not urgent and go with the message of each second, since a message wakes every gateway.
    if (what !== 'sighted') this.#sending ??= setTimeout(() => this.#sendNotice(), TOGETHER_MS)
  }

  #sendNotice(): void {
    clearTimeout(this.#sending)
    this.#sending = undefined
    if (Object.keys(this.#notice).length > 0) this.#send(this.#notice)
    this.#notice = {}
  }
}

/** As much of a place as others need. */
function shownOf({ place, sender }: Sighting): Sighting {
  if (!place) return { sender }
  const { latitude, longitude, timestamp } = place
  return { sender, place: { latitude, longitude, timestamp } }
}

function openedOf({ namedAt = 0, session, slotDevice = '' }: Slot): Opened {
  if (!session) return [slotDevice, '', 0, false, 0]
  return [slotDevice, session.remote, namedAt, session.isProved, standingOf(session)]
}

function slotAt(gateway: string, [slotDevice, remote, namedAt, isProved, standing]: Opened): SlotElsewhere {
  const senderLimits = { network: networkOf(addressOf(remote)) }
  const isConfigured = standing > 0
  const session = { remote, isConfigured, isProved, storedAt: 0, storesEveryMs: 0 }
  return { senderLimits, slotDevice, namedAt, session, gateway, abort: () => {} }
}

/** A message from a gateway shows that it lives. */
const QUIET_MS = 5000
const AGAIN_MS = 10_000
/** Logins of a fleet that connects again are few messages. */
const TOGETHER_MS = 50
