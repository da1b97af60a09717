import type { DeviceSession } from '../ingest/device.ts'
import { observations } from '../observe/observations.ts'
import type { SenderLimits } from './flood.ts'

/** A connection, as far as the limits of open connections need to know it. */
export interface Slot {
  readonly senderLimits: Pick<SenderLimits, 'network'>
  readonly session?: Pick<DeviceSession, 'connectedAt' | 'isConfigured' | 'isProved' | 'remote' | 'sender'>
  /** The device whose limit this connection counts towards. Only `Slots` writes it. */
  slotDevice?: string
  /** The MQTT client id. A client id may have only one connection. */
  readonly client?: string
  /** The gateway that has the connection; undefined: this one. */
  readonly gateway?: string
  /** Ends the connection at once; the reason is counted. */
  abort(reason: string): void
  /** Ends the connection at once, because its MQTT client has opened another one. */
  replaced?(): void
}

/** A connection at another gateway. Only that gateway can end it. */
export interface SlotElsewhere extends Slot {
  readonly slotDevice: string
  readonly gateway: string
  readonly session: NonNullable<Slot['session']>
}

/** Tells other gateways of connections that have named their device. */
interface SlotFollower {
  opened(slot: Slot): void
  /** Called only if the device is also connected at another gateway. */
  closed(slot: Slot): void
}

/**
 * Knows which connections name no configured device, by network, and which belong to one device, so that the right ones
 * are ended if there are too many. A connection counts for the first device that it names. For a device that is connected
 * here, connections at other gateways count as well; each gateway ends its own.
 */
export class Slots {
  readonly #maxPerDevice: number
  /** Oldest first, as are those of a device. */
  readonly #replaceable = new Map<string, Set<Slot>>()
  readonly #devices = new Map<string, Slot[]>()
  #follower: SlotFollower | undefined

  constructor(maxPerDevice: number) {
    this.#maxPerDevice = maxPerDevice
  }

  follow(follower: SlotFollower): void {
    this.#follower = follower
  }

  opened(slot: Slot): void {
    const { network } = slot.senderLimits
    const others = this.#replaceable.get(network)
    if (others) others.add(slot)
    else this.#replaceable.set(network, new Set([slot]))
  }

  /**
   * Notes that a connection has named its device. If the device has too many connections, the oldest one in the network
   * with the most of them ends: a sender that opens many connections under the id of a van loses its own, and not that
   * of the van. Of networks with as many the latest loses it, first one that has sent no fix: a sender with many networks does not
   * end the connection of the van, either. A connection that has proved its device ends only if all have.
   */
  identified(slot: Slot, device: string): void {
    if (slot.slotDevice !== undefined) return
    if (slot.session?.isConfigured !== false) this.#keep(slot)
    slot.slotDevice = device
    const others = this.#devices.get(device)
    if (others) others.push(slot)
    else this.#devices.set(device, [slot])
    this.#follower?.opened(slot)
    this.#endTooMany(device, slot)
  }

  /** How many connections of a device count. */
  countOf(device: string): number {
    return this.#devices.get(device)?.length ?? 0
  }

