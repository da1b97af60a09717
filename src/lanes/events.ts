import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'

/** How many events of a device are kept. */
export const EVENTS_KEPT = 20

/**
 * Appends to the events of some devices, JSON each with `at` first, in place of the oldest: of connections where those are more
 * than half of what is kept, else of changes. What the device's list says already is left out. Rejects where Redis is gone or
 * its memory is full.
 */
export async function appendEvents(
  redis: Redis,
  events: Iterable<readonly [device: string, events: readonly string[]]>,
): Promise<void> {
  const args = [...events].flatMap(([device, some]) => [device, some.length, ...some])
  await scripts(redis)('events', [keys.eventsPrefix], [EVENTS_KEPT, LIFE_S, ...args])
}

/** The events of a device, in the order in which they were appended. */
export function eventsOf(redis: Redis, device: string): Promise<string[]> {
  return redis.lrange(keys.events(device), 0, -1)
}

/** After the last one: 31 days. */
const LIFE_S = 31 * 86_400
