import { keys, type Redis } from '../../lanes/index.ts'
import type { Contact, Heard, StoredContact } from '../heard.ts'

/** What was last heard of a device; `connectedAt` only while the connection is open. Undefined where it never spoke. */
export async function readHeard(redis: Redis, device: string): Promise<Heard | undefined> {
  const [contact, fix, filtered] = await Promise.all(
    [keys.devices, keys.lastFixes, keys.lastFiltered].map((key) => redis.hget(key, device)),
  )
  if (contact === null) return undefined
  const [living] = await withLiving(redis, [JSON.parse(contact) as StoredContact])
  return { ...living, ...(fix && { fix: JSON.parse(fix) }), ...(filtered && { filtered: JSON.parse(filtered) }) }
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
  const ids = await redis.smembers(keys.gatewayIds)
  if (ids.length === 0) return []
  const signs = await redis.mget(ids.map(keys.gateway))
  const gone = ids.filter((_, index) => signs[index] === null)
  if (gone.length > 0) await redis.srem(keys.gatewayIds, ...gone)
  return [...new Set(signs.flatMap((sign) => (sign === null ? [] : (JSON.parse(sign) as string[]))))]
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
