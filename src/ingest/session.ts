import type { Session, Transport } from '../../protocols/kit/index.ts'

/** A conversation with what listeners know of it. */
export interface DeviceSession extends Session {
  /** `address:port` of the other end. */
  readonly remote: string
  /** ms UTC. */
  readonly connectedAt: number
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
