import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { parse } from '../http/refusal.ts'
import { parseBody, readBody } from './body.ts'
import type { DescribedOperation } from './openapi.ts'
import * as schemas from './schemas.ts'

/** An operation of the interface, for the service, the client, the relay and the OpenAPI documents. */
export interface TrackingOperation extends DescribedOperation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** An OAuth token of the company in the path, or the apikey of the courier's company. */
  readonly credential: 'oauth' | 'apikey'
  readonly refusals: readonly (400 | 401 | 403 | 404 | 422 | 504)[]
  /** Whether the operation may be sent twice without harm. */
  readonly repeatable: boolean
}

const NUMBERS = '/api/v1/companies/{company_id}/numbers'
const NUMBER = `${NUMBERS}/{contractor_company_id}`
const ORDER = '/companies/{company_id}/orders/{order_id}'
const ITEMS = `/api/v1${ORDER}/items`
const NOTHING = z.object({})
const OAUTH = { credential: 'oauth', refusals: [401, 403, 404, 422], repeatable: true } as const
const READ = { ...OAUTH, method: 'GET' } as const
const WRITE = { ...OAUTH, method: 'POST' } as const
const DELETE = { ...OAUTH, method: 'DELETE', answer: NOTHING } as const
const RETURN = {
  ...WRITE,
  summary: 'Specify items for return',
  body: schemas.ItemReturns,
  answer: z.array(schemas.Item),
  repeatable: false,
} as const

/** All operations, §4.1 to §4.5. The return is served with and without the version segment. */
export const OPERATIONS = {
  getNumber: { ...READ, path: NUMBER, summary: 'Get a contractor number', answer: schemas.StoredContractorNumber },
  putNumber: {
    ...WRITE,
    summary: 'Add or replace a contractor number',
    path: NUMBER,
    body: schemas.ContractorNumber,
    answer: schemas.StoredContractorNumber,
    refusals: [401, 403, 422],
  },
  listNumbers: {
    ...READ,
    summary: "Get a company's contractor numbers, ascending id",
    path: NUMBERS,
    answer: z.array(schemas.StoredContractorNumber),
    refusals: [401, 403, 422],
  },
  deleteNumber: { ...DELETE, path: NUMBER, summary: 'Delete a contractor number' },
  pushPositions: {
    ...WRITE,
    summary: 'Save positions of a courier on a route',
    path: '/api/v1/couriers/{courier_id}/routes/{route_id}/push-positions-v3',
    credential: 'apikey',
    query: z.object({ apikey: z.string().min(1) }),
    body: schemas.PushPositions,
    answer: NOTHING,
    refusals: [403, 404, 422],
  },
  courierPositions: {
    ...READ,
    summary: 'Get the positions on a route in an interval of at most two hours',
    path: '/api/v2/companies/{company_id}/routes/{route_id}/courier-positions',
    query: schemas.IntervalQuery,
    answer: schemas.CourierPositions,
    refusals: [400, 401, 403, 422, 504],
  },
  addItems: {
    ...WRITE,
    summary: 'Add items to an order, all or none',
    path: ITEMS,
    body: schemas.NewItems,
    answer: z.array(schemas.Item),
    refusals: [401, 403, 422],
    repeatable: false,
  },
  listItems: {
    ...READ,
    summary: 'Get the items of an order',
    path: ITEMS,
    query: schemas.ItemsQuery,
    answer: schemas.ItemsPage,
  },
  deleteItems: { ...DELETE, path: ITEMS, summary: 'Delete all items of an order' },
  deleteItem: { ...DELETE, path: `${ITEMS}/{item_id}`, summary: 'Delete an item of an order' },
  returnItems: { ...RETURN, path: `${ORDER}:return` },
  returnItemsV1: { ...RETURN, path: `/api/v1${ORDER}:return` },
} as const satisfies Record<string, TrackingOperation>

export type OperationName = keyof typeof OPERATIONS

/**
 * An operation's path in the syntax of fastify's router. A parameter before a colon matches any text: the operation
 * refuses a wrong id.
 */
export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}(:?)/g, (_, name: string, colon: string) => `:${name}${colon && '(^.*)::'}`)
}

/**
 * Runs an operation of the table and returns the body of a 200. The OAuth token was checked before; existence is checked
 * before input. Throws an ApiRefusal for a refusal.
 */
export type ServedOperation = (request: ServedRequest, reply: FastifyReply) => unknown

export type ServedRequest = FastifyRequest<{ Params: Record<string, string>; Querystring: Record<string, unknown> }>

/** Reads the body of a request and checks it with the schema. @throws ApiRefusal 422 */
export async function checkedBody<T>({ raw, headers }: ServedRequest, schema: z.ZodType<T>): Promise<T> {
  return parse(schema, parseBody(await readBody(raw), headers['content-type']))
}
