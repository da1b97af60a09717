import type * as z from 'zod'
import type { Redis } from '../../lanes/index.ts'
import { lastResults, readResults, type RosterResult } from '../../roster/puts.ts'
import type { EventSource } from '../events/feed.ts'
import { instant, RosterResultsJson } from '../json.ts'
import type { Operation } from '../operation.ts'
import type { Scope } from '../scope.ts'

/** `GET /admin/roster`: what became of the last version of each file and of the last put of each token, latest first. */
export function rosterResultOperations({ redis }: { readonly redis: Redis }): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/roster',
      id: 'listRosterResults',
      summary: 'List the last result of each writer of the roster: files, and tokens by company',
      answer: RosterResultsJson,
      companies: 'filtered',
      handle: async (_request, _reply, scope) => ({
        results: seenResults(lastResults(await readResults(redis)), scope).map(resultJson),
      }),
    },
  ]
}

/** The results of puts for companies that the scope includes. Files belong to no company. */
export function seenResults(results: readonly RosterResult[], scope: Scope): RosterResult[] {
  return results.filter(({ company_id }) => scope.sees(company_id))
}

/** The results that are added or taken back, whichever process writes the roster. */
export function rosterSource(redis: Redis): EventSource {
  let known: ReadonlySet<string> | undefined
  return {
    topic: 'roster',
    async look() {
      const results = await readResults(redis)
      const before = known
      known = new Set(results.map(nameOf))
      const added = before ? results.filter((result) => !before.has(nameOf(result))) : []
      return added.toReversed().map((result) => ({
        dataFor: (scope) => (scope.sees(result.company_id) ? resultJson(result) : undefined),
      }))
    },
  }
}

function nameOf({ kind, writer, company_id, put, at, undone }: RosterResult): string {
  return JSON.stringify([kind, writer, company_id, put, at, undone])
}

/** A result as the admin port shows it. */
function resultJson({
  at,
  writer,
  kind,
  stale: _stale,
  ...result
}: RosterResult): z.infer<typeof RosterResultsJson>['results'][number] {
  const by = kind === 'put' ? writer : undefined
  const [rejected, warnings] = [result.rejected, result.warnings].map((remarks) => [...remarks])
  return { ...result, writer, kind, at: instant(at) ?? '', by, rejected, warnings }
}
