import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { copyTls } from '../config/certificate.ts'
import type { Copy } from '../config/copies.ts'
import { withoutSecrets } from '../masking.ts'
import { signature } from '../signature.ts'
import type { CopiedFix } from '../store/index.ts'
import { answerText, say } from '../texts/text.ts'
import { inOneLine } from '../tracking/answer.ts'
import { bodyOf, exchange, type Failure, isSuccess, type Reply, retryAfterMs } from '../tracking/exchange.ts'
import { VERSION } from '../version.ts'
import { fixJson } from './fix-json.ts'
import { type CopyNames, mayBeFixes, type Receiver, type ReceiverAnswer } from './receiver.ts'

export interface HttpReceiverOptions {
  readonly copy: Copy
  readonly names: CopyNames
  readonly timeoutMs: number
  /** Requests at once. */
  readonly connections: number
  /** Most fixes in one request. */
  readonly most: number
}

/** Posts arrays of fixes, signed like alerts. @throws Error if the files of its TLS cannot be used */
export function jsonReceiver(options: HttpReceiverOptions): Receiver {
  const { copy, most, names } = options
  const http = new HttpReceiver(options)
  return {
    most,
    queueOf: ({ device }) => String(hashOf(device) % QUEUES),
    send(company, fixes, signal) {
      const body = JSON.stringify(fixes.map((fix) => fixJson(company, fix, names.nameOf(company, fix.device))))
      const headers = {
        'content-type': 'application/json',
        'waybridge-delivery': randomUUID(),
        ...signature(body, copy.secret),
      }
      return http.ask({ method: 'POST', query: '', headers, body }, REFUSED_JSON, signal)
    },
    close: () => http.close(),
  }
}

/** Requests a URL for each fix, like OsmAnd. @throws Error if the files of its TLS cannot be used */
export function osmandReceiver(options: HttpReceiverOptions): Receiver {
  const { secret } = options.copy
  const http = new HttpReceiver(options)
  return {
    most: 1,
    queueOf: ({ device }) => device,
    send: (_company, [fix], signal) =>
      http.ask({ method: 'GET', query: osmandQuery(fix, secret), headers: {} }, REFUSED_OSMAND, signal),
    close: () => http.close(),
  }
}

/** `speed` is in knots. */
function osmandQuery(fix: CopiedFix, secret: string | undefined): string {
  const { accuracy, altitude, device, heading, latitude, longitude, satellites, speed, timestamp } = fix
  const values = {
    id: device,
    timestamp,
    lat: latitude,
    lon: longitude,
    speed: speed === undefined ? undefined : Math.round(speed * KNOTS * 1000) / 1000,
    bearing: heading,
    altitude,
    accuracy,
    sat: satellites,
    token: secret,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.append(name, String(value))
  return query.toString()
}

interface ReceiverRequest {
  readonly method: 'GET' | 'POST'
  /** Parameters to append to those of the URL. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The connections to one URL. */
class HttpReceiver {
  readonly #pool: Pool
  readonly #path: string
  readonly #options: HttpReceiverOptions

  constructor(options: HttpReceiverOptions) {
    const { connections, copy, timeoutMs } = options
    const { origin, pathname, search } = new URL(copy.to)
    this.#options = options
    this.#path = pathname + search
    const tls = copyTls(copy)
    this.#pool = new Pool(origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      connectTimeout: Math.min(timeoutMs, MAX_CONNECT_MS),
      ...(tls && { connect: tls }),
    })
  }

  async ask(asked: ReceiverRequest, refused: ReadonlySet<number>, signal: AbortSignal): Promise<ReceiverAnswer> {
    const { copy, timeoutMs } = this.#options
    const { method, query, body } = asked
    const path = query === '' ? this.#path : `${this.#path}${this.#path.includes('?') ? '&' : '?'}${query}`
    const headers = { 'user-agent': `waybridge/${VERSION}`, ...copy.headers, ...asked.headers }
    const limits = { timeoutMs, maxBytes: MAX_ANSWER_BYTES, signal }
    return this.#answer(await exchange(this.#pool, { method, path, headers, body }, limits), refused)
  }

  close(): void {
    // Requests under way were given up, or end by their deadline.
    void this.#pool.close().catch(() => {})
  }

  #answer(reply: Reply | Failure, refused: ReadonlySet<number>): ReceiverAnswer {
    const { copy, timeoutMs } = this.#options
    if ('fault' in reply) return answerOfFailure(reply, timeoutMs)
    const { status, headers } = reply
    if (isSuccess(status)) return { to: 'delivered' }
    const secrets = [copy.secret ?? '', ...Object.values(copy.headers)]
    const text = inOneLine(withoutSecrets(bodyOf(reply).toString(), copy.to, secrets), MOST_SHOWN)
    if (refused.has(status)) return { to: 'refuse', status, message: text }
    const after = headers['retry-after']
    const leastMs = after === undefined ? undefined : retryAfterMs(String(after), Date.now())
    return { to: 'retry', reason: answerText(status, text), mayBeFixes: mayBeFixes(status, leastMs), leastMs }
  }
}

/** Returns the result of a request without an answer. */
export function answerOfFailure({ fault }: Failure, timeoutMs: number): ReceiverAnswer {
  const isLate = fault === 'timeout'
  const reason = isLate
    ? say('it does not answer within {} s', Math.ceil(timeoutMs / 1000))
    : say('the connection failed ({})', fault)
  return { to: 'retry', reason, mayBeFixes: isLate }
}

function hashOf(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash >>> 0
}

/** Statuses that refuse the positions; all others may be temporary, or concern the receiver. */
const REFUSED_JSON: ReadonlySet<number> = new Set([400, 413, 422])
/** Traccar answers 400 for a device that it does not know. */
const REFUSED_OSMAND: ReadonlySet<number> = new Set([400, 404, 413, 414, 422])
const QUEUES = 4
const KNOTS = 3600 / 1852
const MAX_CONNECT_MS = 10_000
const MAX_ANSWER_BYTES = 16 * 1024
const MOST_SHOWN = 100
