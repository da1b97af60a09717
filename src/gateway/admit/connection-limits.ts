import type { Socket } from 'node:net'
import type { Config } from '../../config/schema.ts'
import { networkOf } from '../../domain/addresses.ts'
import { metrics } from '../../observe/metrics.ts'
import { observations } from '../../observe/observations.ts'
import { joined, say } from '../../texts/text.ts'
import type { OneAddressDetector } from './one-address.ts'
import type { Slots } from './slots.ts'

/** Number of open connections of a gateway, in all and for each address that has many. */
export interface OpenConnections {
  readonly all: number
  readonly byAddress: readonly (readonly [address: string, count: number])[]
}

/**
 * Counts the open connections of all listeners, in all and by address, including those that other gateways on the same ports
 * report.
 */
export class ConnectionLimits {
  readonly #limits: Config['limits']
  readonly #slots: Pick<Slots, 'makeRoom'>
  readonly #fit: number
  readonly #perAddress = new Map<string, number>()
  #open = 0
  #elsewhere = { all: 0, byAddress: new Map<string, number>() }
  #notedAt = Number.NEGATIVE_INFINITY

  /** `fit`: how many the limit of open files allows here. */
  constructor(limits: Config['limits'], { slots, fit }: SlotOptions) {
    this.#limits = limits
    this.#slots = slots
    this.#fit = fit
  }

  /**
   * Counts a socket from an address while it is open, or destroys it if a limit is reached. Returns whether it may stay; then
   * `also` counts it too.
   */
  admit(socket: Socket, { transport, address, also }: Admission): boolean {
    const { max_connections, max_connections_per_ip } = this.#limits
    const count = this.#perAddress.get(address) ?? 0
    const isFull = this.#open >= Math.min(this.#fit, max_connections - this.#elsewhere.all)
    if (isFull || this.#areFilesShort) this.#noteFull(isFull)
    const atAddress = count + (this.#elsewhere.byAddress.get(address) ?? 0)
    const reason =
      atAddress >= max_connections_per_ip
        ? 'max_per_ip'
        : isFull && !this.#slots.makeRoom()
          ? 'max_connections'
          : undefined
    if (reason) {
      metrics.refused.inc({ reason })
      socket.destroy()
      return false
    }
    this.#open++
    this.#perAddress.set(address, count + 1)
    metrics.connections.inc({ transport })
    also?.opened(address)
    // One function serves all counters: every further function would take memory while the connection is open.
    socket.on('close', () => {
      metrics.connections.dec({ transport })
      also?.closed(address)
      this.#open--
      const left = (this.#perAddress.get(address) ?? 0) - 1
      if (left > 0) this.#perAddress.set(address, left)
      else this.#perAddress.delete(address)
    })
    return true
  }

  /** The connections open here, in all and by address; addresses with few connections are left out. */
  get open(): OpenConnections {
    const few = this.#limits.max_connections_per_ip / 100
    const many = [...this.#perAddress].filter(([, count]) => count > few)
    return { all: this.#open, byAddress: many.slice(0, MOST_TOLD) }
  }

  /** The connections open at the other gateways. */
  set elsewhere(others: readonly OpenConnections[]) {
    const byAddress = new Map<string, number>()
    for (const [address, count] of others.flatMap((other) => other.byAddress))
      byAddress.set(address, (byAddress.get(address) ?? 0) + count)
    this.#elsewhere = { all: others.reduce((sum, { all }) => sum + all, 0), byAddress }
  }

  get #areFilesShort(): boolean {
    return this.#fit <= this.#limits.max_connections && this.#open >= this.#fit * NEARLY_FULL
  }

  /** At most once a second, since it looks at all addresses. */
  #noteFull(isFull: boolean): void {
    const now = performance.now()
    if (now - this.#notedAt < NOTED_EVERY_MS) return
    this.#notedAt = now
    if (this.#areFilesShort)
      observations.note('open_files', { evidence: say('{} of {} connections are open', this.#open, this.#fit) })
    if (!isFull) return
    const networks = new Map<string, number>()
    for (const [address, count] of this.#perAddress) {
      const network = networkOf(address)
      networks.set(network, (networks.get(network) ?? 0) + count)
    }
    const most = [...networks].toSorted(([, one], [, other]) => other - one).slice(0, 3)
    const texts = most.map(([network, count]) => say('{} connections from {}', count, network))
    observations.note('connections_full', { evidence: joined(texts, ', ') })
  }
}

interface Admission {
  readonly transport: 'tcp' | 'http' | 'mqtt'
  readonly address: string
  readonly also?: Pick<OneAddressDetector, 'opened' | 'closed'>
}

interface SlotOptions {
  readonly slots: Pick<Slots, 'makeRoom'>
  readonly fit: number
}

/** The share of all connections from which on the limit of open files is a danger. */
const NEARLY_FULL = 0.8
const NOTED_EVERY_MS = 1000
/**
 * The most addresses that are reported to other gateways: those with the most connections, unless thousands of addresses have
 * many.
 */
const MOST_TOLD = 1000
