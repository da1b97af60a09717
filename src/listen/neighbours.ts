import type { GuessDelays } from '../ingest/guesses.ts'
import { addressOf, networkOf } from '../ingest/network.ts'
import type { Slot, SlotElsewhere, Slots } from './slots.ts'

/** What gateways tell each other, as JSON: what happened within some milliseconds. */
interface Notice {
  /** The gateway begins: it has no connection. */
  readonly began?: true
  /** Connections that have named their device. */
  opened?: Opened[]
  /** Connections of devices in an `opened` of another gateway. */
  also?: Opened[]
  closed?: [device: string, remote: string][]
  /** Wrong secrets for devices, from addresses. */
  guessed?: [device: string, address: string][]
}

type Opened = [device: string, remote: string, connectedAt: number, isProved: boolean, client?: string]
type NoticeList = 'opened' | 'also' | 'closed' | 'guessed'

/**
 * Makes limits of a device hold for all gateways around one Redis: each tells the others which connections have named their
 * device, and which secrets were wrong. While Redis does not answer each gateway counts its own.
 */
export class Neighbours {
  readonly #slots: Slots
  readonly #guesses: GuessDelays
  readonly #send: (text: string) => void
  #notice: Notice = {}
  #sending: NodeJS.Timeout | undefined

  constructor(slots: Slots, guesses: GuessDelays, send: (text: string) => void) {
    this.#slots = slots
    this.#guesses = guesses
    this.#send = send
    slots.follow({
      opened: (slot) => this.#tell('opened', openedOf(slot)),
      closed: (slot) => this.#tell('closed', [slot.slotDevice ?? '', slot.session?.remote ?? '']),
    })
    guesses.follow((device, address) => this.#tell('guessed', [device, address]))
  }

  began(): void {
    this.#send(JSON.stringify({ began: true } satisfies Notice))
  }

  receive(gateway: string, text: string): void {
    const { began, opened = [], also = [], closed = [], guessed = [] } = JSON.parse(text) as Notice
    if (began) this.#slots.forget(gateway)
    for (const each of opened)
      for (const own of this.#slots.openedElsewhere(slotAt(gateway, each))) this.#tell('also', openedOf(own))
    for (const each of also) this.#slots.openedElsewhere(slotAt(gateway, each))
    for (const [device, remote] of closed) this.#slots.closedElsewhere(gateway, device, remote)
    for (const [device, address] of guessed) this.#guesses.count(device, address)
  }

  close(): void {
    clearTimeout(this.#sending)
  }

  #tell<What extends NoticeList>(what: What, happened: NonNullable<Notice[What]>[number]): void {
    const happenings = (this.#notice[what] ??= []) as (typeof happened)[]
    happenings.push(happened)
    this.#sending ??= setTimeout(() => {
      this.#send(JSON.stringify(this.#notice))
      this.#notice = {}
      this.#sending = undefined
    }, TOGETHER_MS)
  }
}

function openedOf({ client, session, slotDevice = '' }: Slot): Opened {
  const { connectedAt = 0, isProved = false, remote = '' } = session ?? {}
  return [slotDevice, remote, connectedAt, isProved, client]
}

function slotAt(gateway: string, [slotDevice, remote, connectedAt, isProved, client]: Opened): SlotElsewhere {
  const senderLimits = { network: networkOf(addressOf(remote)) }
  return { senderLimits, slotDevice, session: { remote, connectedAt, isProved }, client, gateway, abort: () => {} }
}

/** Logins of a fleet that connects again are few messages. */
const TOGETHER_MS = 50
