import type * as z from 'zod'
import { Id, IntervalQuery } from './schemas.ts'

/** A mistake in one field; `path` is dotted (`positions.3.point.lat`), '' for the whole body. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** The refusal of a request, with a status of §7. `createHttpServer` turns it into an answer. */
export class ApiRefusal extends Error {
  readonly code: 400 | 401 | 403 | 404 | 409 | 415 | 422 | 503 | 504
  readonly errors: readonly FieldError[]

  constructor(code: ApiRefusal['code'], message: string, errors: readonly FieldError[] = []) {
    super(message)
    this.name = 'ApiRefusal'
    this.code = code
    this.errors = errors
  }
}

/** The most mistakes that a refusal names. */
export const MAX_ERRORS = 20

/** A refusal for mistakes in fields. `errors` has at least one; only the first `MAX_ERRORS` are named. */
export function refuseFields(code: ApiRefusal['code'], errors: readonly FieldError[]): ApiRefusal {
  const [{ path, message }] = errors
  return new ApiRefusal(code, `${path || 'the body'}: ${message}`, errors.slice(0, MAX_ERRORS))
}

/** The value as the schema parses it. @throws ApiRefusal with `code` and the mistakes */
export function parse<T>(schema: z.ZodType<T>, value: unknown, code: ApiRefusal['code'] = 422): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw refuseFields(
    code,
    result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
  )
}

/** Checks an id of a path; `name` is its parameter. @throws ApiRefusal 422 where it is no id */
export function parseId(id: string, name: string): string {
  const result = Id.safeParse(id)
  if (result.success) return result.data
  throw refuseFields(422, [{ path: name, message: result.error.issues[0].message }])
}

/** The longest interval of §4.4, seconds. */
export const MAX_INTERVAL_S = 7_200n

/** Unix seconds, both ends included. */
export interface PositionInterval {
  readonly from: bigint
  readonly to: bigint
}

/**
 * The interval of a query of §4.4; without `to`, it has two hours but ends no later than now (unix seconds).
 * @param maxS the longest interval, in seconds: whole hours
 * @throws ApiRefusal 400 where `from` is missing, a value is no integer, or the interval is too long or ends too early
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
