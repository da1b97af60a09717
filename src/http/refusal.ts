import type * as z from 'zod'
import { english, joined, type Text } from '../texts/text.ts'

/** A mistake in one field; `path` is dotted (`positions.3.point.lat`), '' for the whole body. */
export interface FieldError {
  readonly path: string
  readonly message: Text
}

/** The refusal of a request, with a status of §7. `createHttpServer` turns it into an answer. */
export class ApiRefusal extends Error {
  readonly code: 400 | 401 | 403 | 404 | 409 | 415 | 422 | 503 | 504
  readonly text: Text
  readonly errors: readonly FieldError[]

  constructor(code: ApiRefusal['code'], text: Text, errors: readonly FieldError[] = []) {
    super(english(text))
    this.name = 'ApiRefusal'
    this.text = text
    this.code = code
    this.errors = errors
  }
}

/** The most mistakes that a refusal names. */
export const MAX_ERRORS = 20

/** A refusal for mistakes in fields. `errors` has at least one; only the first `MAX_ERRORS` are named. */
export function refuseFields(code: ApiRefusal['code'], errors: readonly FieldError[]): ApiRefusal {
  const [{ path, message }] = errors
  return new ApiRefusal(code, joined([path || 'the body', message], ': '), errors.slice(0, MAX_ERRORS))
}

/** The value as the schema parses it. @throws ApiRefusal with `code` and the mistakes */
export function parse<T>(schema: z.ZodType<T>, value: unknown, code: ApiRefusal['code'] = 422): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw refuseFields(
    code,
    result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issueText(issue) })),
  )
}

/** Returns the text of a schema's issue: its `params.text`, if it has one. */
export function issueText({ message, ...issue }: z.core.$ZodIssue): Text {
  return issue.code === 'custom' && issue.params?.text ? (issue.params.text as Text) : message
}
