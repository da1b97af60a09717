/** Whether our own clock is wrong: then most devices at once are in the future. */
export interface ClockWatch {
  /** Notes what a device said at `now`, ms UTC. Answers whether nothing may be acknowledged. */
  note(device: string, future: boolean, now: number): boolean
  readonly alarm: boolean
}

/** At least three devices, and more than half of those heard lately, have to be ahead. `changed` hears of it. */
export function createClockWatch(changed: (alarm: boolean, devices: number) => void): ClockWatch {
  /** Devices that are ahead, and all: when they said so last. */
  const ahead = new Map<string, number>()
  let before = new Set<string>()
  let lately = new Set<string>()
  let turnedAt = 0
  let alarm = false

  function turn(now: number): void {
    if (Math.abs(now - turnedAt) < LATELY_MS) return
    turnedAt = now
    before = lately
    lately = new Set()
    for (const [device, at] of ahead) if (Math.abs(now - at) > 2 * LATELY_MS) ahead.delete(device)
  }

  return {
    get alarm() {
      return alarm
    },
    note(device, future, now) {
      if (!future && ahead.size === 0 && !alarm && lately.has(device)) return false
      turn(now)
      lately.add(device)
      if (future) ahead.set(device, now)
      else ahead.delete(device)
      const all = Math.max(before.size, lately.size)
      const next = ahead.size >= LEAST_DEVICES && ahead.size * 2 > all
      if (next !== alarm) changed((alarm = next), ahead.size)
      return alarm
    },
  }
}

const LATELY_MS = 60_000
const LEAST_DEVICES = 3
