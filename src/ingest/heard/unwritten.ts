import { appendEvents, EVENTS_KEPT, type Redis } from '../../lanes/index.ts'

/** Events, JSON each, that are not in Redis yet. */
export interface Unwritten {
  add(device: string, event: string): void
  /** Writes them; what Redis does not take waits, 20 of a device at most. Never rejects. */
  write(): Promise<void>
}

export function createUnwritten(redis: Redis): Unwritten {
  /** By device, as they will stand in Redis. */
  const waiting = new Map<string, readonly string[]>()

  function queue(device: string, events: readonly string[]): void {
    waiting.set(device, events.slice(-EVENTS_KEPT))
  }

  /** Answers whether Redis took them. */
  async function writeSome(devices: readonly string[]): Promise<boolean> {
    const some = devices.map((device) => [device, waiting.get(device) ?? []] as const)
    for (const device of devices) waiting.delete(device)
    try {
      await appendEvents(redis, some)
      return true
    } catch {
      for (const [device, events] of some) queue(device, [...events, ...(waiting.get(device) ?? [])])
      return false
    }
  }

  return {
    add: (device, event) => queue(device, [...(waiting.get(device) ?? []), event]),
    async write() {
      const devices = [...waiting.keys()]
      for (let at = 0; at < devices.length; at += AT_ONCE)
        if (!(await writeSome(devices.slice(at, at + AT_ONCE)))) return
    },
  }
}

/** Devices in one script: some milliseconds of Redis' time. */
const AT_ONCE = 100
