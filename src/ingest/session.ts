import type { Session, Transport } from '../../protocols/kit/index.ts'

/** A conversation with what listeners know of it. */
export interface DeviceSession extends Session {
  /** `address:port` of the other end. */
  readonly remote: string
  /** ms UTC. */
  readonly connectedAt: number
  /** Why we end its connection, once we do. */
  ended?: string
}

/** A conversation that begins now. */
export function createSession(transport: Transport, remote: string): DeviceSession {
  const now = Date.now()
  return {
    transport,
    remote,
    connectedAt: now,
    now,
    lenient: false,
    settings: {},
    device: undefined,
    secret: undefined,
  }
}

/** Whether a device stays on its connection: over UDP there is none, and one of HTTP is a request's. */
export function lasts(transport: Transport): boolean {
  return transport === 'tcp' || transport === 'mqtt'
}
