import { Pool } from 'undici'

export interface PoolOptions {
  readonly timeoutMs: number
  readonly connections: number
}

/** No pipelining: it may reorder, and one slow answer would hold up others. undici's own time-outs measure idling. */
export function createPool(origin: string, { connections, timeoutMs }: PoolOptions): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    connectTimeout: Math.min(timeoutMs, MAX_CONNECT_MS),
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

const MAX_CONNECT_MS = 10_000
