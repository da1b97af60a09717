import { surveyContacts } from '../../ingest/heard-reader.ts'
import type { Contact } from '../../ingest/heard.ts'
import { isConnected } from '../../ingest/device.ts'
import type { Redis } from '../../lanes/index.ts'
import type { Directory } from '../../roster/directory.ts'

/** `never`: it has not spoken since it was configured. */
export type DeviceState = 'online' | 'offline' | 'never'

/**
 * Online is who has an open connection; over UDP and HTTP, which have none that isConnected, who spoke within `idleMs`. `now` in ms
 * UTC.
 */
export function stateOf(contact: Contact | undefined, now: number, idleMs: number): DeviceState {
  if (!contact) return 'never'
  const spoke = !isConnected(contact.transport) && now - contact.at <= idleMs
  return contact.connectedAt !== undefined || spoke ? 'online' : 'offline'
}

/** How many of the configured devices are in each state. */
export async function countDevices(
  redis: Redis,
  directory: Directory,
  idleMs: number,
): Promise<Record<DeviceState, number>> {
  const now = Date.now()
  const states = new Map<string, DeviceState>()
  for await (const { device, contact } of surveyContacts(redis)) states.set(device, stateOf(contact, now, idleMs))
  const counts = { online: 0, offline: 0, never: 0 }
  for (const { id } of directory.devices()) counts[states.get(id) ?? 'never']++
  return counts
}
