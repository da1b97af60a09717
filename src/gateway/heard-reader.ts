import { keys, type Redis } from '../store/index.ts'
import { whichLive } from '../store/gateways.ts'
import { type DeviceEntry, belongedAt } from '../roster/device-entry.ts'
import type { Contact, DeviceEvent, Heard, StoredContact } from './heard.ts'

/** What was last heard of a device, as gateways have written it. */
interface LastHeard extends Pick<Heard, 'fix' | 'filtered'> {
  readonly contact?: StoredContact
}

/**
 * What was last heard of a device, by whichever gateway. undefined: it never spoke. `entry`: that of the device, if it is
 * configured: what it sent for another company is left out.
 */
export async function readHeard(redis: Redis, device: string, entry?: DeviceEntry): Promise<Heard | undefined> {
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
export function heardBy(entry: DeviceEntry | undefined, heard: LastHeard): LastHeard {
  if (entry?.companySince === undefined) return heard
  const own = <Some extends { readonly at: number }>(some: Some | undefined) =>
    some && belongedAt(entry, some.at) ? some : undefined
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
