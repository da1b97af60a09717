import { appendEvents, EVENTS_KEPT, type Redis } from '../../lanes/index.ts'
import { type DeviceSession, lasts } from '../session.ts'

/** What happened to a device, as it stands in Redis; `at` in ms UTC. */
export type DeviceEvent = { readonly at: number } & Happening

type Happening =
  /** Over MQTT at its login, else when it first speaks; each message over MQTT has a protocol of its own. */
  | { readonly event: 'connected'; readonly protocol?: string; readonly transport: string; readonly remote: string }
  /** The reason where we ended it; without one the device or the network did. */
  | { readonly event: 'disconnected'; readonly remote: string; readonly reason?: string }
  | { readonly event: 'routed'; readonly lane: string }
  | { readonly event: Exclude<Treatment, 'routed'>; readonly reason: string }

/** What becomes of what a device sends: its fixes go to a lane, wait, or are left out; or nothing of it is taken. */
export type Treatment = 'routed' | 'held' | 'filtered' | 'misunderstood' | 'refused'

/** What is told of configured devices. */
export interface Events {
  /** A device speaks over a connection: an event where it is a new one that lasts. */
  connected(device: string, session: DeviceSession, protocol?: string): void
  /** The connection ended. */
  gone(session: DeviceSession): void
  /** What became of something it sent, with the lane or the reason: an event where something else became of the one before. */
  became(device: string, treatment: Treatment, what: string): void
  /** Writes what happened since; what Redis does not take waits, 20 of a device at most. Never rejects. */
  write(): Promise<void>
}

/**
 * Notes changes of what happens to devices. What came before the first fix of a connection or of this process is in Redis: there
 * an event that says the same as the latest is left out, so that neither a restart nor another gateway tells of a change
 * that is none. A device to which two things happen in turn is followed for six changes in ten minutes; then what holds by
 * that time is noted, so that its other events stay.
 */
export function createEvents(redis: Redis): Events {
  const trails = new Map<string, Trail>()
  /** By device, as they will stand in Redis. */
  const waiting = new Map<string, string[]>()

  function trailOf(device: string): Trail {
    let trail = trails.get(device)
    if (!trail) trails.set(device, (trail = { connectedAt: 0, treatment: undefined, what: '', since: 0, turns: 0 }))
    return trail
  }

  function note(device: string, happening: Happening): void {
    const event = JSON.stringify({ at: Date.now(), ...happening } satisfies DeviceEvent)
    queue(device, [...(waiting.get(device) ?? []), event])
  }

  function queue(device: string, events: readonly string[]): void {
    waiting.set(device, events.slice(-EVENTS_KEPT))
  }

  return {
    connected(device, session, protocol) {
      const { connectedAt, remote, transport } = session
      const trail = trailOf(device)
      // Of two connections at once the newer one counts.
      if (!lasts(session) || connectedAt <= trail.connectedAt) return
      trail.connectedAt = connectedAt
      trail.treatment = undefined
      note(device, { event: 'connected', protocol, transport, remote })
    },
    gone(session) {
      const { connectedAt, device, ended, remote } = session
      const trail = device === undefined ? undefined : trails.get(device)
      if (device === undefined || trail?.connectedAt !== connectedAt || !lasts(session)) return
      trail.connectedAt = 0
      note(device, { event: 'disconnected', remote, reason: ended })
    },
    became(device, treatment, what) {
      const trail = trailOf(device)
      if ((trail.treatment === treatment && trail.what === what) || !mayTurn(trail)) return
      trail.treatment = treatment
      trail.what = what
      note(device, treatment === 'routed' ? { event: treatment, lane: what } : { event: treatment, reason: what })
    },
    async write() {
      const all = [...waiting]
      for (let at = 0; at < all.length; at += AT_ONCE) {
        const some = all.slice(at, at + AT_ONCE).map(([device]) => [device, waiting.get(device) ?? []] as const)
        for (const [device] of some) waiting.delete(device)
        const written = appendEvents(redis, some).then(
          () => true,
          () => false,
        )
        if (await written) continue
        for (const [device, events] of some) queue(device, [...events, ...(waiting.get(device) ?? [])])
        return
      }
    },
  }
}

/** What was noted of a device last. */
interface Trail {
  /** Of its connection; 0: it has none. */
  connectedAt: number
  /** Undefined: only Redis knows. */
  treatment: Treatment | undefined
  what: string
  /** How often that changed since then, on the clock of `performance`. */
  turns: number
  since: number
}

function mayTurn(trail: Trail): boolean {
  if (trail.treatment === undefined) return true
  const now = performance.now()
  if (now - trail.since > TURNS_MS) {
    trail.since = now
    trail.turns = 0
  }
  return trail.turns++ < MOST_TURNS
}

const MOST_TURNS = 6
const TURNS_MS = 600_000
/** Devices in one script: some milliseconds of Redis' time. */
const AT_ONCE = 200
