import type { Redis } from '../../lanes/index.ts'
import { type DeviceSession, lasts } from '../session.ts'
import { mayNote } from './limit.ts'
import { createUnwritten, type Unwritten } from './unwritten.ts'

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
export interface Events extends Pick<Unwritten, 'write'> {
  /** A device speaks over a connection: an event where it is a new one that lasts. */
  connected(device: string, session: DeviceSession, protocol?: string): void
  /** The connection ended: an event where its beginning was one. */
  gone(session: DeviceSession): void
  /** What became of something it sent, with the lane or the reason: an event where something else became of the one before. */
  became(device: string, treatment: Treatment, what: string): void
}

/**
 * Notes changes of what happens to devices. What came before the first fix of this process, or of a connection, is in Redis:
 * there an event that says the same as the latest is left out, so that neither a restart nor another gateway tells of a change
 * that is none. Of a device that hangs up between two packets, or to which two things happen in turn, six connections and six
 * changes in ten minutes are noted here; once there is room again, what holds by that time is.
 */
export function createEvents(redis: Redis): Events {
  const trails = new Map<string, Trail>()
  const unwritten = createUnwritten(redis)

  function trailOf(device: string): Trail {
    const trail = trails.get(device) ?? newTrail()
    trails.set(device, trail)
    return trail
  }

  function note(device: string, happening: Happening): void {
    unwritten.add(device, JSON.stringify({ at: Date.now(), ...happening } satisfies DeviceEvent))
  }

  return {
    connected(device, session, protocol) {
      const { connectedAt, remote, transport } = session
      const trail = trailOf(device)
      // Of two connections at once the newer one counts.
      if (!lasts(session.transport) || connectedAt <= trail.connectedAt) return
      trail.connectedAt = connectedAt
      trail.isNoted = mayNote(trail.connections, performance.now())
      if (!trail.isNoted) return
      trail.mayBeOld = true
      note(device, { event: 'connected', protocol, transport, remote })
    },
    gone(session) {
      const { connectedAt, device, ended, remote } = session
      const trail = device === undefined ? undefined : trails.get(device)
      if (device === undefined || trail?.connectedAt !== connectedAt) return
      trail.connectedAt = 0
      if (trail.isNoted) note(device, { event: 'disconnected', remote, reason: ended })
    },
    became(device, treatment, what) {
      if (!turns(trailOf(device), treatment, what)) return
      note(device, treatment === 'routed' ? { event: treatment, lane: what } : { event: treatment, reason: what })
    },
    write: unwritten.write,
  }
}

/** What was noted of a device last. */
interface Trail {
  /** Of its connection; 0: it has none. */
  connectedAt: number
  /** Whether the beginning of that was noted. */
  isNoted: boolean
  /** What became of what it sent; undefined: nothing did in this process. */
  treatment: Treatment | undefined
  /** The lane, or the reason. */
  what: string
  /** Whether another gateway may have noted something else since. */
  mayBeOld: boolean
  /** When its last connections and changes were noted, on the clock of `performance`. */
  readonly connections: number[]
  readonly changes: number[]
}

function newTrail(): Trail {
  return {
    connectedAt: 0,
    isNoted: false,
    treatment: undefined,
    what: '',
    mayBeOld: false,
    connections: [],
    changes: [],
  }
}

/** Whether it is to be noted what became of the device; that stands in the trail then. */
function turns(trail: Trail, treatment: Treatment, what: string): boolean {
  const isSame = trail.treatment === treatment && trail.what === what
  if (isSame ? !trail.mayBeOld : !mayNote(trail.changes, performance.now())) return false
  trail.treatment = treatment
  trail.what = what
  trail.mayBeOld = false
  return true
}
