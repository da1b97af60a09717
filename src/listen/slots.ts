import type { DeviceSession } from '../ingest/device.ts'
import { observations } from '../observe/observations.ts'
import type { SenderLimits } from './flood.ts'

/** A connection as one of all that may be open. */
export interface Slot {
  readonly senderLimits: Pick<SenderLimits, 'network'>
  readonly session?: Pick<DeviceSession, 'isProved'>
  /** The device that it counts for; written by `Slots`. */
  slotDevice?: string
  /** Ends it at once; the reason is counted. */
  abort(reason: string): void
}

/**
 * Which connections are unidentified, by network, and which belong to one device: to end the right ones where there are too
 * many. A connection counts for the first device that it names.
 */
export class Slots {
  readonly #maxPerDevice: number
  /** Oldest first, as are those of a device. */
  readonly #unidentified = new Map<string, Set<Slot>>()
  readonly #devices = new Map<string, Slot[]>()

  constructor(maxPerDevice: number) {
    this.#maxPerDevice = maxPerDevice
  }

  opened(slot: Slot): void {
    const { network } = slot.senderLimits
    const others = this.#unidentified.get(network)
    if (others) others.add(slot)
    else this.#unidentified.set(network, new Set([slot]))
  }

  /**
   * A connection has named its device. Where that device has too many, the oldest of the network that has most of them ends:
   * who opens many connections under the id of a van closes their own, and not that of the van. One that has proved that it is
   * the device ends only where all have.
   */
  identified(slot: Slot, device: string): void {
    if (slot.slotDevice !== undefined) return
    this.#removeUnidentified(slot)
    slot.slotDevice = device
    const slots = this.#devices.get(device)
    if (!slots) return void this.#devices.set(device, [slot])
    slots.push(slot)
    if (slots.length <= this.#maxPerDevice) return
    const unproved = slots.filter(({ session }) => !session?.isProved)
    const [network, most] = largestGroup(unproved.length > 0 ? unproved : slots)
    observations.note('device_connections', {
      subject: { device },
      evidence: `${slots.length} connections, ${most.length} of them from ${network}`,
    })
    this.#end(most[0], 'max_per_device')
  }

  /** Ends the oldest unidentified connection of the network that has most of them. Answers whether there was one. */
  makeRoom(): boolean {
    let most: ReadonlySet<Slot> | undefined
    for (const slots of this.#unidentified.values()) if (slots.size > (most?.size ?? 0)) most = slots
    const [oldest] = most ?? []
    if (oldest) this.#end(oldest, 'max_connections')
    return oldest !== undefined
  }

  closed(slot: Slot): void {
    this.#removeUnidentified(slot)
    const { slotDevice: device } = slot
    const slots = device === undefined ? undefined : this.#devices.get(device)
    const at = slots?.indexOf(slot) ?? -1
    if (device === undefined || !slots || at < 0) return
    if (slots.length === 1) this.#devices.delete(device)
    else slots.splice(at, 1)
  }

  /** It gives up its place at once; its socket closes later. */
  #end(slot: Slot, reason: string): void {
    this.closed(slot)
    slot.abort(reason)
  }

  #removeUnidentified(slot: Slot): void {
    const { network } = slot.senderLimits
    const slots = this.#unidentified.get(network)
    if (slots?.delete(slot) && slots.size === 0) this.#unidentified.delete(network)
  }
}

/** The network that has most of some connections, and these. Of networks with as many, the one with the oldest. */
function largestGroup(slots: readonly Slot[]): [network: string, slots: Slot[]] {
  const groups = [...Map.groupBy(slots, ({ senderLimits }) => senderLimits.network)]
  return groups.reduce((most, group) => (group[1].length > most[1].length ? group : most))
}
