import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addToAudit, keys, type Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { masked } from '../tracking/client/answer.ts'
import { printableUrl } from '../tracking/printable-url.ts'
import { parse } from '../tracking/refusal.ts'
import { instant } from './json.ts'
import { type Operation, templateOf } from './operation.ts'
import { PageQuery, wrongToken } from './paging.ts'

export interface AuditOptions {
  readonly redis: Redis
  readonly logger: Logger
  /** What no entry may have in it, should a caller have put it into the path. */
  readonly secrets: () => readonly string[]
}

/**
 * Makes every change that is asked for an entry of the audit log, whatever comes of it; the answer is sent once the entry is
 * on disk. Where Redis does not take it within a second, the process' log alone has it, as of those whose token may only
 * read: who can change nothing must not push out what did.
 */
export function keepAudit(app: FastifyInstance, { redis, logger, secrets }: AuditOptions): void {
  app.addHook('onSend', async (request, { statusCode }) => {
    const { caller, changes } = request
    if (!caller || !changes) return
    const entry = entryOf(request, statusCode, secrets())
    logger.info({ audit: entry }, 'a change was asked for')
    if (caller.role !== 'operate') return
    try {
      await Promise.race([addToAudit(redis, JSON.stringify(entry)), tooLate()])
    } catch (error) {
      logger.error({ err: error, audit: entry }, 'the audit log in Redis does not have this change')
    }
  })
}

/** `GET /admin/audit`: what changed or was to change, latest first; the last 10,000 are kept. */
export function auditOperations(redis: Redis): Operation[] {
  const answer: Operation['answer'] = async ({ query }) => {
    const { max_results, page_token } = parse(PageQuery, query)
    if (page_token !== undefined && !ENTRY_ID.test(page_token)) throw wrongToken()
    const before = page_token === undefined ? '+' : `(${page_token}`
    const entries = await redis.xrevrange(keys.audit, before, '-', 'COUNT', max_results + 1)
    const results = entries.slice(0, max_results).map(entryJson)
    return { results, next_page_token: entries.length > max_results ? results.at(-1)?.id : undefined }
  }

  return [{ method: 'GET', path: '/admin/audit', answer }]
}

interface Entry {
  /** Whose token it was, never the token. */
  readonly token?: string
  readonly role?: string
  readonly method: string
  /** As asked, without secrets. */
  readonly path: string
  readonly operation?: string
  readonly status: number
  readonly summary?: FastifyRequest['audit']
}

/** Never the body: a device's secret may be in it. */
function entryOf(
  { caller, method, url, routeOptions, audit }: FastifyRequest,
  status: number,
  secrets: readonly string[],
): Entry {
  const path = secrets.filter(({ length }) => length >= MIN_SECRET).reduce(masked, printableUrl(url))
  return {
    token: caller?.label,
    role: caller?.role,
    method,
    path: cut(readable(path)),
    operation: templateOf(routeOptions.url ?? ''),
    status,
    summary: audit,
  }
}

/** With letters of any script as they are; what a terminal would act on stays encoded. */
function readable(path: string): string {
  try {
    return decodeURI(path).replaceAll(/[\p{Cc}\p{Cf}]/gu, encodeURIComponent)
  } catch {
    return path
  }
}

function cut(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_PATH_BYTES) return text
  return `${bytes.toString('utf8', 0, MAX_PATH_BYTES).replace(/\uFFFD$/, '')}…`
}

async function tooLate(): Promise<void> {
  await delay(PATIENCE_MS, undefined, { ref: false })
  throw new Error('Redis takes longer than a second')
}

function entryJson([id, [, json]]: [id: string, fields: string[]]) {
  return { id, at: instant(Number.parseInt(id, 10)), ...(JSON.parse(json) as Entry) }
}

/** A shorter one could be part of any word, and is no secret. */
const MIN_SECRET = 8
const MAX_PATH_BYTES = 256
const PATIENCE_MS = 1000
/** Of a Redis stream: when, ms UTC, and which one then. */
const ENTRY_ID = /^[1-9]\d{0,14}-\d{1,15}$/
