import type { Protocol } from '../../protocols/kit/index.ts'
import type { HeardBook } from '../ingest/heard.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { Logger } from '../observe/log.ts'
import type { Admission } from './admission.ts'
import type { Pressure } from './pressure.ts'

/** Of `limits` in gateway.yaml; durations in ms. */
export interface Limits {
  readonly max_connections: number
  readonly max_connections_per_ip: number
  readonly identify_timeout: number
  readonly idle_timeout: number
  readonly max_frame_bytes: number
}

/** What every listener of a gateway shares. */
export interface Shared {
  readonly ingest: Pick<Ingest, 'take'>
  readonly heard: Pick<HeardBook, 'spoke' | 'stored' | 'became' | 'gone'>
  readonly admission: Admission
  readonly pressure: Pressure
  readonly limits: Limits
  readonly logger: Logger
}

/** Where one listens. Port 0: any free one. */
export interface Endpoint {
  readonly host: string
  readonly port: number
  readonly protocol: Protocol
}

/** A listener that is open. */
export interface Listener {
  readonly port: number
  /**
   * Accepts and reads nothing any more; resolves once what was read is stored and answered. What is not by `patienceMs`
   * (8 s) gets no answer, and comes again.
   */
  close(patienceMs?: number): Promise<void>
}

/** Of the 10 s that closing may take: the rest is for those behind the listeners. */
export const PATIENCE_MS = 8000
