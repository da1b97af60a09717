import { StringDecoder } from 'node:string_decoder'
import { everySecond } from '../async.ts'
import { keys, type Redis } from '../lanes/index.ts'

/** A payload that was acknowledged although it was not understood: otherwise the device would send it for ever. */
export interface Misunderstood {
  /** When it arrived, ms UTC. */
  readonly at: number
  readonly device: string
  readonly protocol: string
  readonly reason: string
  readonly payload: Buffer
  /** The secret that the device presented; it is hidden wherever it is in the payload. */
  readonly secret?: string
}

/** Keeps the last 1,000 payloads of all devices in Redis, latest first; written once a second, and no frame waits for it. */
export function createMisunderstood(redis: Redis) {
  let latest: string[] = []

  async function flush(): Promise<void> {
    if (latest.length === 0) return
    const entries = latest.splice(0)
    await redis
      .multi()
      .lpush(keys.misunderstood, ...entries)
      .ltrim(keys.misunderstood, 0, KEPT - 1)
      .exec()
      .catch(() => (latest = [...entries, ...latest].slice(-KEPT)))
  }

  const writes = everySecond(flush)
  return {
    keep(entry: Misunderstood): void {
      latest.push(describe(entry))
      if (latest.length > KEPT) latest.shift()
    },
    async close(): Promise<void> {
      await writes.stop()
      await flush()
    },
  }
}

/** JSON: `at`, `device`, `protocol`, `reason`, `bytes`, and the beginning of the payload as `text`, else as `hex`. */
function describe({ at, device, protocol, reason, payload, secret }: Misunderstood): string {
  const shown = without(secret, payload).subarray(0, SHOWN_BYTES)
  // Leaves out the half of a character at the cut.
  const text = new StringDecoder().write(shown)
  const content = CONTROL.test(text) ? { hex: shown.toString('hex') } : { text }
  return JSON.stringify({ at, device, protocol, reason, bytes: payload.length, ...content })
}

/** The payload with asterisks in place of the secret: plain, or as URLs and JSON encode it. */
function without(secret: string | undefined, payload: Buffer): Buffer {
  if (!secret) return payload
  let hidden = payload.toString('latin1')
  for (const spelling of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    hidden = hidden.replaceAll(Buffer.from(spelling).toString('latin1'), (found) => '*'.repeat(found.length))
  return Buffer.from(hidden, 'latin1')
}

/** Control characters, and the character that stands for bytes that are no UTF-8. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/
const KEPT = 1000
const SHOWN_BYTES = 1024
