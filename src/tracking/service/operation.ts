import type { FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import { parseBody, readBody } from '../body.ts'
import { parse } from '../refusal.ts'

/** How the service does an operation of the table. Both functions throw an ApiRefusal for what they refuse. */
export interface ServedOperation {
  /** Checks credentials, access and existence; the body is not read yet. */
  readonly admit: (request: ServedRequest) => void | Promise<void>
  /** Checks the input, does the work, and resolves to the body of a 200. */
  readonly answer: (request: ServedRequest, reply: FastifyReply) => unknown
}

export type ServedRequest = FastifyRequest<{ Params: Record<string, string>; Querystring: Record<string, unknown> }>

/** Reads the body of a request and checks it with the schema. @throws ApiRefusal 422 */
export async function bodyOf<T>({ raw, headers }: ServedRequest, schema: z.ZodType<T>): Promise<T> {
  return parse(schema, parseBody(await readBody(raw), headers['content-type']))
}
