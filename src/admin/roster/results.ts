import type * as z from 'zod'
import type { Redis } from '../../lanes/index.ts'
import { lastResults, readResults, type RosterResult } from '../../roster/puts.ts'
import { instant, RosterResultsJson } from '../json.ts'
import type { Operation } from '../operation.ts'

/** `GET /admin/roster`: what became of the last version of each file and of the last put of each token, latest first. */
export function rosterResultOperations({ redis }: { readonly redis: Redis }): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/roster',
      id: 'listRosterResults',
      summary: 'List the last result of each writer of the roster: files, and tokens by company',
      answer: RosterResultsJson,
      handle: async () => ({ results: lastResults(await readResults(redis)).map(resultJson) }),
    },
  ]
}

/** A result as the admin port shows it. */
export function resultJson({
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
