import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { parseBody, readBody } from '../body.ts'
import { parse, parseId } from '../refusal.ts'
import { isOfLength } from '../schemas/fields.ts'
import { MAX_ITEM_TEXTS, MAX_ITEMS } from '../schemas.ts'
import type { ServiceContext } from './context.ts'
import type { Order } from './items.ts'

/** What serves an operation of the table. What it refuses it throws as a ApiRefusal. */
export interface ServedOperation {
  /** Lets a request pass: credentials, access, existence; its body is not read yet. */
  readonly admit: (context: ServiceContext, request: OperationRequest) => void | Promise<void>
  /** Checks the input, does the work, and resolves to what a 200 says. */
  readonly answer: (context: ServiceContext, request: OperationRequest, reply: FastifyReply) => unknown
}

/** What a path and a query hold. */
export interface OperationRoute {
  Params: Record<string, string>
  Querystring: Record<string, unknown>
}

export type OperationRequest = FastifyRequest<OperationRoute>

/** The body of a request, as the schema has it. @throws ApiRefusal 422 */
export async function bodyOf<T>({ raw, headers }: OperationRequest, schema: z.ZodType<T>): Promise<T> {
  return parse(schema, parseBody(await readBody(raw), headers['content-type']))
}

/** The schema of a list of items, for one that the service takes. */
export function limited<T>(list: z.ZodType<T[]>): z.ZodType<T[]> {
  return z
    .unknown()
    .refine(isShort, `expected at most ${MAX_ITEMS} items: send them in parts`)
    .pipe(list.superRefine(refuseLong))
}

function refuseLong(items: readonly unknown[], context: z.RefinementCtx): void {
  for (const [index, item] of items.entries())
    for (const [field, most] of Object.entries(MAX_ITEM_TEXTS)) {
      const text = (item as Record<string, unknown>)[field]
      if (typeof text === 'string' && !isOfLength(text, 0, most))
        context.addIssue({ code: 'custom', path: [index, field], message: `expected at most ${most} characters` })
    }
}

function isShort(body: unknown): boolean {
  return !Array.isArray(body) || body.length <= MAX_ITEMS
}

/** The order of a path. @throws ApiRefusal 422 where its id is none */
export function orderOf({ params }: OperationRequest): Order {
  return { companyId: params.company_id, orderId: parseId(params.order_id, 'order_id') }
}
