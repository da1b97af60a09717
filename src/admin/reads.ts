import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from '../observe/log.ts'
import { keys, type Store } from '../store/index.ts'
import { askedAbout, companiesAbout, inTime, pageOfEntries } from './audit.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { PageQuery } from './paging.ts'
import { pageSchema } from './schemas/parts.ts'
import { type PositionRead, ReadJson } from './schemas/audit.ts'

interface ReadLogOptions {
  readonly redis: Store
  readonly logger: Logger
  /** Whether reads are logged now. */
  readonly isOn: () => boolean
  readonly companyOf: (device: string) => string | undefined
  /** The id of a device as its entry has it, whatever leading zeros somebody asks with. */
  readonly idOf: (device: string) => string
}

/**
 * The log of reads: who saw positions, of which van, by which operation. A page that asks repeatedly makes one entry in ten
 * minutes. The process log has each entry too, so that many other reads cannot remove it.
 */
export class ReadLog {
  readonly #options: ReadLogOptions
  /** When a stream of a request was noted last, ms UTC. */
  readonly #streams = new WeakMap<FastifyRequest, number>()

  constructor(options: ReadLogOptions) {
    this.#options = options
  }

  /** Notes each answer of an operation that `reads` positions; it is sent once the entry is on disk. */
  keep(app: FastifyInstance): void {
    app.addHook('onSend', async (request, { statusCode }) => {
      if (request.reads !== undefined && statusCode < 300) await this.#note(request, request.reads)
    })
  }

  /** Notes that a stream of positions begins, or still runs: once in ten minutes. */
  async noteStream(request: FastifyRequest): Promise<void> {
    const now = Date.now()
    if (request.reads === undefined || !this.#options.isOn() || now - (this.#streams.get(request) ?? 0) < QUIET_MS)
      return
    this.#streams.set(request, now)
    await this.#note(request, request.reads)
  }

  /** Stores a read; what Redis does not accept within a second is in the process log only. */
  async #note(request: FastifyRequest, operation: string): Promise<void> {
    const { companyOf, idOf, isOn, logger, redis } = this.#options
    const { caller } = request
    if (!isOn() || !caller) return
    const { id, device = id, route_id } = askedAbout(request)
    const entry: PositionRead = {
      token: caller.label,
      subject: caller.subject,
      operation,
      device: typeof device === 'string' ? idOf(device).slice(0, MOST_LETTERS) : undefined,
      route_id: typeof route_id === 'string' ? route_id.slice(0, MOST_LETTERS) : undefined,
      companies: companiesAbout(request, companyOf),
    }
    const json = JSON.stringify(entry)
    const noted = redis.run('reads', [keys.reads, keys.readsNoted], [READS_KEPT, QUIET_MS, hash('sha256', json), json])
    try {
      if ((await inTime(noted)) !== null) logger.info({ read: entry }, 'positions were read')
    } catch (error) {
      logger.error({ err: error, read: entry }, 'this read is missing from the log of reads in Redis')
    }
  }
}

/** `GET /admin/reads`: who read positions, latest first; the last 50,000 entries are kept. */
export function readOperations(redis: Store): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/reads',
      id: 'listReads',
      summary: 'List who read positions, latest first; empty without admin.log_reads',
      query: PageQuery,
      answer: pageSchema(ReadJson),
      companies: 'filtered',
      async handle({ query }, _reply, scope) {
        return pageOfEntries(redis, { key: keys.reads, query, scope }, ([id, [, json]]) => {
          return { id, at: instant(Number.parseInt(id, 10)), ...(JSON.parse(json) as PositionRead) }
        })
      },
    },
  ]
}

/** Within this time, another read of the same positions makes no new entry. */
const QUIET_MS = 600_000
const READS_KEPT = 50_000
const MOST_LETTERS = 128
