import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { addToAudit, keys, type Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { masked, printableUrl } from '../masking.ts'
import { parse } from '../tracking/refusal.ts'
import type { EventSource } from './events/feed.ts'
import { Instant, instant, pageSchema } from './json.ts'
import type { Operation } from './operation.ts'
import { PageQuery, wrongToken } from './paging.ts'

export interface AuditOptions {
  readonly redis: Redis
  readonly logger: Logger
  /** Secrets that are masked if a caller has put one into the path. */
  readonly secrets: () => readonly string[]
}

/**
 * Writes an entry of the audit log for every request for a change, whatever its outcome; the answer is sent once the entry is
 * on disk. Only the log of the process gets the entries that Redis does not take within a second, and those of tokens that may
 * only read: a caller who cannot change anything must not push real changes out of the audit log.
 */
export function keepAudit(app: FastifyInstance, { redis, logger, secrets }: AuditOptions): void {
  app.addHook('onSend', async (request, { statusCode }) => {
    const { caller, change, method, url, audit } = request
    if (!caller || change === undefined) return
    const path = secrets()
      .filter(({ length }) => length >= MIN_SECRET)
      .reduce((shown, secret) => masked(shown, secret), printableUrl(url))
    // Without the body, which may contain the secret of a device.
    const entry: AuditEntry = {
      token: caller.label,
      role: caller.role,
      method,
      path: path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path,
      operation: change,
      status: statusCode,
      summary: audit,
    }
    logger.info({ audit: entry }, 'request for a change')
    if (caller.role !== 'operate') return
    const late = delay(MAX_WAIT_MS, undefined, { ref: false }).then(() =>
      Promise.reject(new Error('Redis takes longer than a second')),
    )
    await Promise.race([addToAudit(redis, JSON.stringify(entry)), late]).catch((error: unknown) =>
      logger.error({ err: error, audit: entry }, 'this change is missing from the audit log in Redis'),
    )
  })
}

/** `GET /admin/audit`: requests for changes, latest first; the last 10,000 are kept. */
export function auditOperations(redis: Redis): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/audit',
      id: 'listAudit',
      summary: 'List the requests for changes, latest first',
      query: PageQuery,
      answer: pageSchema(AuditEntry.extend({ id: z.string(), at: Instant })),
      async handle({ query }) {
        const { max_results, page_token } = parse(PageQuery, query)
        if (page_token !== undefined && !ENTRY_ID.test(page_token)) throw wrongToken()
        const before = page_token === undefined ? '+' : `(${page_token}`
        const entries = await redis.xrevrange(keys.audit, before, '-', 'COUNT', max_results + 1)
        const results = entries.slice(0, max_results).map(entryJson)
        return { results, next_page_token: entries.length > max_results ? results.at(-1)?.id : undefined }
      },
    },
  ]
}

/** The entries that are added to the audit log, whichever process adds them. */
export function auditSource(redis: Redis): EventSource {
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
      return entries.map((entry) => ({ data: entryJson(entry) }))
    },
  }
}

const AuditEntry = z.object({
  /** The place of the token, never the token. */
  token: z.string(),
  role: z.enum(['read', 'operate']),
  method: z.string(),
  /** As requested, with secrets masked. */
  path: z.string(),
  operation: z.string(),
  status: z.int(),
  /** What the operation says it changed: `{ added: 3 }`. */
  summary: z.record(z.string(), z.union([z.number(), z.boolean()])).optional(),
})
type AuditEntry = z.infer<typeof AuditEntry>

function entryJson([id, [, json]]: [id: string, fields: string[]]) {
  return { id, at: instant(Number.parseInt(id, 10)), ...(JSON.parse(json) as AuditEntry) }
}

/** A shorter secret would mask parts of ordinary words. */
const MIN_SECRET = 8
const MAX_PATH = 256
const MAX_WAIT_MS = 1000
/** Of one look; the others come with the next one. */
const MAX_NEWS = 100
/** The id of an entry of a Redis stream: ms UTC and a serial number. */
const ENTRY_ID = /^[1-9]\d{0,14}-\d{1,15}$/
