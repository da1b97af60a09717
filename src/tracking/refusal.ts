import type * as z from 'zod'
import { MAX_ERRORS } from './schemas/fields.ts'
import { Id } from './schemas.ts'

/** What is wrong with one field; `path` is dotted (`positions.3.point.lat`), '' for the whole. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** A request that the interface refuses, with the status of §7. Where errors become answers, it becomes one. */
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

/** A refusal for what is wrong with the fields, at least one; it names the first `MAX_ERRORS`. */
export function refuseFields(code: ApiRefusal['code'], errors: readonly FieldError[]): ApiRefusal {
  const [{ path, message }] = errors
  return new ApiRefusal(code, `${path || 'the body'}: ${message}`, errors.slice(0, MAX_ERRORS))
}

/** The value as the schema has it. @throws ApiRefusal with `code`, and the fields that are wrong. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, code: ApiRefusal['code'] = 422): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw refuseFields(
    code,
    result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
  )
}

/** An id of a path, whose parameter is called `name`. @throws ApiRefusal 422 where it is none. */
export function parseId(id: string, name: string): string {
  const result = Id.safeParse(id)
  if (result.success) return result.data
  throw refuseFields(422, [{ path: name, message: result.error.issues[0].message }])
}
