import * as z from 'zod'
import {
  ContractorNumber,
  CourierPosition,
  CourierPositions,
  Id,
  IntervalQuery,
  Item,
  ItemReturn,
  ItemReturns,
  ItemsPage,
  ItemsQuery,
  NewItem,
  NewItems,
  Point,
  PositionV3,
  PushPositions,
  StoredContractorNumber,
} from './schemas.ts'

/** An operation of the interface: what service, client, relay and the OpenAPI document know of it. */
export interface TrackingOperation {
  readonly summary: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With its parameters in braces, all of them int64. */
  readonly path: string
  /** An OAuth token of the company in the path, or the apikey of the company whose courier it is. */
  readonly credential: 'oauth' | 'apikey'
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** What a 200 says. */
  readonly answer: z.ZodType
  readonly refusals: readonly (400 | 401 | 403 | 404 | 422 | 504)[]
  /** Doing it twice is no harm. */
  readonly repeatable: boolean
}

const NUMBERS = '/api/v1/companies/{company_id}/numbers'
const NUMBER = `${NUMBERS}/{contractor_company_id}`
const ORDER = '/companies/{company_id}/orders/{order_id}'
const ITEMS = `/api/v1${ORDER}/items`
const NOTHING = z.object({})
const RETURN = {
  summary: 'Specify items for return',
  method: 'POST',
  credential: 'oauth',
  body: ItemReturns,
  answer: z.array(Item),
  refusals: [401, 403, 404, 422],
  repeatable: false,
} as const

/** All operations, §4.1 to §4.5. The return is served with and without the version segment. */
export const OPERATIONS = {
  getNumber: {
    summary: 'Get a contractor number',
    method: 'GET',
    path: NUMBER,
    credential: 'oauth',
    answer: StoredContractorNumber,
    refusals: [401, 403, 404, 422],
    repeatable: true,
  },
  putNumber: {
    summary: 'Add or replace a contractor number',
    method: 'POST',
    path: NUMBER,
    credential: 'oauth',
    body: ContractorNumber,
    answer: StoredContractorNumber,
    refusals: [401, 403, 422],
    repeatable: true,
  },
  listNumbers: {
    summary: "Get a company's contractor numbers, ascending id",
    method: 'GET',
    path: NUMBERS,
    credential: 'oauth',
    answer: z.array(StoredContractorNumber),
    refusals: [401, 403, 422],
    repeatable: true,
  },
  deleteNumber: {
    summary: 'Delete a contractor number',
    method: 'DELETE',
    path: NUMBER,
    credential: 'oauth',
    answer: NOTHING,
    refusals: [401, 403, 404, 422],
    repeatable: true,
  },
  pushPositions: {
    summary: 'Save positions of a courier on a route',
    method: 'POST',
    path: '/api/v1/couriers/{courier_id}/routes/{route_id}/push-positions-v3',
    credential: 'apikey',
    query: z.object({ apikey: z.string().min(1) }),
    body: PushPositions,
    answer: NOTHING,
    refusals: [403, 404, 422],
    repeatable: true,
  },
  courierPositions: {
    summary: 'Get the positions on a route in an interval of at most two hours',
    method: 'GET',
    path: '/api/v2/companies/{company_id}/routes/{route_id}/courier-positions',
    credential: 'oauth',
    query: IntervalQuery,
    answer: CourierPositions,
    refusals: [400, 401, 403, 422, 504],
    repeatable: true,
  },
  addItems: {
    summary: 'Add items to an order, all or none',
    method: 'POST',
    path: ITEMS,
    credential: 'oauth',
    body: NewItems,
    answer: z.array(Item),
    refusals: [401, 403, 422],
    repeatable: false,
  },
  listItems: {
    summary: 'Get the items of an order',
    method: 'GET',
    path: ITEMS,
    credential: 'oauth',
    query: ItemsQuery,
    answer: ItemsPage,
    refusals: [401, 403, 404, 422],
    repeatable: true,
  },
  deleteItems: {
    summary: 'Delete all items of an order',
    method: 'DELETE',
    path: ITEMS,
    credential: 'oauth',
    answer: NOTHING,
    refusals: [401, 403, 404, 422],
    repeatable: true,
  },
  deleteItem: {
    summary: 'Delete an item of an order',
    method: 'DELETE',
    path: `${ITEMS}/{item_id}`,
    credential: 'oauth',
    answer: NOTHING,
    refusals: [401, 403, 404, 422],
    repeatable: true,
  },
  returnItems: { ...RETURN, path: `${ORDER}:return` },
  returnItemsV1: { ...RETURN, path: `/api/v1${ORDER}:return` },
} as const satisfies Record<string, TrackingOperation>

export type OperationName = keyof typeof OPERATIONS

/** Schemas that have a name in OpenAPI documents. */
export const NAMED_SCHEMAS = {
  Id,
  ContractorNumber,
  StoredContractorNumber,
  Point,
  PositionV3,
  CourierPosition,
  NewItem,
  Item,
  ItemsPage,
  ItemReturn,
}

/** The parameters of an operation's path, in their order. */
export function parametersOf(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name)
}

/**
 * An operation's path as fastify's router takes it. A parameter before a colon matches whatever is there: a wrong
 * id is for the operation to refuse.
 */
export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}(:?)/g, (_, name: string, colon: string) => `:${name}${colon && '(^.*)::'}`)
}
