import { keys, type Redis } from '../lanes/index.ts'
import { whichLive } from './gateways.ts'
import type { Contact, DeviceEvent, Heard, StoredContact } from './heard.ts'

/** What was last heard of a device, by whichever gateway. undefined: it never spoke. */
export async function readHeard(redis: Redis, device: string): Promise<Heard | undefined> {
  const [contact, fix, filtered] = await Promise.all(
    [keys.devices, keys.lastFixes, keys.lastFiltered].map((key) => redis.hget(key, device)),
  )
  if (contact === null) return undefined
  const [checked] = await withLiveConnections(redis, [JSON.parse(contact) as StoredContact])
  return { ...checked, ...(fix && { fix: JSON.parse(fix) }), ...(filtered && { filtered: JSON.parse(filtered) }) }
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
