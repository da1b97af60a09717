import type { Transport } from '../../protocols/kit/index.ts'
import { sameId } from '../domain/ids.ts'
import type { Text } from '../texts/text.ts'
import { countHeld, HELD_LISTS } from './held.ts'
import { keys } from './keys.ts'
import type { Store } from './shards.ts'

/** A device that is not configured, or a sender that was not understood, as Redis stores it. Instants in ms UTC. */
export interface ArrivedSender {
  readonly at: number
  /** The IP address of the sender. */
  readonly address: string
  readonly transport: Transport
  /** The gateway's port; undefined over MQTT. */
  readonly port?: number
  /** The protocol of the port, or the one that was decoded or guessed. */
  readonly protocol?: string
  /** Why it is this protocol; for a sender that was not understood, the protocols that it may speak, and why. */
  readonly evidence: readonly Text[]
  /** The likeliest of them. */
  readonly guessed?: string
  readonly device?: string
  /** Whether the protocol is an unproven guess: its fixes are held with their frames. */
  readonly isGuess?: boolean
  /** The first bytes of a sender that no protocol understood, as hex. */
  readonly bytes?: string
  /** The JSON of such a request, without secrets, if it has at most 4 KiB. */
  readonly json?: string
  readonly position?: { readonly time: number; readonly latitude: number; readonly longitude: number }
}

/**
 * Resolves to the arrivals, latest first, with the number of held fixes of each device. A configured device is included only
 * while fixes of senders that were not accepted are held. Only arrivals that `isWanted` accepts are counted and returned.
 */
export async function surveyArrivals(
  redis: Store,
  isConfigured: (device: string) => boolean,
  isWanted: (arrival: ArrivedSender) => boolean = () => true,
): Promise<(ArrivedSender & { readonly waiting: number })[]> {
  const [connections, devices] = await Promise.all([
    redis.lrange(keys.arrivals, 0, -1),
    redis.hgetall(keys.arrivedDevices),
  ])
  const arrived = Object.entries(devices).map(([id, json]) => ({ id, arrival: JSON.parse(json) as ArrivedSender }))
  const wanted = arrived.filter(({ arrival }) => isWanted(arrival))
  const ofDevices = await Promise.all(
    wanted.map(async ({ id, arrival }) => ({ ...arrival, waiting: await countHeldOf(redis, id) })),
  )
  const senders = connections.map((json) => JSON.parse(json) as ArrivedSender)
  const notUnderstood = senders.filter(isWanted).map((sender) => ({ ...sender, waiting: 0 }))
  const unconfigured = ofDevices.filter(({ device = '', waiting }) => waiting > 0 || !isConfigured(device))
  return [...unconfigured, ...notUnderstood].toSorted((one, other) => other.at - one.at)
}

/**
 * Yields the senders that were not understood, latest first, read in slices between which Redis does other work. A sender
 * that moves in between may come twice.
 */
export async function* sendersNotUnderstood(redis: Store): AsyncGenerator<ArrivedSender> {
  for (let at = 0; ; at += SLICE) {
    const slice = await redis.lrange(keys.arrivals, at, at + SLICE - 1)
    if (slice.length === 0) return
    for (const json of slice) yield JSON.parse(json) as ArrivedSender
  }
}

/** Resolves to the last message of a device from the time before it was configured; undefined if unknown. */
export async function readArrival(redis: Store, device: string): Promise<ArrivedSender | undefined> {
  const json = await redis.hget(keys.arrivedDevices, sameId(device))
  return json === null ? undefined : (JSON.parse(json) as ArrivedSender)
}

async function countHeldOf(redis: Store, device: string): Promise<number> {
  const places = UNKNOWN_LISTS.map((lists) => ({ lists, device }))
  const counts = await countHeld(redis, places)
  return counts.reduce((sum, count) => sum + count, 0)
}

export const UNKNOWN_LISTS = HELD_LISTS.filter(({ reason }) => reason === 'unknown')

/** Some kilobytes each. */
const SLICE = 50
