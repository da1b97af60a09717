import * as fc from 'fast-check'
import { type HttpAnswer, type HttpRequest, MAX_ID } from '../service.ts'
import { valid } from './arbitraries.ts'
import { bodySchema, document, operationOf, type PlacedOperation, type Schema } from './document.ts'
import { type Json, type JsonObject, jsonText, parseExactly } from './json.ts'
import { encoded, type Parts, wire } from './parts.ts'

export type Send = (path: string, request: HttpRequest) => Promise<HttpAnswer>

/** A valid request of an operation, and the data that it needs. */
export interface Draft {
  readonly caller: Caller
  readonly contractor: Json
  readonly number: Json
  readonly items: Json
  readonly query: JsonObject
  readonly body?: Json
}

/** A company with a courier and a route. */
interface Caller {
  readonly company_id: string
  readonly token: string
  readonly apikey: string
  readonly courier_id: string
  readonly route_id: string
}

interface StoredItem extends JsonObject {
  readonly id: bigint
  readonly total_count: bigint
}

type Ids = Readonly<Record<string, string>>

const CALLERS: readonly Caller[] = [
  { company_id: '7', token: 'token-7', apikey: 'key-7', courier_id: '42', route_id: '1001' },
  { company_id: MAX_ID, token: 'token-max', apikey: 'key-max', courier_id: MAX_ID, route_id: MAX_ID },
]

/** The company whose credentials tests replace. */
export const [SEVEN] = CALLERS

/** A company without numbers and orders, and a route that its courier does not have. */
const BARE: Caller = { company_id: '8', token: 'token-8', apikey: 'key-8', courier_id: '43', route_id: '1001' }

/** The data that an operation needs to answer 200. */
const GIVEN: Readonly<Record<string, 'putNumber' | 'addItems'>> = {
  getNumber: 'putNumber',
  deleteNumber: 'putNumber',
  listItems: 'addItems',
  deleteItems: 'addItems',
  deleteItem: 'addItems',
  returnItems: 'addItems',
  returnItemsV1: 'addItems',
}

/** Makes a body valid where a schema cannot express the rule; `stored`: the items of the order. */
const FURTHER: Readonly<Record<string, (draft: Draft, stored: readonly StoredItem[]) => Partial<Draft>>> = {
  addItems: ({ body }) => ({ body: withoutRepeats(body) }),
  courierPositions: ({ query }) => ({ query: withinTwoHours(query) }),
  listItems: ({ query }) => ({ query: withoutToken(query) }),
  returnItems: ({ body }, stored) => ({ body: ofStoredItems(body, stored) }),
  returnItemsV1: ({ body }, stored) => ({ body: ofStoredItems(body, stored) }),
}

/** Generates drafts of an operation from its schemas. */
export function drafts(operation: PlacedOperation): fc.Arbitrary<Draft> {
  const body = bodySchema(operation)
  return fc.record({
    caller: fc.constantFrom(...CALLERS),
    contractor: valid(document.components.schemas.Id),
    number: valid(bodySchema(operationOf('putNumber')) as Schema),
    items: valid(bodySchema(operationOf('addItems')) as Schema).map(withoutRepeats),
    query: valid(querySchema(operation)) as fc.Arbitrary<JsonObject>,
    ...(body && { body: valid(body) }),
  })
}

/** Stores the data of a draft in a new order; resolves to the request for it. */
export async function given(send: Send, operation: PlacedOperation, draft: Draft): Promise<Parts> {
  const ids = idsOf(draft, draft.caller)
  const stored = await store(send, draft, { name: GIVEN[operation.operationId], ids })
  const further = FURTHER[operation.operationId]?.(draft, stored)
  return partsOf(operation, { ...draft, ...further }, { ...ids, item_id: String(stored.at(-1)?.id) })
}

/** A request for data that does not exist. */
export function nothingGiven(operation: PlacedOperation, draft: Draft): Parts {
  return partsOf(operation, { ...draft, caller: BARE }, { ...idsOf(draft, BARE), item_id: MAX_ID })
}

function idsOf({ contractor }: Draft, { company_id, courier_id, route_id }: Caller): Ids {
  return { company_id, courier_id, route_id, contractor_company_id: jsonText(contractor), order_id: nextOrder() }
}

let orders = 0n

/** Unique ids, from the greatest downwards. */
function nextOrder(): string {
  return String(BigInt(MAX_ID) - orders++)
}

async function store(send: Send, draft: Draft, { name, ids }: { name?: string; ids: Ids }): Promise<StoredItem[]> {
  if (name === undefined) return []
  const operation = operationOf(name)
  const body = name === 'addItems' ? draft.items : draft.number
  const answer = await send(...wire(operation, partsOf(operation, { ...draft, query: {}, body }, ids)))
  if (answer.status !== 200) throw new Error(`${name}, to have something: ${answer.status} ${answer.text}`)
  return name === 'addItems' ? (parseExactly(answer.text) as unknown as StoredItem[]) : []
}

function partsOf(operation: PlacedOperation, { caller, query, body }: Draft, ids: Ids): Parts {
  const [credential] = operation.security.flatMap((one) => Object.keys(one))
  const values = credential === 'apikey' ? { ...query, apikey: caller.apikey } : query
  return {
    path: ids,
    query: Object.entries(values).map(([name, value]) => [
      encoded(name),
      encoded(typeof value === 'string' ? value : jsonText(value)),
    ]),
    headers: {
      ...(credential === 'oauth' && { authorization: `OAuth ${caller.token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: jsonText(body) }),
  }
}

/** Query parameters, generated like the fields of an object, with unknown ones. */
function querySchema({ parameters }: PlacedOperation): Schema {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  return {
    type: 'object',
    properties: Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema])),
    required: inQuery.filter(({ required }) => required).map(({ name }) => name),
  }
}

/** Page tokens are opaque: a valid one comes from the previous page. */
function withoutToken(query: JsonObject): JsonObject {
  const { page_token: _, ...rest } = query
  return rest
}

function withoutRepeats(items: Json = []): Json {
  return Array.from(new Map((items as JsonObject[]).map((item) => [item.number, item])).values())
}

function withinTwoHours({ from, to, ...query }: JsonObject): JsonObject {
  if (to === undefined) return { from, ...query }
  const end = (from as bigint) + BigInt.asUintN(12, to as bigint)
  return { from, to: end > BigInt(MAX_ID) ? MAX_ID : end, ...query }
}

/** Returns of stored items, with at most their total count. */
function ofStoredItems(returns: Json = [], stored: readonly StoredItem[]): Json {
  return (returns as JsonObject[]).slice(0, stored.length).map((each, index) => ({
    ...each,
    item_id: stored[index].id,
    undelivered_count: (each.undelivered_count as bigint) % (stored[index].total_count + 1n),
  }))
}
