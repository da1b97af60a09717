import * as z from 'zod'
import { describeLanes, type LaneCount, type LaneState, type Redis } from '../lanes/index.ts'
import { parse } from '../tracking/refusal.ts'
import type { FixAccount } from './custody.ts'
import { instant, LaneJson, laneIds, pageSchema } from './json.ts'
import type { Operation } from './operation.ts'
import { type ListPlace, PageQuery, pageOf } from './paging.ts'
import { parkedJson } from './parked.ts'

/** `GET /admin/lanes`: lanes in which something is stored, those with most fixes or the oldest fix first. */
export function laneOperations(redis: Redis, account: () => Promise<Pick<FixAccount, 'lanes'>>): Operation[] {
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
        const isListed = ({ lane }: LaneCount) => scope.seesLane(lane)
        const listing = { list: `lanes by ${sort}`, placeOf: PLACES[sort], isListed }
        const { results, ...rest } = await pageOf((await account()).lanes, listing, page)
        const lanes = results.map(({ lane }) => lane)
        // What was delivered since the account is left out.
        const states = (await describeLanes(redis, lanes)).filter(({ waiting }) => waiting > 0)
        return { results: states.map(laneJson), ...rest }
      },
    },
  ]
}

const LanesQuery = PageQuery.extend({
  sort: z.enum(['waiting', 'oldest'], 'expected waiting or oldest').default('waiting'),
})

const PLACES = {
  waiting: ({ waiting, lane }: LaneCount): ListPlace => [-waiting, lane],
  oldest: ({ oldestAt = 0, lane }: LaneCount): ListPlace => [oldestAt, lane],
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
