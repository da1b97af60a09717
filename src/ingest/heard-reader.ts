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

/** The last contact of each device that ever spoke, in slices of some hundred; a device may come twice. */
export async function* surveyContacts(redis: Redis): AsyncGenerator<{ device: string; contact: Contact }> {
  for await (const slice of redis.hscanStream(keys.devices, { count: 500 })) {
    const entries = slice as string[]
    const devices = entries.filter((_, index) => index % 2 === 0)
    const contacts = entries.filter((_, index) => index % 2 === 1).map((json) => JSON.parse(json) as StoredContact)
    const checked = await withLiveConnections(redis, contacts)
    for (const [index, contact] of checked.entries()) yield { device: devices[index], contact }
  }
}

/** A connection counts only while its gateway gives a life sign. */
async function withLiveConnections(redis: Redis, contacts: readonly StoredContact[]): Promise<Contact[]> {
  const live = await whichLive(redis, [...new Set(contacts.map(({ gateway }) => gateway))])
  return contacts.map(({ gateway, connectedAt, ...contact }) =>
    live.has(gateway) ? { ...contact, connectedAt } : contact,
  )
}
