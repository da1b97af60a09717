import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'

/** Adds an entry, JSON, to the audit log, in place of the oldest of 10,000; also where Redis' memory is full. */
export async function addToAudit(redis: Redis, entry: string): Promise<void> {
  await scripts(redis)('audit', [keys.audit], [MAX_ENTRIES, entry])
}

const MAX_ENTRIES = 10_000
