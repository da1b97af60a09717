import * as z from 'zod'
import { keys, type Redis } from '../lanes/index.ts'
import { parse } from '../tracking/refusal.ts'
import { Count, each, Instant, instant, Text } from './json.ts'
import type { Operation, OperationDoc } from './operation.ts'
import { PageQuery } from './paging.ts'

/** `GET /admin/misunderstood`: payloads that were acknowledged without being understood, latest first; the last 1,000 are kept. */
export function misunderstoodOperations(redis: Redis): Operation[] {
  const answer: Operation['answer'] = async ({ query }) => {
    const { max_results } = parse(PageQuery, query)
    const entries = await redis.lrange(keys.misunderstood, 0, max_results - 1)
    return { results: entries.map(payloadJson) }
  }

  return [{ method: 'GET', path: '/admin/misunderstood', answer, doc: MISUNDERSTOOD_DOC }]
}

/** One list without further pages. */
const MISUNDERSTOOD_DOC = {
  id: 'listMisunderstood',
  summary: 'List the payloads that were acknowledged without being understood, latest first',
  query: PageQuery.pick({ max_results: true }),
  answer: z.object({
    results: z.array(
      z.object({
        at: Instant,
        ...each(Text, 'device', 'protocol', 'reason'),
        bytes: Count,
        ...each(Text.optional(), 'text', 'hex'),
      }),
    ),
  }),
  refusals: [422],
} satisfies OperationDoc

/** @param entry as src/ingest/misunderstood.ts has written it */
function payloadJson(entry: string): object {
  const { at, ...rest } = JSON.parse(entry) as { at: number }
  return { at: instant(at), ...rest }
}
