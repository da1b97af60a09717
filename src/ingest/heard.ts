import type { Fix } from '../../protocols/kit/index.ts'
import { keys, type Redis } from '../lanes/index.ts'
import type { DeviceSession } from './session.ts'

/** What was last heard of a device, kept in Redis for the admin port. Instants in ms UTC. */
export interface Heard {
  at: number
  protocol: string
  transport: string
  remote: string
  /** Since when the present connection is open; absent once it is closed. */
  connectedAt?: number
  fix?: Fix
  filtered?: { readonly reason: string; readonly at: number; readonly fix: Fix }
}

export interface HeardBook {
  /** The entry of a device that speaks now, to be completed by the caller. */
  of(device: string, session: DeviceSession, protocol: string): Heard
  /** The device's connection ended. */
  gone(session: DeviceSession): void
  close(): Promise<void>
}

/** Remembers what devices said, and writes it to Redis once a second: nothing waits for it. */
export function createHeard(redis: Redis): HeardBook {
  const heard = new Map<string, Heard>()
  const dirty = new Set<string>()

  async function flush(): Promise<void> {
    const devices = [...dirty]
    dirty.clear()
    if (devices.length === 0) return
    const entries = devices.flatMap((device) => [device, JSON.stringify(heard.get(device))])
    await redis.hset(keys.devices, ...entries).catch(() => devices.forEach((device) => dirty.add(device)))
  }

  const timer = setInterval(() => void flush(), 1000).unref()
  return {
    of(device, session, protocol) {
      const entry: Heard = heard.get(device) ?? { at: 0, protocol, transport: session.transport, remote: '' }
      if (entry.at === 0) heard.set(device, entry)
      dirty.add(device)
      entry.at = session.now
      entry.protocol = protocol
      entry.transport = session.transport
      entry.remote = session.remote
      entry.connectedAt = session.transport === 'udp' ? undefined : session.connectedAt
      return entry
    },
    gone({ device, connectedAt }) {
      const entry = device === undefined ? undefined : heard.get(device)
      if (device === undefined || entry?.connectedAt !== connectedAt) return
      delete entry.connectedAt
      dirty.add(device)
    },
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
