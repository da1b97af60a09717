import type { Fix, Transport } from '../../protocols/kit/index.ts'
import { whichLive } from './gateways.ts'
import { keys } from './keys.ts'
import type { Redis } from '../redis/connection.ts'

/** When and how a device was last heard. Instants in ms UTC. */
export interface Contact {
  at: number
  /** Absent for a device that has only logged in over MQTT. */
  protocol?: string
  transport: Transport
  remote: string
  /** When its open connection began; absent without a connection. */
  connectedAt?: number
  /** Whether a relay sent it, which alone has a connection. */
  isRelayed?: boolean
}

/** What was last heard of a device, for the admin port. */
export interface Heard extends Contact {
  /** The last fix that is stored, in UTC; without those ahead of our clock, whose time is not known. */
  fix?: { readonly at: number; readonly fix: Fix }
  /** The last fix that did not go to a lane, and why. `held`: it is stored, and may have gone to a lane since. */
  filtered?: { readonly reason: string; readonly at: number; readonly fix: Fix; readonly held?: true }
}

/** A contact in Redis, with the gateway process that heard the device. */
export interface StoredContact extends Contact {
  readonly gateway: string
}

/** What happened to a device, as it is kept in Redis; `at` in ms UTC. */
export type DeviceEvent = { readonly at: number } & Happening

export type Happening =
  /** At the login over MQTT, else at the first message. Over MQTT each message has a protocol of its own. */
  | { readonly event: 'connected'; readonly protocol?: string; readonly transport: string; readonly remote: string }
  /** `reason`: why the gateway ended the connection; absent where the device or the network did. */
  | { readonly event: 'disconnected'; readonly remote: string; readonly reason?: string }
  | { readonly event: 'routed'; readonly lane: string }
  | { readonly event: Exclude<Treatment, 'routed'>; readonly reason: string }

/** What happened to a message: its fixes went to a lane, were held or filtered, or all of it was refused. */
export type Treatment = 'routed' | 'held' | 'filtered' | 'misunderstood' | 'refused'

/** Whether a device stays connected: UDP has no connection, one of HTTP lasts for a request, and that of a relay is not its own. */
export function isConnected({ transport, isRelayed }: Pick<Contact, 'transport' | 'isRelayed'>): boolean {
  return !isRelayed && (transport === 'tcp' || transport === 'mqtt')
}

/** What was last heard of a device, as gateways have written it. */
interface LastHeard extends Pick<Heard, 'fix' | 'filtered'> {
  readonly contact?: StoredContact
}

/** Since when a device belongs to its company, ms UTC: what it sent before is not shown. */
type Owned = { readonly companySince?: number }

/** What was last heard of a device, by whichever gateway. undefined: it never spoke. `entry`: that of the device, if it is configured. */
export async function readHeard(redis: Redis, device: string, entry?: Owned): Promise<Heard | undefined> {
  const read = [keys.devices, keys.lastFixes, keys.lastFiltered].map(async (key) => {
    const json = await redis.hget(key, device)
    return json === null ? undefined : JSON.parse(json)
  })
  const [newest, fix, filtered] = await Promise.all(read)
  const { contact, ...last } = heardBy(entry, { contact: newest, fix, filtered })
  if (!contact) return undefined
  const [checked] = await withLiveConnections(redis, [contact])
  return { ...checked, ...last }
}

/** What of that belongs to the company of the device, or to nobody. */
export function heardBy(entry: Owned | undefined, heard: LastHeard): LastHeard {
  const since = entry?.companySince
  if (since === undefined) return heard
  const own = <Some extends { readonly at: number }>(some: Some | undefined) =>
    some && some.at >= since ? some : undefined
  return { contact: own(heard.contact), fix: own(heard.fix), filtered: own(heard.filtered) }
}

/** What happened to a device last: 20 events at most, latest first by the clocks of the gateways. */
export async function readEvents(redis: Redis, device: string): Promise<DeviceEvent[]> {
  const events = (await redis.lrange(keys.events(device), 0, -1)).map((json) => JSON.parse(json) as DeviceEvent)
  return events.toReversed().toSorted((a, b) => b.at - a.at)
}

/** A connection counts only while its gateway gives a life sign. */
async function withLiveConnections(redis: Redis, contacts: readonly StoredContact[]): Promise<Contact[]> {
  const live = await whichLive(redis, [...new Set(contacts.map(({ gateway }) => gateway))])
  return contacts.map(({ gateway, connectedAt, ...contact }) =>
    live.has(gateway) ? { ...contact, connectedAt } : contact,
  )
}
