import { type Redis, rosterWrittenAt } from '../../src/lanes/index.ts'
import type { Device } from '../../src/roster/directory.ts'
import { writeDevice } from '../../src/roster/write.ts'

/** Puts a device, or, null, deletes it, whatever was written before. @returns the time of the write */
export async function putDevice(redis: Redis, id: string, device: Device | null): Promise<number> {
  const at = await writeDevice(redis, id, device, await rosterWrittenAt(redis))
  return at ?? putDevice(redis, id, device)
}
