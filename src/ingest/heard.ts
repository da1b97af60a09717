import { randomUUID } from 'node:crypto'
import type { Fix, Transport } from '../../protocols/kit/index.ts'
import { everySecond } from '../async.ts'
import type { Redis } from '../lanes/index.ts'
import { createEvents, type Events } from './heard/events.ts'
import { giveSign } from './heard/sign.ts'
import { writeHeard } from './heard/write.ts'
import { type DeviceSession, lasts } from './session.ts'

/** What was last heard of a device, kept in Redis for the admin port. Instants in ms UTC. */
export interface Heard extends Contact {
  /** The last fix that went to a lane, or is held for want of a route, in UTC: what is ahead of the clock has no time yet. */
  fix?: { readonly at: number; readonly fix: Fix }
  /** The last one that did not go to a lane, and why; `held`: it waits, or has gone to one since. */
  filtered?: { readonly reason: string; readonly at: number; readonly fix: Fix; readonly held?: true }
}

/** When and how a device spoke last. */
export interface Contact {
  at: number
  /** Absent where it has logged in over MQTT, and said nothing more. */
  protocol?: string
  transport: Transport
  remote: string
  /** Since when the present connection is open, where it is one that lasts; absent once it is closed. */
  connectedAt?: number
}

/** As it stands in Redis, with the gateway process that heard the device. */
export interface StoredContact extends Contact {
  readonly gateway: string
}

export interface HeardBook extends Pick<Events, 'became'> {
  /** The entry of a device that speaks now, to be completed by the caller; `protocol`: undefined at a login. */
  of(device: string, session: DeviceSession, protocol?: string): Heard
  /** The device's connection ended. */
  gone(session: DeviceSession): void
  /** Says that this gateway is none any more, and writes the last of it, what was heard before what happened. */
  close(): Promise<void>
}

/**
 * Remembers what devices said, and writes it to Redis once a second: nothing waits for it. The process says beside it that it
 * lives (connections of one that does not are none), and why it acknowledges nothing, if so: `problems`, a sentence each.
 * `gateway`: which process this is.
 */
export function createHeard(
  redis: Redis,
  problems: () => readonly string[] = () => [],
  gateway: string = randomUUID(),
): HeardBook {
  const heard = new Map<string, Heard>()
  const dirty = new Set<string>()
  const events = createEvents(redis)

  /** While Redis is slow, what devices say meanwhile is one entry each. */
  async function write(): Promise<void> {
    const devices = [...dirty]
    for (let at = 0; at < devices.length; at += AT_ONCE) {
      const some = devices.slice(at, at + AT_ONCE)
      some.forEach((device) => dirty.delete(device))
      const entries = some.map((device) => [device, heard.get(device) as Heard] as const)
      await writeHeard(redis, gateway, entries).catch(() => some.forEach((device) => dirty.add(device)))
    }
  }

  const sign = giveSign(redis, gateway, problems)
  const [entries, happenings] = [everySecond(write), everySecond(events.write)]
  return {
    of(device, session, protocol) {
      const entry: Heard = heard.get(device) ?? { at: 0, protocol, transport: session.transport, remote: '' }
      if (entry.at === 0) heard.set(device, entry)
      dirty.add(device)
      const connectedAt = lasts(session.transport) ? session.connectedAt : undefined
      if (entry.connectedAt !== connectedAt) events.connected(device, session, protocol)
      entry.at = session.now
      entry.protocol = protocol
      entry.transport = session.transport
      entry.remote = session.remote
      entry.connectedAt = connectedAt
      return entry
    },
    became: events.became,
    gone(session) {
      const { device, connectedAt } = session
      events.gone(session)
      const entry = device === undefined ? undefined : heard.get(device)
      if (device === undefined || entry?.connectedAt !== connectedAt) return
      delete entry.connectedAt
      dirty.add(device)
    },
    async close() {
      // What is being written now may lack the last of it.
      await Promise.all([sign.end(), entries.stop()])
      await write()
      await happenings.stop()
      await events.write()
    },
  }
}

const AT_ONCE = 1000
