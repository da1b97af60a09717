import type { FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import { parseBody, readBody } from '../body.ts'
import { parse } from '../refusal.ts'

/**
 * Does an operation of the table and gives the body of a 200. It checks existence before input; an OAuth token is checked
 * before. Throws an ApiRefusal for what it refuses.
 */
export type ServedOperation = (request: ServedRequest, reply: FastifyReply) => unknown

export type ServedRequest = FastifyRequest<{ Params: Record<string, string>; Querystring: Record<string, unknown> }>

/** Reads the body of a request and checks it with the schema. @throws ApiRefusal 422 */
export async function bodyOf<T>({ raw, headers }: ServedRequest, schema: z.ZodType<T>): Promise<T> {
  return parse(schema, parseBody(await readBody(raw), headers['content-type']))
}
