import * as z from 'zod'
import {
  describeLanes,
  type LaneState,
  type Parked,
  parkedLanes,
  type Redis,
  type Refused,
  refusedOf,
  releaseAll,
} from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { parse, Refusal } from '../tracking/refusal.ts'
import { Int64Text } from '../tracking/schemas.ts'
import { instant, laneIds } from './json.ts'
import type { Operation } from './operation.ts'
import { PageQuery, pageOf } from './paging.ts'

/** `GET /admin/parked`, `POST /admin/parked/retry`: what the service refused, and trying it again. */
export function parkedOperations(redis: Redis, logger: Logger): Operation[] {
  const list: Operation['answer'] = async ({ query }) => {
    const { courier_id, route_id, ...page } = parse(ListQuery, query)
    const found = await lanesOf(redis, { courier_id, route_id })
    const { results, ...rest } = pageOf(found, { list: 'parked', placeOf: (lane) => [0, lane] }, page)
    const states = await describeLanes(redis, results)
    const refused = await Promise.all(results.map((lane) => refusedOf(redis, lane)))
    const lanes = states.map((state, index) => parkedLaneJson(state, refused[index]))
    return { results: lanes.filter(({ fixes }) => fixes > 0), ...rest }
  }

  const retry: Operation['answer'] = async ({ query }) => {
    const { all, ...which } = parse(RetryQuery, query)
    if (all !== 'true' && which.courier_id === undefined && which.route_id === undefined) throw new Refusal(422, WHICH)
    const retried = await releaseAll(redis, await lanesOf(redis, which))
    logger.info({ courier_id: which.courier_id, route_id: which.route_id, retried }, 'parked positions are tried again')
    return { retried }
  }

  return [
    { method: 'GET', path: '/admin/parked', answer: list },
    { method: 'POST', path: '/admin/parked/retry', answer: retry },
  ]
}

/** Why a lane is parked whole: the last answer, how often one position was tried, when it last was, and since when. */
export function parkedJson({ status, message, tries, at, since }: Parked) {
  return { status, message, tries, at: instant(at), since_at: instant(since) }
}

const Which = z.object({ courier_id: Int64Text.optional(), route_id: Int64Text.optional() })
const ListQuery = PageQuery.extend(Which.shape)
const RetryQuery = Which.extend({ all: z.enum(['true', 'false'], 'expected true or false').optional() })
const WHICH = 'say what is to be tried again: courier_id, route_id or both, or all=true'

async function lanesOf(redis: Redis, { courier_id, route_id }: z.infer<typeof Which>): Promise<string[]> {
  return [...(await parkedLanes(redis))].filter((lane) => {
    const ids = laneIds(lane)
    return (courier_id ?? ids.courier_id) === ids.courier_id && (route_id ?? ids.route_id) === ids.route_id
  })
}

/** `fixes`: all that is parked of the lane; `parked`: why it is parked whole; `refused`: what was refused, by answer. */
function parkedLaneJson({ lane, waiting, parked, dueAt }: LaneState, refused: readonly Refused[]) {
  return {
    ...laneIds(lane),
    fixes: refused.reduce((sum, { count }) => sum + count, parked ? waiting : 0),
    parked: parked && { ...parkedJson(parked), next_try_at: instant(dueAt) },
    refused: refused.map(({ status, message, at, count }) => ({ status, message, at: instant(at), count })),
  }
}