  /** Notes a connection of a device at another gateway. Returns the connections of the device at this gateway. */
  openedElsewhere(slot: SlotElsewhere): Slot[] {
    const { client, gateway, session, slotDevice: device } = slot
    const slots = this.#devices.get(device)
    if (!slots) return []
    const isOlder = (each: Slot) => isBefore(each.session, session)
    if (!slots.some((each) => each.gateway === gateway && each.session?.remote === session.remote)) {
      slots.splice(slots.findLastIndex(isOlder) + 1, 0, slot)
      for (const each of slots.filter((own) => own.gateway === undefined && own.client === client))
        if (client !== undefined && isOlder(each)) this.#replace(each)
      this.#endTooMany(device, slot)
    }
    return (this.#devices.get(device) ?? []).filter((each) => each.gateway === undefined)
  }

  /** Another gateway has it no longer. */
  closedElsewhere(gateway: string, device: string, remote: string): void {
    const slots = this.#devices.get(device)
    const slot = slots?.find((each) => each.gateway === gateway && each.session?.remote === remote)
    if (slot) this.closed(slot)
  }

  /** A gateway has none any more: it has been started again. */
  forget(gateway: string): void {
    for (const slots of this.#devices.values())
      for (const slot of slots.filter((each) => each.gateway === gateway)) this.closed(slot)
  }

  /**
   * Ends the oldest connection that names no configured device, of the network that has most of them. Answers whether there was
   * one.
   */
  makeRoom(): boolean {
    let most: ReadonlySet<Slot> | undefined
    for (const [network, slots] of this.#replaceable) {
      keepConfigured(slots)
      if (slots.size === 0) this.#replaceable.delete(network)
      else if (slots.size > (most?.size ?? 0)) most = slots
    }
    const [oldest] = most ?? []
    if (!oldest) return false
    this.#end(oldest, 'max_connections')
    return true
  }

  closed(slot: Slot): void {
    this.#keep(slot)
    const { slotDevice: device } = slot
    const slots = device === undefined ? undefined : this.#devices.get(device)
    const at = slots?.indexOf(slot) ?? -1
    if (device === undefined || !slots || at < 0) return
    slots.splice(at, 1)
    if (slots.length > 0 && slot.gateway === undefined) this.#leave(device, slot, slots)
    if (slots.length === 0) this.#devices.delete(device)
  }

  /** A device without a connection at this gateway: forgets its connections at other gateways. */
  #leave(device: string, slot: Slot, others: readonly Slot[]): void {
    if (others.some(({ gateway }) => gateway !== undefined)) this.#follower?.closed(slot)
    if (others.every(({ gateway }) => gateway !== undefined)) this.#devices.delete(device)
  }

  #endTooMany(device: string, newcomer: Slot): void {
    while (this.countOf(device) > this.#maxPerDevice) {
      const slots = this.#devices.get(device) ?? []
      const unproved = slots.filter(({ session }) => !session?.isProved)
      const [network, most] = groupToEnd(unproved.length > 0 ? unproved : slots, newcomer)
      observations.note('device_connections', {
        subject: { device },
        evidence: `${slots.length} connections, ${most.length} of them from ${network}`,
      })
      this.#end(most[0], 'max_per_device')
    }
  }

  #replace(slot: Slot): void {
    this.closed(slot)
    slot.replaced?.()
  }

  /** Gives up the place of a connection at once; its socket closes later. */
  #end(slot: Slot, reason: string): void {
    this.closed(slot)
    slot.abort(reason)
  }

  /** It does not make room any more. */
  #keep(slot: Slot): void {
    const { network } = slot.senderLimits
    const slots = this.#replaceable.get(network)
    if (slots?.delete(slot) && slots.size === 0) this.#replaceable.delete(network)
  }
}

/** Drops the oldest connections whose device was not configured at its login, and is now. */
function keepConfigured(slots: Set<Slot>): void {
  for (const slot of slots) {
    if (!slot.session?.isConfigured) return
    slots.delete(slot)
  }
}

/** Whether one connection is older than another. Of two of one moment all gateways must say the same, else both would end. */
function isBefore(one: Slot['session'], { connectedAt, remote }: SlotElsewhere['session']): boolean {
  if (one?.connectedAt !== connectedAt) return (one?.connectedAt ?? 0) < connectedAt
  return one.remote < remote
}

/** The network whose oldest connection is to end, and its connections, oldest first. It is not that of the newcomer. */
function groupToEnd(slots: readonly Slot[], newcomer: Slot): [network: string, slots: Slot[]] {
  const groups = [...Map.groupBy(slots, ({ senderLimits }) => senderLimits.network)]
  const most = Math.max(...groups.map(([, { length }]) => length))
  const largest = groups.filter(([, { length }]) => length === most)
  const others = largest.filter(([, [oldest]]) => oldest !== newcomer)
  return others.findLast(([, [oldest]]) => !oldest.session?.sender) ?? others.at(-1) ?? largest[0]
}
