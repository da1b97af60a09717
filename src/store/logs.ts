import { keys } from './keys.ts'
import type { Store } from './shards.ts'

/** How many events of a device are kept. */
export const EVENTS_KEPT = 20

/** Appends to the events of devices; each event is JSON with `at` first. Rejects where Redis is gone or its memory is full. */
export async function appendEvents(
  redis: Store,
  events: Iterable<readonly [device: string, events: readonly string[]]>,
): Promise<void> {
  const args = [...events].flatMap(([device, some]) => [device, some.length, ...some])
  await redis.run('events', [keys.events('')], [EVENTS_KEPT, EVENTS_KEPT_FOR_S, ...args])
}

/** Adds an entry, JSON, to the audit log, which keeps the last 10,000; also where Redis' memory is full. */
export async function addToAudit(redis: Store, entry: string): Promise<void> {
  await redis.run('audit', [keys.audit], [AUDIT_KEPT, entry])
}

/** After the last event of a device: 31 days. */
const EVENTS_KEPT_FOR_S = 31 * 86_400
const AUDIT_KEPT = 10_000
