import { issueText, parse, refuseFields } from '../http/refusal.ts'
import { Id, IntervalQuery } from './schemas.ts'

/** Checks an id in a path; `name`: its parameter. @throws ApiRefusal 422 if it is no id */
export function parseId(id: string, name: string): string {
  const result = Id.safeParse(id)
  if (result.success) return result.data
  throw refuseFields(422, [{ path: name, message: issueText(result.error.issues[0]) }])
}

/** The longest interval of §4.4, seconds. */
export const MAX_INTERVAL_S = 7_200n

/** Unix seconds, both ends included. */
export interface PositionInterval {
  readonly from: bigint
  readonly to: bigint
}

/**
 * Returns the interval of a query of §4.4; without `to`, it has two hours but ends no later than now (unix seconds). @param
 * maxS the longest interval, in seconds: whole hours @throws ApiRefusal 400 if `from` is missing, a value is no integer, or
 * the interval is too long or ends too early
 */
export function parseInterval(query: unknown, nowS: number, maxS: bigint = MAX_INTERVAL_S): PositionInterval {
  const bounds = parse(IntervalQuery, query, 400)
  const from = BigInt(bounds.from)
  const [end, now] = [from + MAX_INTERVAL_S, BigInt(nowS)]
  if (bounds.to === undefined) return { from, to: end < now ? end : now }
  const to = BigInt(bounds.to)
  if (to < from) throw refuseFields(400, [{ path: 'to', message: 'must not be before from' }])
  if (to - from <= maxS) return { from, to }
  throw refuseFields(400, [{ path: 'to', message: `must be at most ${maxS / 3_600n} hours after from` }])
}
