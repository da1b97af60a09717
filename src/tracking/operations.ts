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

/** An operation of the interface, for the service, the client, the relay and the OpenAPI documents. */
export interface TrackingOperation {
  readonly summary: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With its parameters in braces; they are all int64. */
  readonly path: string
  /** An OAuth token of the company in the path, or the apikey of the courier's company. */
  readonly credential: 'oauth' | 'apikey'
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** The body of a 200. */
  readonly answer: z.ZodType
  readonly refusals: readonly (400 | 401 | 403 | 404 | 422 | 504)[]
  /** Doing it twice does no harm. */
  readonly repeatable: boolean
}

const NUMBERS = '/api/v1/companies/{company_id}/numbers'
const NUMBER = `${NUMBERS}/{contractor_company_id}`
const ORDER = '/companies/{company_id}/orders/{order_id}'
const ITEMS = `/api/v1${ORDER}/items`
const NOTHING = z.object({})
const READ = { method: 'GET', credential: 'oauth', repeatable: true } as const
const WRITE = { method: 'POST', credential: 'oauth', repeatable: true } as const
const DELETE = { method: 'DELETE', credential: 'oauth', answer: NOTHING, repeatable: true } as const
const RETURN = {
  ...WRITE,
  summary: 'Specify items for return',
  body: ItemReturns,
  answer: z.array(Item),
  refusals: [401, 403, 404, 422],
  repeatable: false,
} as const

/** All operations, §4.1 to §4.5. The return is served with and without the version segment. */
export const OPERATIONS = {
  getNumber: {
    ...READ,
    summary: 'Get a contractor number',
    path: NUMBER,
    answer: StoredContractorNumber,
    refusals: [401, 403, 404, 422],
  },
  putNumber: {
    ...WRITE,
    summary: 'Add or replace a contractor number',
    path: NUMBER,
    body: ContractorNumber,
    answer: StoredContractorNumber,
    refusals: [401, 403, 422],
  },
  listNumbers: {
    ...READ,
    summary: "Get a company's contractor numbers, ascending id",
    path: NUMBERS,
    answer: z.array(StoredContractorNumber),
    refusals: [401, 403, 422],
  },
  deleteNumber: {
    ...DELETE,
    summary: 'Delete a contractor number',
    path: NUMBER,
    refusals: [401, 403, 404, 422],
  },
  pushPositions: {
    ...WRITE,
    summary: 'Save positions of a courier on a route',
    path: '/api/v1/couriers/{courier_id}/routes/{route_id}/push-positions-v3',
    credential: 'apikey',
    query: z.object({ apikey: z.string().min(1) }),
    body: PushPositions,
    answer: NOTHING,
    refusals: [403, 404, 422],
  },
  courierPositions: {
    ...READ,
    summary: 'Get the positions on a route in an interval of at most two hours',
    path: '/api/v2/companies/{company_id}/routes/{route_id}/courier-positions',
    query: IntervalQuery,
    answer: CourierPositions,
    refusals: [400, 401, 403, 422, 504],
  },
  addItems: {
    ...WRITE,
    summary: 'Add items to an order, all or none',
    path: ITEMS,
    body: NewItems,
    answer: z.array(Item),
    refusals: [401, 403, 422],
    repeatable: false,
  },
  listItems: {
    ...READ,
    summary: 'Get the items of an order',
    path: ITEMS,
    query: ItemsQuery,
    answer: ItemsPage,
    refusals: [401, 403, 404, 422],
  },
  deleteItems: {
    ...DELETE,
    summary: 'Delete all items of an order',
    path: ITEMS,
    refusals: [401, 403, 404, 422],
  },
  deleteItem: {
    ...DELETE,
    summary: 'Delete an item of an order',
    path: `${ITEMS}/{item_id}`,
    refusals: [401, 403, 404, 422],
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
 * An operation's path in the syntax of fastify's router. A parameter before a colon matches any text: the operation refuses a
 * wrong id.
 */
export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}(:?)/g, (_, name: string, colon: string) => `:${name}${colon && '(^.*)::'}`)
}
