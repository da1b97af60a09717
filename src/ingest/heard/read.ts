import { eventsOf, keys, type Redis } from '../../lanes/index.ts'
import type { Contact, Heard, StoredContact } from '../heard.ts'
import type { DeviceEvent } from './events.ts'

/** What was last heard of a device; `connectedAt` only while the connection is open. Undefined where it never spoke. */
export async function readHeard(redis: Redis, device: string): Promise<Heard | undefined> {
  const [contact, fix, filtered] = await Promise.all(
    [keys.devices, keys.lastFixes, keys.lastFiltered].map((key) => redis.hget(key, device)),
  )
  if (contact === null) return undefined
  const [living] = await withLiving(redis, [JSON.parse(contact) as StoredContact])
  return { ...living, ...(fix && { fix: JSON.parse(fix) }), ...(filtered && { filtered: JSON.parse(filtered) }) }
}

/** What happened to a device last, latest first: 20 events at most, of several gateways by their clocks. */
export async function readEvents(redis: Redis, device: string): Promise<DeviceEvent[]> {
  const events = (await eventsOf(redis, device)).map((json) => JSON.parse(json) as DeviceEvent)
  return events.toReversed().toSorted((a, b) => b.at - a.at)
}

/** When and how each device that ever spoke did so last, in slices of some hundred; a device may come twice. */
export async function* surveyContacts(redis: Redis): AsyncGenerator<{ device: string; contact: Contact }> {
  for await (const slice of redis.hscanStream(keys.devices, { count: 500 })) {
    const entries = slice as string[]
    const devices = entries.filter((_, index) => index % 2 === 0)
    const contacts = entries.filter((_, index) => index % 2 === 1).map((json) => JSON.parse(json) as StoredContact)
    const living = await withLiving(redis, contacts)
    for (const [index, contact] of living.entries()) yield { device: devices[index], contact }
  }
}

/** Why living gateways acknowledge nothing, a sentence each, each once. */
export async function readGatewayProblems(redis: Redis): Promise<string[]> {
  return [...new Set([...(await livingGateways(redis)).values()].flat())]
}

/** Whether the roster as of a write is in effect at every living gateway. */
export async function isRosterApplied(redis: Redis, at: number): Promise<boolean> {
  const living = [...(await livingGateways(redis)).keys()]
  const applied = living.length > 0 ? await redis.hmget(keys.roster('applied'), ...living) : []
  return applied.every((time) => Number(time ?? 0) >= at)
}

/** Gateways that give a sign of life, each with why it acknowledges nothing; what is kept of others goes. */
async function livingGateways(redis: Redis): Promise<Map<string, string[]>> {
  const ids = await redis.smembers(keys.gatewayIds)
  if (ids.length === 0) return new Map()
  const signs = await redis.mget(ids.map(keys.gateway))
  const gone = ids.filter((_, index) => signs[index] === null)
  if (gone.length > 0)
    await Promise.all([redis.srem(keys.gatewayIds, ...gone), redis.hdel(keys.roster('applied'), ...gone)])
  const living = ids.flatMap((id, index) => {
    const sign = signs[index]
    return sign === null ? [] : [[id, JSON.parse(sign) as string[]] as const]
  })
  return new Map(living)
}

/** Without the connections of gateways that give no sign of life. */
async function withLiving(redis: Redis, contacts: readonly StoredContact[]): Promise<Contact[]> {
  const gateways = [...new Set(contacts.map(({ gateway }) => gateway))]
  if (gateways.length === 0) return []
  const signs = await redis.mget(gateways.map(keys.gateway))
  const living = new Set(gateways.filter((_, index) => signs[index] !== null))
  return contacts.map(({ gateway, connectedAt, ...contact }) =>
    living.has(gateway) ? { ...contact, connectedAt } : contact,
  )
}
