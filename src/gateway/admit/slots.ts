import { observations } from '../../observe/observations.ts'
import { joined, say, type Template } from '../../texts/text.ts'
import { type Conversation, type Standing, standingOf } from '../conversation.ts'
import type { SenderLimits } from './flood.ts'

/** A connection, as far as the limits of open connections need to know it. */
export interface Slot {
  readonly senderLimits: Pick<SenderLimits, 'network'>
  readonly session?: Pick<Conversation, 'isConfigured' | 'isProved' | 'remote' | 'storedAt' | 'storesEveryMs'>
  /** Number of its frames that are being stored. */
  readonly storing?: number
  /** The device that this connection counts for. Only `Slots` writes it. */
  slotDevice?: string
  /** When it named that device, ms UTC; no two connections of a gateway have the same time. Only `Slots` writes it. */
  namedAt?: number
  /** The gateway that has the connection; undefined: this one. */
  readonly gateway?: string
  /** Ends the connection at once; the reason is counted. */
  abort(reason: string): void
}

/** A connection at another gateway. Only that gateway can end it, and knows when it has stored something. */
export interface SlotElsewhere extends Slot {
  readonly slotDevice: string
  readonly namedAt: number
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
 * Knows which connections belong to which device, and by network those without a configured device, so that the right ones
 * end if there are too many. A connection counts for the first device that it names. For a device that is connected here,
 * connections at other gateways count as well; each gateway ends its own.
 */
export class Slots {
  readonly #maxPerDevice: number
  /** Oldest first, as are those of a device. */
  readonly #replaceable = new Map<string, Set<Slot>>()
  readonly #devices = new Map<string, Slot[]>()
  #follower: SlotFollower | undefined
  #namedAt = 0

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
   * Notes that a connection has named its device. If the device has too many connections of the same standing, one of them
   * ends: see `connectionToEnd`. So a connection without the secret never ends one that has presented it, and does not learn
   * from its own end whether the device is connected.
   */
  identified(slot: Slot, device: string): void {
    if (slot.slotDevice !== undefined) return
    if (slot.session?.isConfigured !== false) this.#keep(slot)
    slot.slotDevice = device
    slot.namedAt = this.#namedAt = Math.max(Date.now(), this.#namedAt + 1)
    const others = this.#devices.get(device)
    if (others) insert(others, slot)
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
    const { gateway, session, slotDevice: device } = slot
    const slots = this.#devices.get(device)
    if (!slots) return []
    if (!slots.some((each) => each.gateway === gateway && each.session?.remote === session.remote)) {
      insert(slots, slot)
      this.#endTooMany(device, slot)
    }
    return (this.#devices.get(device) ?? []).filter((each) => each.gateway === undefined)
  }

  /** Another gateway has closed the connection. */
  closedElsewhere(gateway: string, device: string, remote: string): void {
    const slots = this.#devices.get(device)
    const slot = slots?.find((each) => each.gateway === gateway && each.session?.remote === remote)
    if (slot) this.closed(slot)
  }

  /** Removes all connections of a gateway that was restarted. */
  forget(gateway: string): void {
    for (const slots of this.#devices.values())
      for (const slot of slots.filter((each) => each.gateway === gateway)) this.closed(slot)
  }

  /**
   * Ends the oldest connection without a configured device, of the network that has the most of them. Returns whether there
   * was one.
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

  /** `added`: one of the device's connections; only those with its standing count. */
  #endTooMany(device: string, added: Slot): void {
    const standing = standingAs(added)
    for (;;) {
      const slots = this.#devices.get(device)?.filter((each) => standingAs(each) === standing) ?? []
      if (slots.length <= this.#maxPerDevice) return
      const slot = connectionToEnd(slots)
      const { network } = slot.senderLimits
      const there = slots.filter(({ senderLimits }) => senderLimits.network === network)
      const counts = say('{} connections, {} of them from {}', slots.length, there.length, network)
      const evidence = joined([counts, ...ABOUT[standing].map((about) => say(about))], ', ')
      observations.note('device_connections', { subject: { device }, evidence })
      this.#end(slot, 'max_per_device')
    }
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

/** Removes the oldest connections whose device was unconfigured at login and is configured now. */
function keepConfigured(slots: Set<Slot>): void {
  for (const slot of slots) {
    if (!slot.session?.isConfigured) return
    slots.delete(slot)
  }
}

function standingAs({ session }: Slot): Standing {
  return session ? standingOf(session) : 0
}

const ABOUT: Record<Standing, readonly Template[]> = {
  0: ['taken for no configured device'],
  1: [],
  2: ['all with its secret or certificate'],
}

/**
 * Adds a connection to those of its device, the oldest first. All gateways must have the same order, also of connections of the
 * same moment, or each would end another one.
 */
function insert(slots: Slot[], slot: Slot): void {
  const { namedAt = 0, session: { remote } = { remote: '' } } = slot
  const isBefore = (each: Slot) =>
    each.namedAt === namedAt ? (each.session?.remote ?? '') < remote : (each.namedAt ?? 0) < namedAt
  slots.splice(slots.findLastIndex(isBefore) + 1, 0, slot)
}

/**
 * Returns the connection to end if a device has too many; `slots`: oldest first. It belongs to the network with the most
 * connections: a sender that opens many connections under the id of a van loses its own, even if it stores on them. A
 * connection that stores fixes as usual ends only if all of its network do so; the newcomer ends instead if no network has
 * more connections than its own. If the newcomer alone puts its network ahead, silent connections of other networks end
 * before it: a van whose last connection still counts as storing logs in anew.
 */
function connectionToEnd(slots: readonly Slot[]): Slot {
  const newcomer = slots[slots.length - 1]
  const idle = idleOfMost(slots, newcomer) ?? idleOfMost(slots.slice(0, -1), newcomer)
  if (idle) return idle
  const largest = largestNetworks(slots)
  return largest.some((group) => group.includes(newcomer)) ? newcomer : largest[largest.length - 1][0]
}

/**
 * Returns the connection to end among those that are neither the newcomer nor store fixes as usual, of the network that has
 * the most; of several such networks, of the latest; first one without a fix. Within a network, where a sender cannot be told
 * from the van by its address, it is the oldest that has stored nothing. A van that reconnects is the newest of these until
 * it stores, so a silent connection keeps nobody out.
 */
function idleOfMost(slots: readonly Slot[], newcomer: Slot): Slot | undefined {
  const idle = largestNetworks(slots).map((group) => group.filter((each) => each !== newcomer && !isStoring(each)))
  const isSilent = (slot: Slot) => !hasStored(slot)
  return idle.findLast((group) => group.some(isSilent))?.find(isSilent) ?? idle.findLast(([oldest]) => oldest)?.[0]
}

/** Returns the connections of each network that has the most. */
function largestNetworks(slots: readonly Slot[]): (readonly Slot[])[] {
  const groups = [...Map.groupBy(slots, ({ senderLimits }) => senderLimits.network).values()]
  const most = Math.max(...groups.map(({ length }) => length))
  return groups.filter(({ length }) => length === most)
}

function hasStored({ session }: Slot): boolean {
  return (session?.storedAt ?? 0) > 0
}

/** Returns whether a connection is storing fixes, or has stored some within its usual time. */
function isStoring({ session, storing = 0 }: Slot): boolean {
  if (storing > 0) return true
  if (!session || session.storesEveryMs === 0) return false
  return performance.now() - session.storedAt < USUAL_TIMES * Math.max(session.storesEveryMs, LEAST_USUAL_MS)
}

/** A fix may be late, or two may be lost. */
const USUAL_TIMES = 3
const LEAST_USUAL_MS = 2000
