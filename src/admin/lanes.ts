import * as z from 'zod'
import { shared } from '../async.ts'
import { type LaneState, type Redis, surveyLanes } from '../lanes/index.ts'
import { parse } from '../tracking/refusal.ts'
import { instant, LaneJson, laneIds, pageSchema } from './json.ts'
import type { Operation } from './operation.ts'
import { type ListPlace, PageQuery, pageOf } from './paging.ts'
import { parkedJson } from './parked.ts'

/** `GET /admin/lanes`: lanes in which something is stored, those with most fixes or the oldest fix first. */
export function laneOperations(redis: Redis): Operation[] {
  // To look at 20,000 lanes takes 50 ms of CPU.
  const survey = shared(
    (lanes) => (lanes.length > FEW ? MAX_AGE_MS : 0),
    async () => (await Array.fromAsync(surveyLanes(redis))).flat(),
  )
  return [
    {
      method: 'GET',
      path: '/admin/lanes',
      id: 'listLanes',
      summary: 'List the lanes in which positions are stored',
      query: LanesQuery,
      answer: pageSchema(LaneJson),
      companies: 'filtered',
      async handle({ query }, _reply, scope) {
        const { sort, ...page } = parse(LanesQuery, query)
        const isListed = ({ lane }: LaneState) => scope.seesLane(lane)
        const listing = { list: `lanes by ${sort}`, placeOf: PLACES[sort], isListed }
        const { results, ...rest } = await pageOf(await survey(), listing, page)
        return { results: results.map(laneJson), ...rest }
      },
    },
  ]
}

const FEW = 2000
const MAX_AGE_MS = 1000

const LanesQuery = PageQuery.extend({
  sort: z.enum(['waiting', 'oldest'], 'expected waiting or oldest').default('waiting'),
})

const PLACES = {
  waiting: ({ waiting, lane }: LaneState): ListPlace => [-waiting, lane],
  oldest: ({ oldestAt = 0, lane }: LaneState): ListPlace => [oldestAt, lane],
}

/** A lane: what waits in it, why it is parked, and its last push with its status, or a word if there was no answer. */
export function laneJson({ lane, waiting, oldestAt, lastPush, parked }: LaneState): object {
  return {
    ...laneIds(lane),
    waiting,
    oldest_at: instant(oldestAt),
    last_push: lastPush && { at: instant(lastPush.at), status: Number(lastPush.status) || lastPush.status },
    parked: parked && parkedJson(parked),
  }
}
