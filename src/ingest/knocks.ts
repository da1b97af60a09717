import type { Logger } from '../observe/log.ts'

/** Says in the log which devices knock that nobody has configured, or with a wrong secret: each once a minute. */
export function createKnocks(logger: Logger): (device: string, reason: string, remote: string) => void {
  let told = new Set<string>()
  let since = 0
  return (device, reason, remote) => {
    const now = performance.now()
    if (now - since > MINUTE_MS) {
      told = new Set()
      since = now
    }
    if (told.size >= MOST_A_MINUTE || told.has(device)) return
    told.add(device)
    logger.warn({ device: device.slice(0, 64), reason, remote }, WORDS.get(reason) ?? 'a device was refused')
  }
}

const WORDS = new Map([
  ['unknown_device', 'a device that is not configured was refused'],
  ['held', 'a device that is not configured: its fixes are held until it is'],
  ['wrong_secret', 'a device did not present its secret'],
  ['other_device', 'a device used the id of another'],
])
const MINUTE_MS = 60_000
const MOST_A_MINUTE = 100
