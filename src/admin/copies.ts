import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Config } from '../config/schema.ts'
import type { CopyFacts } from '../diagnose/facts.ts'
import { ApiRefusal, parse } from '../http/refusal.ts'
import type { Logger } from '../observe/log.ts'
import {
  type CopyAccount,
  copyAccounts,
  type CopyRefusal,
  copyRefusals,
  discardParkedCopies,
  retryCopy,
  type Store,
} from '../store/index.ts'
import type { Findings } from './findings.ts'
import type { Operation } from './operation.ts'
import { type ListPlace, PageQuery, pageOf } from './paging.ts'
import { DeletedJson, ParkedCopyJson, RetriedJson } from './schemas/lanes.ts'
import { pageSchema } from './schemas/parts.ts'
import type { CopyJson } from './schemas/status.ts'

export interface CopySources {
  readonly redis: Store
  /** The copies that are configured. */
  readonly copies: () => Config['copies']
  readonly logger: Logger
}

/** Counts what became of the fixes of each copy, once a second. */
export class CopyCollector {
  readonly #sources: CopySources
  #accounts: readonly CopyAccount[] = []
  /** Differences that two equal accounts in a row have shown. */
  #differences = new Map<string, number>()

  constructor(sources: CopySources) {
    this.#sources = sources
  }

  /** Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    const { copies, redis } = this.#sources
    const names = copies().map(({ name }) => name)
    const accounts = await copyAccounts(redis, names)
    for (const account of accounts) {
      const before = this.#accounts.find(({ copy }) => copy === account.copy)
      if (isDeepStrictEqual(account, before)) this.#differences.set(account.copy, account.difference)
    }
    this.#accounts = accounts
  }

  /** Of the copies that are configured, as of the last look. */
  get accounts(): readonly CopyAccount[] {
    return this.#accounts
  }

  facts(): CopyFacts[] {
    return this.#accounts.map(({ copy, parked, refusal }) => {
      return { copy, parked, refusal, difference: this.#differences.get(copy) ?? 0 }
    })
  }

  /** Returns the copies for a status; undefined if none is configured. */
  json(findings: Findings['current']): CopyJson[] | undefined {
    const settings = this.#sources.copies()
    if (settings.length === 0) return undefined
    return settings.map(({ name, format, to }): CopyJson => {
      const {
        waiting = 0,
        delivered = 0,
        parked = 0,
        discarded = 0,
      } = this.#accounts.find(({ copy }) => copy === name) ?? {}
      const codes = new Set(findings.flatMap(({ code, subject }) => (subject.copy === name ? [code] : [])))
      const state = codes.has('copy_full') ? 'full' : codes.has('copy_failing') ? 'failing' : 'up'
      const difference = this.#differences.get(name) ?? 0
      return { name, to: placeOf(to), format, state, waiting, delivered, parked, discarded, difference }
    })
  }
}

/** A URL without what may be secret: user name, password, path and query. */
function placeOf(to: string): string {
  const { protocol, host } = new URL(to)
  return `${protocol}//${host}`
}

/** `/admin/copies`: what the receiver of a copy refused, listed, tried again (`POST …/retry`) or deleted. */
export function copyOperations({ copies, redis, logger }: CopySources): Operation[] {
  const known = (query: unknown) => {
    const { copy } = parse(CopyQuery, query)
    if (copies().some(({ name }) => name === copy)) return copy
    throw new ApiRefusal(404, 'no copy has this name')
  }
  return [
    {
      method: 'GET',
      path: '/admin/copies/parked',
      id: 'listParkedCopies',
      summary: 'List the devices whose positions the receiver of a copy refused, by answer',
      query: ListQuery,
      answer: pageSchema(ParkedCopyJson),
      refusals: [400, 404],
      async handle({ query }) {
        const { copy, ...page } = parse(ListQuery, query)
        const refusals = await copyRefusals(redis, known({ copy }))
        const { results, ...rest } = await pageOf(refusals, LISTING, page)
        return { results: results.map(parkedJson), ...rest }
      },
    },
    {
      method: 'POST',
      path: '/admin/copies/retry',
      id: 'retryCopy',
      summary: 'Retry positions that the receiver of a copy refused',
      query: CopyQuery,
      answer: RetriedJson,
      refusals: [404],
      async handle(request) {
        const copy = known(request.query)
        return (request.audit = { retried: await retryCopy(redis, copy) })
      },
    },
    {
      method: 'DELETE',
      path: '/admin/copies/parked',
      id: 'deleteParkedCopy',
      summary: 'Delete positions that the receiver of a copy refused',
      query: CopyQuery,
      answer: DeletedJson,
      refusals: [404],
      async handle(request) {
        const copy = known(request.query)
        const deleted = await discardParkedCopies(redis, copy)
        logger.warn({ copy, deleted }, 'parked positions of a copy are deleted')
        return (request.audit = { deleted })
      },
    },
  ]
}

function parkedJson({ company, device, status, message, fixes, firstAt, lastAt }: CopyRefusal): ParkedCopyJson {
  const [first_at, at] = [firstAt, lastAt].map((ms) => new Date(ms).toISOString())
  return { company_id: company, device, status, message, fixes, first_at, at }
}

const LISTING = {
  list: 'parked of a copy',
  placeOf: ({ company, device, status, message }: CopyRefusal): ListPlace => [
    0,
    [company, device, status, message].join('\n'),
  ],
}

const CopyQuery = z.object({ copy: z.string('expected the name of a copy').describe('Its name in gateway.yaml.') })
const ListQuery = PageQuery.extend(CopyQuery.shape)
