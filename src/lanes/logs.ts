import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'

/** How many events of a device are kept. */
export const EVENTS_KEPT = 20

/**
 * Appends to the events of devices; each event is JSON with `at` first. Where a list is full, the oldest goes: of connections
 * where those are more than half of what is kept, else of changes. Events that the list has already are left out. Rejects
 * where Redis is gone or its memory is full.
 */
export async function appendEvents(
  redis: Redis,
  events: Iterable<readonly [device: string, events: readonly string[]]>,
): Promise<void> {
  const args = [...events].flatMap(([device, some]) => [device, some.length, ...some])
  await scripts(redis)('events', [keys.eventsPrefix], [EVENTS_KEPT, EVENTS_KEPT_FOR_S, ...args])
}

/** The events of a device, in the order in which they were appended. */
export function eventsOf(redis: Redis, device: string): Promise<string[]> {
  return redis.lrange(keys.events(device), 0, -1)
}

/** Adds an entry, JSON, to the audit log, which keeps the last 10,000; also where Redis' memory is full. */
export async function addToAudit(redis: Redis, entry: string): Promise<void> {
  await scripts(redis)('audit', [keys.audit], [AUDIT_KEPT, entry])
}

/** After the last event of a device: 31 days. */
const EVENTS_KEPT_FOR_S = 31 * 86_400
const AUDIT_KEPT = 10_000
