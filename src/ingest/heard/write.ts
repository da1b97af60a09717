import { keys, type Redis } from '../../lanes/index.ts'
import type { Heard, StoredContact } from '../heard.ts'

/** Writes what this gateway heard of some devices. Of a part that it has not heard, what was written before stays. */
export async function writeHeard(
  redis: Redis,
  gateway: string,
  devices: Iterable<readonly [device: string, heard: Heard]>,
): Promise<void> {
  const contacts: string[] = []
  const fixes: string[] = []
  const filtered: string[] = []
  for (const [device, { fix, filtered: lost, ...contact }] of devices) {
    contacts.push(device, JSON.stringify({ ...contact, gateway } satisfies StoredContact))
    if (fix) fixes.push(device, JSON.stringify(fix))
    if (lost) filtered.push(device, JSON.stringify(lost))
  }
  const parts = [
    [keys.devices, contacts],
    [keys.lastFixes, fixes],
    [keys.lastFiltered, filtered],
  ] as const
  const written = parts.filter(([, entries]) => entries.length > 0)
  await Promise.all(written.map(([key, entries]) => redis.hset(key, ...entries)))
}
