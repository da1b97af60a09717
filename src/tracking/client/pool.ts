import { Pool } from 'undici'

export interface PoolOptions {
  readonly timeoutMs: number
  readonly connections: number
  /** Each request gets a new connection, so that none can meet one that its host is about to close. Default: they are kept. */
  readonly fresh?: boolean
}

/** No pipelining: it may reorder, and one slow answer would hold up others. undici's own time-outs measure idling. */
export function createPool(origin: string, { connections, timeoutMs, fresh = false }: PoolOptions): Pool {
  return new Pool(origin, {
    connections,
    // undici: 0 closes a connection after its request. One that was opened for a request given up meanwhile is idle.
    ...(fresh ? { pipelining: 0, keepAliveTimeout: 1 } : { pipelining: 1 }),
    allowH2: false,
    connectTimeout: Math.min(timeoutMs, MAX_CONNECT_MS),
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

const MAX_CONNECT_MS = 10_000
