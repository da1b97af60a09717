import { Pool } from 'undici'
import { pullTls } from '../../config/certificate.ts'
import { isPullable, type Pull } from '../../config/pull.ts'
import { faultWords } from '../../diagnose/upstream.ts'
import { isLoopback } from '../../domain/networks.ts'
import { say, type Text } from '../../texts/text.ts'
import { MAX_BODY_BYTES } from '../../tracking/body.ts'
import { bodyOf, exchange, type Failure, type Reply, retryAfterMs } from '../../tracking/exchange.ts'

/** Why a roster is not pulled. `status`: what its server answers, if not 200; `retryMs`: when it wants to be asked again. */
export class NotPulled extends Error {
  readonly reason: Text
  readonly status: number | undefined
  readonly retryMs: number

  constructor(reason: Text, { status, retryMs = 0 }: { readonly status?: number; readonly retryMs?: number } = {}) {
    super('a roster is not pulled')
    this.reason = reason
    this.status = status
    this.retryMs = retryMs
  }
}

/** A response body, with the headers for the next conditional request. */
export interface PulledBody {
  readonly bytes: Buffer
  readonly validators: Readonly<Record<string, string>>
}

type RosterAddress = Pick<Pull, 'url' | 'token' | 'ca'>

/**
 * Fetches a roster. Resolves to undefined if the server still has the body `known`. @param signal aborts the request @throws
 * NotPulled unless there is a complete answer with a roster
 */
export async function fetchRoster(
  asked: RosterAddress,
  { known, signal }: { readonly known?: PulledBody; readonly signal: AbortSignal },
): Promise<PulledBody | undefined> {
  const deadline = performance.now() + TIMEOUT_MS
  let url = new URL(asked.url)
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const headers = { ...HEADERS, ...known?.validators, ...authorizationFor(url, asked) }
    const reply = await ask(url, { ca: asked.ca, headers, signal, timeoutMs: deadline - performance.now() })
    if ('fault' in reply) throw failed(say(faultWords(reply.fault)))
    if (!REDIRECTS.has(reply.status)) return bodyIn(reply, known)
    url = redirected(reply, url, asked)
  }
  throw failed(say('redirects more than {} times', MOST_REDIRECTS))
}

interface Request {
  readonly ca: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Uses a new connection each time: the next request is minutes away, and may trust another authority. */
async function ask(url: URL, { ca, headers, signal, timeoutMs }: Request): Promise<Reply | Failure> {
  const tls = pullTls({ ca })
  if (tls && 'message' in tls) throw new NotPulled(`ca: ${tls.message}`)
  const pool = new Pool(url.origin, {
    connections: 1,
    allowH2: false,
    connectTimeout: CONNECT_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(tls && { connect: tls }),
  })
  const limits = { timeoutMs: Math.max(1, timeoutMs), signal, maxBytes: MAX_BODY_BYTES }
  try {
    return await exchange(pool, { method: 'GET', path: url.pathname + url.search, headers }, limits)
  } finally {
    void pool.destroy()
  }
}

/** The token, for the server alone that it is meant for. */
function authorizationFor({ origin }: URL, { url, token }: RosterAddress): Record<string, string> {
  return token !== undefined && origin === new URL(url).origin ? { authorization: `Bearer ${token}` } : {}
}

/** Returns the target of a redirect: never from TLS to plain HTTP, and to this machine only from this machine. */
function redirected({ headers, status }: Reply, from: URL, { url }: RosterAddress): URL {
  const to = headers.location === undefined ? null : URL.parse(String(headers.location), from.href)
  if (!to) throw answers(status)
  const isDowngrade = from.protocol === 'https:' && to.protocol !== 'https:'
  const isAllowed = isPullable(to) && !isDowngrade && (isLocal(new URL(url)) || !isLocal(to))
  if (!isAllowed) throw failed(say('redirects to where no roster is pulled from: expected https, and another machine'))
  return to
}

function isLocal({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

function bodyIn(reply: Reply, known: PulledBody | undefined): PulledBody | undefined {
  const { headers, status } = reply
  if (status === 304 && known && Object.keys(known.validators).length > 0) return undefined
  if (status !== 200) throw answers(status, retryAfterOf(headers))
  const { 'content-encoding': encoding, 'content-length': length, 'transfer-encoding': transfer } = headers
  if (reply.cut) throw failed(say('sends more than {} MiB', MAX_BODY_BYTES / 1024 ** 2))
  if (encoding !== undefined && encoding !== 'identity')
    throw failed(say('sends it compressed, which was not asked for'))
  // If only the end of the connection ends an answer, half a roster looks like a whole one.
  if (length === undefined && transfer === undefined)
    throw failed(say('does not say how long its answer is: it needs Content-Length, or chunks'))
  return { bytes: bodyOf(reply), validators: validatorsIn(headers) }
}

function validatorsIn({ etag, 'last-modified': modified, date }: Reply['headers']): Record<string, string> {
  const validators: Record<string, string> = {}
  if (typeof etag === 'string' && etag.length <= MAX_VALIDATOR) validators['if-none-match'] = etag
  // Dates have a resolution of seconds: a roster that has just changed may change again within the same second.
  const isSettled = Date.parse(String(date)) - Date.parse(String(modified)) > SETTLED_MS
  if (typeof modified === 'string' && isSettled) validators['if-modified-since'] = modified
  return validators
}

function retryAfterOf({ 'retry-after': header }: Reply['headers']): number | undefined {
  return header === undefined ? undefined : retryAfterMs(String(header), Date.now())
}

function answers(status: number, retryMs?: number): NotPulled {
  return new NotPulled(say('its server {}', say('answers {}', status)), { status, retryMs })
}

function failed(what: Text): NotPulled {
  return new NotPulled(say('its server {}', what))
}

const HEADERS = {
  accept: 'text/csv, application/json, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, */*;q=0.5',
  'accept-encoding': 'identity',
  'user-agent': 'waybridge',
}
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MOST_REDIRECTS = 3
/** Time-out of the whole request: a system may take a while to build its roster. */
const TIMEOUT_MS = 60_000
const CONNECT_MS = 10_000
const MAX_VALIDATOR = 1000
const SETTLED_MS = 1000
