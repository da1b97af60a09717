import { keys, type Redis } from '../lanes/index.ts'
import { parse } from '../tracking/refusal.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { PageQuery } from './paging.ts'

/** `GET /admin/misunderstood`: payloads that were acknowledged without being understood, latest first; the last 1,000 are kept. */
export function misunderstoodOperations(redis: Redis): Operation[] {
  const answer: Operation['answer'] = async ({ query }) => {
    const { max_results } = parse(PageQuery, query)
    const entries = await redis.lrange(keys.misunderstood, 0, max_results - 1)
    return { results: entries.map(misunderstoodJson) }
  }

  return [{ method: 'GET', path: '/admin/misunderstood', answer }]
}

/** As src/ingest/misunderstood.ts wrote it. */
function misunderstoodJson(entry: string): object {
  const { at, ...rest } = JSON.parse(entry) as { at: number }
  return { at: instant(at), ...rest }
}
