import * as z from 'zod'
import { type LaneState, type Redis, surveyLanes } from '../lanes/index.ts'
import { parse } from '../tracking/refusal.ts'
import { instant, laneIds } from './json.ts'
import type { Operation, OperationDoc } from './operation.ts'
import { PageQuery, type Place, pageOf } from './paging.ts'
import { parkedJson } from './parked.ts'

/** `GET /admin/lanes`: lanes with something stored, most first, or the oldest first; a parked one says why. */
export function laneOperations(redis: Redis): Operation[] {
  const answer: Operation['answer'] = async ({ query }) => {
    const { sort, ...page } = parse(LanesQuery, query)
    const states = await Array.fromAsync(surveyLanes(redis))
    const { results, ...rest } = await pageOf(states, { list: `lanes by ${sort}`, placeOf: PLACES[sort] }, page)
    return { results: results.map(laneJson), ...rest }
  }

  return [{ method: 'GET', path: '/admin/lanes', answer, doc: LANES_DOC }]
}

const LanesQuery = PageQuery.extend({
  sort: z.enum(['waiting', 'oldest'], 'expected waiting or oldest').default('waiting'),
})

const Lane = z.object({
  company_id: z.string(),
  courier_id: z.string(),
  route_id: z.string(),
  waiting: z.int(),
  oldest_at: z.iso.datetime().optional(),
  last_push: z.object({ at: z.iso.datetime(), status: z.union([z.int(), z.string()]) }).optional(),
  parked: z
    .object({
      status: z.int(),
      message: z.string(),
      tries: z.int(),
      at: z.iso.datetime(),
      since_at: z.iso.datetime(),
    })
    .optional(),
})

const LANES_DOC = {
  id: 'listLanes',
  summary: 'List the lanes that hold positions',
  query: LanesQuery,
  answer: z.object({ results: z.array(Lane), next_page_token: z.string().optional() }),
  refusals: [400, 422],
} satisfies OperationDoc

const PLACES = {
  waiting: ({ waiting, lane }: LaneState): Place => [-waiting, lane],
  oldest: ({ oldestAt = 0, lane }: LaneState): Place => [oldestAt, lane],
}

/** A lane and how it stands: what waits, its last push, and why it is parked, if so. */
export function laneJson({ lane, waiting, oldestAt, lastPush, parked }: LaneState): object {
  return {
    ...laneIds(lane),
    waiting,
    oldest_at: instant(oldestAt),
    last_push: lastPush && { at: instant(lastPush.at), status: statusOf(lastPush.status) },
    parked: parked && parkedJson(parked),
  }
}

/** A number, unless there was no answer: `timeout`, `refused` … */
function statusOf(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text
}
