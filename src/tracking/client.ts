import { Pool } from 'undici'
import { type Answer, answerOf } from './client/answer.ts'
import { exchange } from './client/exchange.ts'
import { printableUrl } from './printable-url.ts'
import { CourierPositions, type CourierPosition } from './schemas.ts'

export type { Answer } from './client/answer.ts'
export type { Fault } from './client/fault.ts'

export interface TrackingClientOptions {
  /** May have a path, which goes in front of every operation's. */
  readonly baseUrl: string
  /** Where pushes go; default: baseUrl. */
  readonly pushUrl?: string | null
  /** For a whole request, waiting for a free connection included. */
  readonly timeoutMs: number
  /** Most connections to each of the two hosts. */
  readonly connections: number
}

/** Ids in exact decimal digits; `body` is ready JSON. */
export interface PushRequest {
  readonly courier: string
  readonly route: string
  readonly apikey: string
  readonly body: string | Buffer
}

/** Unix seconds, both ends included. */
export interface PositionsRequest {
  readonly company: string
  readonly route: string
  readonly oauthToken: string
  readonly from: number
  readonly to?: number
}

/** A client of the tracking interface. What may happen is a value: nothing here throws or rejects. No retries. */
export interface TrackingClient {
  push(request: PushRequest): Promise<Answer>
  /** `positions` where the answer is 200 and fits the interface; `malformed` where it is 200 and does not. */
  positions(request: PositionsRequest): Promise<Answer | { readonly positions: readonly CourierPosition[] }>
  /** Waits for what is under way and closes all connections. */
  close(): Promise<void>
}

/** @throws Error where a URL cannot be parsed; it quotes no secret of it. */
export function createTrackingClient(options: TrackingClientOptions): TrackingClient {
  const base = parseUrl(options.baseUrl)
  const pushBase = parseUrl(options.pushUrl ?? options.baseUrl)
  const basePool = createPool(base.origin, options)
  const pushPool = pushBase.origin === base.origin ? basePool : createPool(pushBase.origin, options)
  const basePath = prefix(base)
  const pushPath = prefix(pushBase)
  const { timeoutMs } = options

  async function push({ courier, route, apikey, body }: PushRequest): Promise<Answer> {
    const key = encodeURIComponent(apikey.toWellFormed())
    const path = `${pushPath}/api/v1/couriers/${courier}/routes/${route}/push-positions-v3?apikey=${key}`
    const reply = await exchange(
      pushPool,
      { method: 'POST', path, headers: JSON_HEADERS, body },
      { timeoutMs, maxBytes: MAX_ANSWER_BYTES },
    )
    return 'fault' in reply ? reply : answerOf(reply, apikey)
  }

  async function positions({ company, route, oauthToken, from, to }: PositionsRequest) {
    const until = to === undefined ? '' : `&to=${to}`
    const path = `${basePath}/api/v2/companies/${company}/routes/${route}/courier-positions?from=${from}${until}`
    const headers = ['authorization', `OAuth ${oauthToken}`]
    const reply = await exchange(
      basePool,
      { method: 'GET', path, headers },
      { timeoutMs, maxBytes: MAX_POSITIONS_BYTES },
    )
    if ('fault' in reply) return reply
    return reply.status === 200 ? parsePositions(reply.body) : answerOf(reply, oauthToken)
  }

  const close = async () => void (await Promise.all([...new Set([basePool, pushPool])].map((pool) => pool.close())))
  return { push, positions, close }
}

/** The error of `new URL` has the whole text in it. */
function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url) throw new Error(`${printableUrl(text)} is not a URL`)
  return url
}

/** No pipelining: it may reorder, and one slow answer would hold up others. undici's own time-outs measure idling. */
function createPool(origin: string, { connections, timeoutMs }: TrackingClientOptions): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    connectTimeout: Math.min(timeoutMs, MAX_CONNECT_MS),
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

function prefix({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '')
}

function parsePositions(body: Buffer) {
  try {
    return { positions: CourierPositions.parse(JSON.parse(body.toString())) }
  } catch {
    return { fault: 'malformed' } as const
  }
}

const JSON_HEADERS = ['content-type', 'application/json']
const MAX_ANSWER_BYTES = 64 * 1_024
const MAX_POSITIONS_BYTES = 64 * 1_024 * 1_024
const MAX_CONNECT_MS = 10_000
