import { randomUUID } from 'node:crypto'
import type { Fix } from '../../protocols/kit/index.ts'
import { keys, type Redis } from '../lanes/index.ts'
import { createEvents, type Events } from './heard/events.ts'
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
  protocol: string
  transport: string
  remote: string
  /** Since when the present connection is open; absent once it is closed. */
  connectedAt?: number
}

/** As it stands in Redis, with the gateway process that heard the device. */
export interface StoredContact extends Contact {
  readonly gateway: string
}

export interface HeardBook extends Pick<Events, 'connected' | 'became'> {
  /** The entry of a device that speaks now, to be completed by the caller. */
  of(device: string, session: DeviceSession, protocol: string): Heard
  /** The device's connection ended. */
  gone(session: DeviceSession): void
  close(): Promise<void>
}

/**
 * Remembers what devices said, and writes it to Redis once a second: nothing waits for it. The process says with it that it
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
  let flushing: Promise<void> | undefined

  /** One at a time: while Redis is slow, what devices say meanwhile is one entry each. */
  function flush(): Promise<void> {
    flushing ??= write().finally(() => (flushing = undefined))
    return flushing
  }

  async function write(): Promise<void> {
    await beat().catch(() => {})
    const devices = [...dirty]
    for (let at = 0; at < devices.length; at += AT_ONCE) {
      const some = devices.slice(at, at + AT_ONCE)
      some.forEach((device) => dirty.delete(device))
      const written = Promise.all(writes(some))
      await written.catch(() => some.forEach((device) => dirty.add(device)))
    }
    await events.write()
  }

  /** Where Redis' memory is full it takes no new sign, but lets the last one live on. */
  async function beat(): Promise<void> {
    const sign = keys.gateway(gateway)
    const said = redis.set(sign, JSON.stringify(problems()), 'PX', LIFE_SIGN_MS)
    await Promise.all([said, redis.sadd(keys.gatewayIds, gateway)]).catch(() => redis.pexpire(sign, LIFE_SIGN_MS))
  }

  /** Of a part that this process has not heard, what an earlier one wrote stays. */
  function writes(devices: readonly string[]): Promise<unknown>[] {
    const contacts: string[] = []
    const fixes: string[] = []
    const filtered: string[] = []
    for (const device of devices) {
      const { fix, filtered: lost, ...contact } = heard.get(device) as Heard
      contacts.push(device, JSON.stringify({ ...contact, gateway } satisfies StoredContact))
      if (fix) fixes.push(device, JSON.stringify(fix))
      if (lost) filtered.push(device, JSON.stringify(lost))
    }
    const parts = [
      [keys.devices, contacts],
      [keys.lastFixes, fixes],
      [keys.lastFiltered, filtered],
    ] as const
    return parts.filter(([, entries]) => entries.length > 0).map(([key, entries]) => redis.hset(key, ...entries))
  }

  const timer = setInterval(() => void flush(), 1000).unref()
  void flush()
  return {
    of(device, session, protocol) {
      const entry: Heard = heard.get(device) ?? { at: 0, protocol, transport: session.transport, remote: '' }
      if (entry.at === 0) heard.set(device, entry)
      dirty.add(device)
      if (lasts(session) && entry.connectedAt !== session.connectedAt) events.connected(device, session, protocol)
      entry.at = session.now
      entry.protocol = protocol
      entry.transport = session.transport
      entry.remote = session.remote
      entry.connectedAt = session.transport === 'udp' ? undefined : session.connectedAt
      return entry
    },
    connected: events.connected,
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
      clearInterval(timer)
      // What is being written now may lack the last of it.
      await flushing
      await flush()
      const signs = [
        redis.del(keys.gateway(gateway)),
        redis.srem(keys.gatewayIds, gateway),
        redis.hdel(keys.roster('applied'), gateway),
      ]
      await Promise.all(signs).catch(() => {})
    },
  }
}

const LIFE_SIGN_MS = 5000
const AT_ONCE = 1000
