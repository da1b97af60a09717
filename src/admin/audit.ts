import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parse } from '../http/refusal.ts'
import { masked, printableUrl } from '../masking.ts'
import type { Logger } from '../observe/log.ts'
import { keys, type Store } from '../store/index.ts'
import type { EventSource } from './events/feed.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { PageQuery, wrongToken } from './paging.ts'
import { type AuditEntry, AuditJson } from './schemas/audit.ts'
import { pageSchema } from './schemas/parts.ts'
import type { Scope } from './scope.ts'

export interface AuditOptions {
  readonly redis: Store
  readonly logger: Logger
  /** Secrets that are masked if a caller has put one into the path. */
  readonly secrets: () => readonly string[]
  /** The company of the device that an id or a name means. */
  readonly companyOf: (device: string) => string | undefined
}

/**
 * Writes an audit entry for every request for a change, whatever its outcome, and sends the answer once the entry is on disk.
 * Two kinds of entries go to the process log only: those that Redis does not take within a second, and those of read-only
 * tokens, which must not push real changes out of the audit log.
 */
export function keepAudit(app: FastifyInstance, { redis, logger, secrets, companyOf }: AuditOptions): void {
  // Before a device is deleted, or gets another company.
  app.addHook('onRequest', async (request) => {
    if (request.method !== 'GET') request.company = companyAsked(request, companyOf)
  })
  app.addHook('onSend', async (request, { statusCode }) => {
    const { caller, change, method, url, audit } = request
    if (!caller || change === undefined) return
    const path = secrets()
      .filter(({ length }) => length >= MIN_SECRET)
      .reduce((shown, secret) => masked(shown, secret), printableUrl(url))
    // The body is not logged: it may contain the secret of a device.
    const entry: AuditEntry = {
      token: caller.label,
      subject: caller.subject,
      role: caller.role,
      method,
      path: path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path,
      operation: change,
      status: statusCode,
      companies: companiesAbout(request, companyOf),
      summary: audit,
    }
    logger.info({ audit: entry }, 'request for a change')
    if (caller.role !== 'operate') return
    await inTime(redis.run('audit', [keys.audit], [AUDIT_KEPT, JSON.stringify(entry)])).catch((error: unknown) =>
      logger.error({ err: error, audit: entry }, 'this change is missing from the audit log in Redis'),
    )
  })
}

/** Resolves to what Redis answers to an added entry. Rejects if that takes longer than a second. */
export async function inTime(added: Promise<unknown>): Promise<unknown> {
  const late = delay(MAX_WAIT_MS, undefined, { ref: false }).then(() =>
    Promise.reject(new Error('Redis takes longer than a second')),
  )
  return Promise.race([added, late])
}

/**
 * Returns the companies of an entry: the company of the request; if it has none, or one that the caller may not see, the
 * companies of the caller.
 */
export function companiesAbout(request: FastifyRequest, companyOf: AuditOptions['companyOf']): string[] | undefined {
  const company = request.company ?? companyAsked(request, companyOf)
  const { scope } = request.caller ?? {}
  if (company !== undefined && scope?.sees(company)) return [company]
  return scope?.companies ? [...scope.companies] : undefined
}

type AskedAbout = Readonly<Partial<Record<'company_id' | 'device' | 'id' | 'route_id', unknown>>>

/**
 * Returns the object of a request, from its path and the parameters that its operation has. Other parameters are ignored,
 * because they would mislead readers of the log.
 */
export function askedAbout({ params, query, routeOptions }: FastifyRequest): AskedAbout {
  const { asks = [] } = routeOptions.config
  const asked = Object.entries(query as object).filter(([name]) => asks.includes(name))
  return { ...Object.fromEntries(asked), ...(params as object) }
}

/**
 * Returns the company in the path or query of a request; undefined if there is none, if there are several, or if only the
 * body names it.
 */
function companyAsked(request: FastifyRequest, companyOf: AuditOptions['companyOf']): string | undefined {
  const { company_id, device, id = device } = askedAbout(request)
  if (typeof company_id === 'string') return company_id
  return typeof id === 'string' ? companyOf(id) : undefined
}

/** `GET /admin/audit`: requests for changes, latest first; the last 10,000 are kept. */
export function auditOperations(redis: Store): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/audit',
      id: 'listAudit',
      summary: 'List the requests for changes, latest first',
      query: PageQuery,
      answer: pageSchema(AuditJson),
      companies: 'filtered',
      async handle({ query }, _reply, scope) {
        return pageOfEntries(redis, { key: keys.audit, query, scope }, entryJson)
      },
    },
  ]
}

interface EntryQuery {
  /** The stream of the entries. */
  readonly key: string
  readonly query: unknown
  readonly scope: Scope
}

type StreamEntry = [id: string, fields: string[]]

/** The page of a log that a query asks for, of the entries that are seen, latest first. */
export async function pageOfEntries<Entry extends { readonly id: string; readonly companies?: readonly string[] }>(
  redis: Store,
  { key, query, scope }: EntryQuery,
  toJson: (entry: StreamEntry) => Entry,
) {
  const { max_results, page_token } = parse(PageQuery, query)
  if (page_token !== undefined && !ENTRY_ID.test(page_token)) throw wrongToken()
  const seen: Entry[] = []
  const atOnce = scope.isAll ? max_results + 1 : Math.max(max_results + 1, AT_ONCE)
  for (let last = page_token, isMore = true; isMore && seen.length <= max_results; ) {
    const entries = await redis.xrevrange(key, last === undefined ? '+' : `(${last}`, '-', 'COUNT', atOnce)
    seen.push(...entries.map(toJson).filter(({ companies }) => scope.seesEach(companies ?? [])))
    last = entries.at(-1)?.[0]
    isMore = entries.length === atOnce
  }
  const results = seen.slice(0, max_results)
  return { results, next_page_token: seen.length > max_results ? results.at(-1)?.id : undefined }
}

/** The entries that are added to the audit log, whichever process adds them. */
export function auditSource(redis: Store): EventSource {
  let last: string | undefined
  return {
    topic: 'audit',
    async look() {
      if (last === undefined) {
        const [latest] = await redis.xrevrange(keys.audit, '+', '-', 'COUNT', 1)
        last = latest?.[0] ?? '0-0'
        return []
      }
      const entries = await redis.xrange(keys.audit, `(${last}`, '+', 'COUNT', MAX_NEWS)
      last = entries.at(-1)?.[0] ?? last
      return entries.map(entryJson).map((data) => ({
        dataFor: (scope) => (scope.seesEach(data.companies ?? []) ? data : undefined),
      }))
    },
  }
}

function entryJson([id, [, json]]: StreamEntry) {
  return { id, at: instant(Number.parseInt(id, 10)), ...(JSON.parse(json) as AuditEntry) }
}

/** A shorter secret would mask parts of ordinary words. */
const MIN_SECRET = 8
const MAX_PATH = 256
const MAX_WAIT_MS = 1000
const AUDIT_KEPT = 10_000
/** Entries read in one call if the caller may not see all of them. */
const AT_ONCE = 500
/** The most entries that one look reads; the next look continues. */
const MAX_NEWS = 100
/** The id of an entry of a Redis stream: ms UTC and a serial number. */
const ENTRY_ID = /^[1-9]\d{0,14}-\d{1,15}$/
