import * as z from 'zod'
import { laneIds } from '../domain/ids.ts'
import { ApiRefusal, parse } from '../http/refusal.ts'
import type { Logger } from '../observe/log.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import {
  describeLanes,
  discard,
  type LaneCount,
  type LaneState,
  NOT_CURRENT,
  type Parked,
  type Place,
  parkedLanes,
  type Store,
  type Refused,
  release,
  surveyRefused,
} from '../store/index.ts'
import { Int64Text } from '../tracking/schemas.ts'
import type { FixAccount } from './custody.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { type ListPlace, PageQuery, pageOf } from './paging.ts'
import { DeletedJson, LaneJson, ParkedLaneJson, RetriedJson } from './schemas/lanes.ts'
import { Flag, pageSchema } from './schemas/parts.ts'
import { Scope } from './scope.ts'

/** `GET /admin/lanes`: lanes in which something is stored, those with most fixes or the oldest fix first. */
export function laneOperations(redis: Store, account: () => Promise<Pick<FixAccount, 'lanes'>>): Operation[] {
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
        // Lanes that were emptied since the account are left out.
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

/**
 * Returns a lane as JSON: its waiting fixes, why it is parked, and the status of its last push, or a word if there was no
 * answer.
 */
export function laneJson({ lane, waiting, oldestAt, lastPush, parked }: LaneState): object {
  return {
    ...laneIds(lane),
    waiting,
    oldest_at: instant(oldestAt),
    last_push: lastPush && { at: instant(lastPush.at), status: Number(lastPush.status) || lastPush.status },
    parked: parked && parkedJson(parked),
  }
}

export interface ParkedSources {
  readonly redis: Store
  /** Where a record belongs as configured now. */
  readonly place: Place
  readonly logger: Logger
}

/** `/admin/parked`: what the service refused; trying it again (`POST …/retry`) and deleting it. */
export function parkedOperations({ redis, place, logger }: ParkedSources): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/parked',
      id: 'listParked',
      summary: 'List the parked lanes, and the positions that the tracking API refused, by answer',
      query: ListQuery,
      answer: pageSchema(ParkedLaneJson),
      companies: 'filtered',
      handle: ({ query }, _reply, scope) => listParked(redis, scope, query),
    },
    {
      method: 'DELETE',
      path: '/admin/parked',
      id: 'deleteParked',
      summary: 'Delete parked positions of a courier, a route, or all',
      query: ChoiceQuery,
      answer: DeletedJson,
      companies: 'filtered',
      async handle(request, _reply, scope) {
        const which = chosen(request.query, 'deleted')
        const deleted = await discard(redis, await lanesOf(redis, scope, which))
        logger.warn({ ...which, deleted }, 'parked positions are deleted')
        return (request.audit = { deleted })
      },
    },
    {
      method: 'POST',
      path: '/admin/parked/retry',
      id: 'retryParked',
      summary: 'Retry parked positions of a courier, a route, or all',
      query: ChoiceQuery,
      answer: RetriedJson,
      companies: 'filtered',
      async handle(request, _reply, scope) {
        const lanes = await lanesOf(redis, scope, chosen(request.query, 'tried again'))
        const retried = await release(redis, lanes, place)
        if (retried === NOT_CURRENT) throw new ApiRefusal(503, ROSTER_NOT_CURRENT)
        return (request.audit = { retried })
      },
    },
  ]
}

async function listParked(redis: Store, scope: Scope, query: unknown) {
  const { courier_id, route_id, ...page } = parse(ListQuery, query)
  const found = await lanesOf(redis, scope, { courier_id, route_id })
  const { results, ...rest } = await pageOf(found, { list: 'parked', placeOf: (lane) => [0, lane] }, page)
  return { results: await parkedIn(redis, results), ...rest }
}

/** Returns why a lane is parked whole: the last answer, the number of tries, the time of the last one, and since when. */
function parkedJson({ status, message, tries, at, since }: Parked) {
  return { status, message, tries, at: instant(at), since_at: instant(since) }
}

const LaneChoice = z.object({ courier_id: Int64Text.optional(), route_id: Int64Text.optional() })
const ListQuery = PageQuery.extend(LaneChoice.shape)
const ChoiceQuery = LaneChoice.extend({ all: Flag })

type LaneChoice = z.infer<typeof LaneChoice>

const ROSTER_NOT_CURRENT =
  'the roster of the admin process is not current, so the routes of these positions are uncertain: nothing more is tried ' +
  'again now; repeat the request in a few seconds'

/** Returns the lanes named by a query that changes something. @throws ApiRefusal 422 if it names none */
function chosen(query: unknown, done: string): LaneChoice {
  const { all, courier_id, route_id } = parse(ChoiceQuery, query)
  if (all !== 'true' && courier_id === undefined && route_id === undefined)
    throw new ApiRefusal(422, `say what is to be ${done}: courier_id, route_id or both, or all=true`)
  return { courier_id, route_id }
}

async function lanesOf(redis: Store, scope: Scope, { courier_id, route_id }: LaneChoice): Promise<string[]> {
  return [...(await parkedLanes(redis))].filter((lane) => {
    const ids = laneIds(lane)
    const isChosen = (courier_id ?? ids.courier_id) === ids.courier_id && (route_id ?? ids.route_id) === ids.route_id
    return isChosen && scope.sees(ids.company_id)
  })
}

/**
 * Resolves to the parked positions of a device's courier, and of its earlier lanes, by lane, in the shard of the device; other
 * shards have none.
 */
export async function parkedOf(
  redis: Store,
  { id, company_id }: DeviceEntry,
  { courier_id, earlier }: { readonly courier_id?: string; readonly earlier: readonly LaneState[] },
) {
  const lanes = courier_id === undefined ? [] : await lanesOf(redis, new Scope([company_id]), { courier_id })
  const left = earlier.flatMap(({ lane, parked }) => (parked ? lane : []))
  return parkedIn(redis, [...new Set([...lanes, ...left])], [redis.shardOf(id)])
}

/** Resolves to the parked positions of these lanes; lanes without any are left out. */
async function parkedIn(redis: Store, lanes: readonly string[], shards = redis.shards) {
  const states = await describeLanes(redis, lanes, shards)
  const found = await Promise.all(
    states.map((state) => parkedLaneJson(state, (lane) => surveyRefused(redis, lane, shards))),
  )
  return found.filter(({ fixes }) => fixes > 0)
}

/**
 * `fixes`: all parked positions of the lane; `parked`: why the whole lane is parked; `refused`: single refusals, equal
 * answers combined.
 */
async function parkedLaneJson({ lane, parked }: LaneState, survey: (lane: string) => AsyncGenerator<Refused>) {
  const answers = new Map<string, Refused & { firstAt: number }>()
  for await (const { status, message, at, count } of survey(lane)) {
    const key = `${status} ${message}`
    const { firstAt = at, at: lastAt = at, count: before = 0 } = answers.get(key) ?? {}
    const [first, last] = [Math.min(firstAt, at), Math.max(lastAt, at)]
    answers.set(key, { status, message, at: last, firstAt: first, count: count + before })
  }
  return {
    ...laneIds(lane),
    fixes: answers.values().reduce((sum, { count }) => sum + count, parked?.fixes ?? 0),
    parked: parked && { ...parkedJson(parked), next_try_at: instant(parked.nextTryAt) },
    refused: Array.from(answers.values(), refusedJson),
  }
}

function refusedJson({ status, message, at, firstAt, count }: Refused & { readonly firstAt: number }) {
  return { status, message, at: instant(at), first_at: instant(firstAt), count }
}
