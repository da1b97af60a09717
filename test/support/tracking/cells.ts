/*
 * The table of the interface as requests: each operation with each of its statuses, for whatever speaks the interface.
 * Run in this order against a service of its own with `PROVISIONING`, they get the same answers every time, item ids
 * included: only `server_timestamp` differs, and says when it was.
 */
import { expect } from 'vitest'
import { parametersOf } from '../../../src/tracking/openapi.ts'
import { OPERATIONS, type OperationName } from '../../../src/tracking/operations.ts'
import { SENTENCE } from './sentence.ts'
import { type HttpAnswer, MAX_ID } from './service.ts'

/** A request to any host. */
export interface CellRequest {
  readonly operation: OperationName
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** The header, '' for none; default: access to company 7. */
  readonly authorization?: string
}

export type Send = (request: CellRequest) => Promise<HttpAnswer>

/** The servers that a cell runs against. */
export interface Harness {
  /** Sends to the tested server. */
  readonly send: Send
  /** The same, with a service whose time limit ends at once. */
  readonly impatient: Send
  /** Sends to the service itself, to prepare data. */
  readonly service: Send
}

export interface Cell {
  readonly operation: OperationName
  readonly status: number
  readonly title: string
  /** Data to prepare before the request. */
  readonly given?: readonly Given[]
  /** `items`: ids of the items that `given` added, in order. */
  readonly ask: (items: readonly number[]) => Ask
  /** The expected JSON of the answer. */
  readonly json: (items: readonly number[]) => unknown
  /** Uses the service whose time limit ends at once. */
  readonly impatient?: true
  /** Why the relay answers differently. */
  readonly differs?: string
}

type Given = readonly [operation: OperationName, ask: Ask]

/** The input of an operation; parameters are put into the path unchanged. */
interface Ask {
  readonly params: Readonly<Record<string, string>>
  readonly query?: string
  /** A string or bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly authorization?: string
}

/** Prepares the data of a cell and sends its request. */
export async function runCell({ given = [], ask, operation, impatient }: Cell, harness: Harness) {
  const items: number[] = []
  for (const [before, parts] of given) {
    const answer = await harness.service(requestOf(before, parts))
    expect(answer.status, `${before} before ${operation}: ${answer.text}`).toBe(200)
    if (before === 'addItems') items.push(...(answer.json as { id: number }[]).map(({ id }) => id))
  }
  const answer = await (impatient ? harness.impatient : harness.send)(requestOf(operation, ask(items)))
  return { answer, items }
}

function requestOf(operation: OperationName, { params, query, body, headers, authorization }: Ask): CellRequest {
  const { method, path } = OPERATIONS[operation]
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name])
  const raw = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined
  return {
    operation,
    method,
    path: query === undefined ? filled : `${filled}?${query}`,
    headers: headers ?? (body === undefined ? {} : JSON_TYPE),
    body: raw ? body : JSON.stringify(body),
    authorization,
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }
/** Reasons for which the relay answers differently. */
export const TOKEN_REPLACED = "the admin port asks for an admin token and adds the company's OAuth token itself"
export const COMPANIES_OF_ITS_OWN = 'the admin port knows companies from its configuration, and has a token of each'
export const NO_PUSH = 'the relay leaves the push out'
export const WINDOWS = 'the relay reads longer intervals in windows'
export const NO_CALL = 'the relay refuses wrong input without a call, and so before it could know what exists'

const FROM = 1_700_000_000
const TOO_LONG = '12345678901234567890'
const DEEP = `{"timestamp":1234567890123456789,"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
const LONE_SURROGATE = '{"number":"1","name":"\\ud800"}'

let lastId = 1_000

/** An id that no other cell uses. */
function nextId(): string {
  return String(++lastId)
}

function item(number: string, changes: object = {}): object {
  return { number, description: 'Two chairs', price: '12.50', total_count: 3, ...changes }
}

function stored(number: string, id: number, changes: object = {}): object {
  return { id, ...item(number), undelivered_count: 0, ...changes }
}

function atNumber(contractor = nextId()) {
  return { company_id: '7', contractor_company_id: contractor }
}

function atOrder(id = nextId()) {
  return { company_id: '7', order_id: id }
}

/** An order with two items. */
function filledOrder(params = atOrder()) {
  return { params, given: [['addItems', { params, body: [item('A'), item('B')] }]] as const }
}

const LANE = { courier_id: '42', route_id: '1001' }
const ROUTE = { company_id: '7', route_id: '1001' }

function positions(...timestamps: number[]) {
  return { positions: timestamps.map((timestamp) => ({ accuracy: 5, point: { lat: 55.75, lon: 37.5 }, timestamp })) }
}

/** A valid input of each operation, for cells that change one thing of it. */
const EXAMPLES: Readonly<Record<OperationName, () => Pick<Cell, 'given' | 'ask'>>> = {
  getNumber: () => {
    const params = atNumber()
    return { given: [['putNumber', { params, body: { number: '12-A' } }]], ask: () => ({ params }) }
  },
  putNumber: () => example({ params: atNumber(), body: { number: '12-A' } }),
  listNumbers: () => example({ params: { company_id: '7' } }),
  deleteNumber: () => {
    const params = atNumber()
    return { given: [['putNumber', { params, body: { number: '12-A' } }]], ask: () => ({ params }) }
  },
  pushPositions: () => example({ params: LANE, query: 'apikey=key-7', body: positions(FROM) }),
  courierPositions: () => example({ params: ROUTE, query: `from=${FROM}&to=${FROM}` }),
  addItems: () => example({ params: atOrder(), body: [item('A')] }),
  listItems: () => {
    const { params, given } = filledOrder()
    return { given, ask: () => ({ params }) }
  },
  deleteItems: () => {
    const { params, given } = filledOrder()
    return { given, ask: () => ({ params }) }
  },
  deleteItem: () => {
    const { params, given } = filledOrder()
    return { given, ask: ([first]) => ({ params: { ...params, item_id: String(first) } }) }
  },
  returnItems: exampleReturn,
  returnItemsV1: exampleReturn,
}

function example(ask: Ask): Pick<Cell, 'given' | 'ask'> {
  return { ask: () => ask }
}

function exampleReturn(): Pick<Cell, 'given' | 'ask'> {
  const { params, given } = filledOrder()
  return { given, ask: ([first]) => ({ params, body: [{ item_id: first, undelivered_count: 1 }] }) }
}

type Spoil = (ask: Ask, items: readonly number[]) => Partial<Ask>

/** A refused cell: an example with one change; `path`: the field that the answer names. */
function refused(
  operation: OperationName,
  [status, title, spoil, path]: readonly [status: number, title: string, spoil: Spoil, path?: string],
  differs: string | undefined = operation === 'pushPositions' ? NO_PUSH : undefined,
): Cell {
  const { given, ask } = EXAMPLES[operation]()
  const spoilt = (items: readonly number[]) => ({ ...ask(items), ...spoil(ask(items), items) })
  return { operation, status, title, given, ask: spoilt, json: () => refusal(path), differs }
}

function refusal(path?: string): unknown {
  const errors = expect.arrayContaining([{ path, message: SENTENCE }]) as unknown
  return expect.objectContaining(path === undefined ? { message: SENTENCE } : { message: SENTENCE, errors }) as unknown
}

/** The example's parameters with one of them changed. */
function withParameter(name: string, value: string): Spoil {
  return ({ params }) => ({ params: { ...params, [name]: value } })
}

const NAMES = Object.keys(OPERATIONS) as OperationName[]
const BY_TOKEN = NAMES.filter((name) => OPERATIONS[name].credential === 'oauth')
const RETURNS = ['returnItems', 'returnItemsV1'] as const

const credentials: Cell[] = BY_TOKEN.flatMap((operation) => [
  refused(operation, [401, 'no Authorization header', () => ({ authorization: '' })], TOKEN_REPLACED),
  refused(operation, [401, 'Bearer in place of OAuth', () => ({ authorization: 'Bearer token-7' })], TOKEN_REPLACED),
  refused(operation, [401, 'an unknown token', () => ({ authorization: 'OAuth nobody' })], TOKEN_REPLACED),
  refused(operation, [403, "another company's token", () => ({ authorization: 'OAuth token-8' })], TOKEN_REPLACED),
  refused(operation, [403, 'another company', withParameter('company_id', '8')], COMPANIES_OF_ITS_OWN),
  refused(operation, [403, 'an unknown company', withParameter('company_id', '99')], COMPANIES_OF_ITS_OWN),
])

const WRONG_IDS = [
  ['of 20 digits', TOO_LONG],
  ['of 2^63', '9223372036854775808'],
  ['that is negative', '-5'],
  ['that is no number', 'abc'],
  ['with a fraction', '5.0'],
  ['with .. and %2f', '..%2f5'],
] as const

const pathIds: Cell[] = NAMES.flatMap((operation) =>
  parametersOf(OPERATIONS[operation].path).flatMap((name) =>
    WRONG_IDS.map(([what, id]) => refused(operation, [422, `${name} ${what}`, withParameter(name, id), name])),
  ),
)

const WRONG_BODIES: readonly (readonly [string, Spoil])[] = [
  ['no body', () => ({ body: undefined })],
  ['an empty body', () => ({ body: '' })],
  ['malformed JSON', () => ({ body: '{"number":' })],
  ['NaN', () => ({ body: '{"number":NaN}' })],
  ['bytes that are not UTF-8', () => ({ body: Buffer.from([0x22, 0xff, 0x22]) })],
  ['null', () => ({ body: 'null' })],
  ['a number', () => ({ body: '7' })],
  ['text/plain', () => ({ headers: { 'content-type': 'text/plain' } })],
  ['no content type', () => ({ headers: {} })],
  ['a byte order mark', ({ body }) => ({ body: `\ufeff${JSON.stringify(body)}` })],
  ['what is nested deeply', () => ({ body: DEEP })],
  ['5 MB', () => ({ body: ' '.repeat(5_000_000) })],
]

const bodies: Cell[] = NAMES.filter((operation) => 'body' in OPERATIONS[operation]).flatMap((operation) =>
  WRONG_BODIES.map(([title, spoil]) => refused(operation, [422, `a body: ${title}`, spoil])),
)

const WRONG_NUMBERS: readonly (readonly [string, unknown, string])[] = [
  ['no number', { name: 'Ant' }, 'number'],
  ['an empty number', { number: '' }, 'number'],
  ['a number of 81 characters', { number: '1'.repeat(81) }, 'number'],
  ['a number without quotes', { number: 12 }, 'number'],
  ['a name of 81 code points', { number: '1', name: 'é'.repeat(81) }, 'name'],
  ['a name of null', { number: '1', name: null }, 'name'],
  ['a lone surrogate in name', LONE_SURROGATE, 'name'],
]

const numbers: Cell[] = [
  {
    operation: 'getNumber',
    status: 200,
    title: 'with a name',
    given: [['putNumber', { params: atNumber('901'), body: { number: '12-A', name: 'Ant' } }]],
    ask: () => ({ params: atNumber('901') }),
    json: () => ({ id: 901, number: '12-A', name: 'Ant' }),
  },
  {
    operation: 'getNumber',
    status: 200,
    title: 'whose name a later write has removed',
    given: [
      ['putNumber', { params: atNumber('902'), body: { number: '12-A', name: 'Ant' } }],
      ['putNumber', { params: atNumber('902'), body: { number: '12-B' } }],
    ],
    ask: () => ({ params: atNumber('902') }),
    json: () => ({ id: 902, number: '12-B' }),
  },
  refused('getNumber', [404, 'there is none', () => ({ params: atNumber() })]),
  {
    operation: 'putNumber',
    status: 200,
    title: 'a name of 80 code points that are two code units each; unknown fields are ignored',
    ask: () => ({ params: atNumber('903'), body: { number: '12-A', name: '🚚'.repeat(80), id: 5, colour: 'red' } }),
    json: () => ({ id: 903, number: '12-A', name: '🚚'.repeat(80) }),
  },
  {
    operation: 'putNumber',
    status: 200,
    title: 'one that is there already',
    given: [['putNumber', { params: atNumber('904'), body: { number: '12-A', name: 'Ant' } }]],
    ask: () => ({ params: atNumber('904'), body: { number: '12-B' } }),
    json: () => ({ id: 904, number: '12-B' }),
  },
  ...WRONG_NUMBERS.map(([title, body, path]) => refused('putNumber', [422, title, () => ({ body }), path])),
  {
    operation: 'listNumbers',
    status: 200,
    title: 'what the company has',
    given: [['putNumber', { params: atNumber('905'), body: { number: '12-A', name: 'Ant' } }]],
    ask: () => ({ params: { company_id: '7' } }),
    json: () => expect.arrayContaining([{ id: 905, number: '12-A', name: 'Ant' }]) as unknown,
  },
  {
    operation: 'deleteNumber',
    status: 200,
    title: 'one that is there',
    given: [['putNumber', { params: atNumber('906'), body: { number: '12-A' } }]],
    ask: () => ({ params: atNumber('906') }),
    json: () => ({}),
  },
  refused('deleteNumber', [404, 'there is none', () => ({ params: atNumber() })]),
]

const WRONG_ITEMS: readonly (readonly [string, unknown, string])[] = [
  ['no items', [], ''],
  ['1,001 items', Array.from({ length: 1_001 }, (_, n) => item(`${n}`)), ''],
  ['an item that is a number', [item('A'), 7], '1'],
  ['no number', [item('A'), { ...item('B'), number: undefined }], '1.number'],
  ['a number of 81 characters', [item('A'), item('B'.repeat(81))], '1.number'],
  ['a description of 1,024 characters', [item('A', { description: 'd'.repeat(1_024) })], '0.description'],
  ['a price that is a number', [item('A', { price: 12.5 })], '0.price'],
  ['a price of five places', [item('A', { price: '1.00001' })], '0.price'],
  ['a total_count of 0', [item('A', { total_count: 0 })], '0.total_count'],
  ['a total_count beyond 2^53 with an exponent', written('"total_count":9.007199254740993e15'), '0.total_count'],
  ['a total_count with a fraction', [item('A', { total_count: 1.5 })], '0.total_count'],
  ['a total_count of null, as JSON writes NaN', [item('A', { total_count: Number.NaN })], '0.total_count'],
  ['a code that is a number', [item('A', { code: 5 })], '0.code'],
  ['a repeated item number', [item('A'), item('A')], '1.number'],
]

/** An item as JSON text, with a given text for its count. */
function written(count: string): string {
  return JSON.stringify([item('A')]).replace('"total_count":3', count)
}

const items: Cell[] = [
  {
    operation: 'addItems',
    status: 200,
    title: 'items of a new order, in the order of the body; unknown fields are ignored',
    ask: () => ({ params: atOrder('801'), body: [item('B', { code: 'c', comment: 'no' }), item('A', { id: 99 })] }),
    json: () => [stored('B', expect.any(Number) as number, { code: 'c' }), stored('A', expect.any(Number) as number)],
  },
  ...WRONG_ITEMS.map(([title, body, path]) => refused('addItems', [422, title, () => ({ body }), path])),
  {
    operation: 'addItems',
    status: 422,
    title: 'an item number that the order has already',
    ...((): Pick<Cell, 'given' | 'ask'> => {
      const { params, given } = filledOrder()
      return { given, ask: () => ({ params, body: [item('C'), item('B')] }) }
    })(),
    json: () => refusal('1.number'),
  },
  {
    operation: 'listItems',
    status: 200,
    title: 'all of an order',
    given: filledOrder(atOrder('802')).given,
    ask: () => ({ params: atOrder('802') }),
    json: ([a, b]) => ({ results: [stored('A', a), stored('B', b)] }),
  },
  {
    operation: 'listItems',
    status: 200,
    title: 'a page, with a token for the next one',
    given: filledOrder(atOrder('803')).given,
    ask: () => ({ params: atOrder('803'), query: 'max_results=1' }),
    json: ([a]) => ({ results: [stored('A', a)], next_page_token: expect.any(String) as unknown }),
  },
  {
    operation: 'listItems',
    status: 200,
    title: 'none of an order whose items were deleted',
    given: [...filledOrder(atOrder('804')).given, ['deleteItems', { params: atOrder('804') }]],
    ask: () => ({ params: atOrder('804') }),
    json: () => ({ results: [] }),
  },
  refused('listItems', [404, 'an order that never had an item', () => ({ params: atOrder() })]),
  refused(
    'listItems',
    [404, 'such an order, and a page of 0', () => ({ params: atOrder(), query: 'max_results=0' })],
    NO_CALL,
  ),
  ...['0', '101', '-1', '1.5', 'x', '', '1&max_results=2'].map((size) =>
    refused('listItems', [422, `max_results=${size}`, () => ({ query: `max_results=${size}` }), 'max_results']),
  ),
  refused('listItems', [422, 'two page_tokens', () => ({ query: 'page_token=a&page_token=b' }), 'page_token']),
  refused('listItems', [422, 'a page_token that is none', () => ({ query: 'page_token=abc' }), 'page_token']),
  {
    operation: 'deleteItems',
    status: 200,
    title: 'all of an order',
    ...EXAMPLES.deleteItems(),
    json: () => ({}),
  },
  {
    operation: 'deleteItems',
    status: 200,
    title: 'an order whose items were deleted',
    given: [...filledOrder(atOrder('805')).given, ['deleteItems', { params: atOrder('805') }]],
    ask: () => ({ params: atOrder('805') }),
    json: () => ({}),
  },
  refused('deleteItems', [404, 'an order that never had an item', () => ({ params: atOrder() })]),
  { operation: 'deleteItem', status: 200, title: 'one that is there', ...EXAMPLES.deleteItem(), json: () => ({}) },
  refused('deleteItem', [404, 'an item that is not there', withParameter('item_id', MAX_ID)]),
  {
    operation: 'deleteItem',
    status: 404,
    title: 'an item of another order',
    given: [...filledOrder(atOrder('806')).given, ...filledOrder(atOrder('807')).given],
    ask: ([first]) => ({ params: { ...atOrder('807'), item_id: String(first) } }),
    json: () => refusal(),
  },
]

const WRONG_RETURNS: readonly (readonly [string, (items: readonly number[]) => unknown, string])[] = [
  ['nothing to return', () => [], ''],
  ['no item_id', ([a]) => [back(a), { undelivered_count: 1 }], '1.item_id'],
  ['an item_id in quotes', ([a, b]) => [back(a), { ...back(b), item_id: `${b}` }], '1.item_id'],
  ['an item of no order', ([a]) => [back(a), back(1_000_000_000)], '1.item_id'],
  ['the same item twice', ([a]) => [back(a), back(a)], '1.item_id'],
  ['more than was ordered', ([a, b]) => [back(a), back(b, 4)], '1.undelivered_count'],
  ['a negative count', ([a, b]) => [back(a), back(b, -1)], '1.undelivered_count'],
  ['a lone surrogate in comment', ([a]) => [{ ...back(a), comment: '\ud800' }], '0.comment'],
]

function back(item_id: number, count = 1): object {
  return { item_id, undelivered_count: count }
}

const returns: Cell[] = RETURNS.flatMap((operation): Cell[] => {
  const { params, given } = filledOrder()
  return [
    {
      operation,
      status: 200,
      title: 'items of an order, in the order of the body',
      given,
      ask: ([a, b]) => ({ params, body: [back(b, 3), { ...back(a), comment: 'scratched' }] }),
      json: ([a, b]) => [
        stored('B', b, { undelivered_count: 3 }),
        stored('A', a, { undelivered_count: 1, comment: 'scratched' }),
      ],
    },
    refused(operation, [404, 'an order that never had an item', () => ({ params: atOrder() })]),
    refused(operation, [404, 'such an order, and no JSON', () => ({ params: atOrder(), body: '{' })], NO_CALL),
    ...WRONG_RETURNS.map(([title, body, path]) =>
      refused(operation, [422, title, (_, added) => ({ body: body(added) }), path]),
    ),
  ]
})

const pushes: Cell[] = [
  {
    operation: 'pushPositions',
    status: 200,
    title: 'a position',
    ...EXAMPLES.pushPositions(),
    json: () => ({}),
    differs: NO_PUSH,
  },
  refused('pushPositions', [403, 'an unknown apikey', () => ({ query: 'apikey=nobody' })]),
  refused('pushPositions', [403, "another company's apikey", () => ({ query: 'apikey=key-8' })]),
  refused('pushPositions', [404, 'an unknown courier', withParameter('courier_id', '99')]),
  refused('pushPositions', [404, 'an unknown route', withParameter('route_id', '9999')]),
  refused('pushPositions', [404, "another courier's route", withParameter('route_id', '1002')]),
  refused('pushPositions', [422, 'no apikey', () => ({ query: undefined }), 'apikey']),
  refused('pushPositions', [422, 'neither apikey nor body', () => ({ query: undefined, body: undefined }), 'apikey']),
  refused('pushPositions', [
    422,
    '1,001 positions',
    () => ({ body: positions(...Array.from({ length: 1_001 }, (_, n) => n)) }),
    'positions',
  ]),
  refused('pushPositions', [422, 'a negative timestamp', () => ({ body: positions(1, -1) }), 'positions.1.timestamp']),
]

const WRONG_INTERVALS: readonly (readonly [string, string, string])[] = [
  ['no from', `to=${FROM}`, 'from'],
  ['neither from nor to', '', 'from'],
  ['a from that is no integer', 'from=1.5', 'from'],
  ['a from beyond int64', 'from=9223372036854775808', 'from'],
  ['two froms', `from=${FROM}&from=${FROM}`, 'from'],
  ['two tos', `from=${FROM}&to=${FROM}&to=${FROM}`, 'to'],
  ['an empty to', `from=${FROM}&to=`, 'to'],
  ['from later than to', `from=${FROM}&to=${FROM - 1}`, 'to'],
]

const intervals: Cell[] = [
  {
    operation: 'courierPositions',
    status: 200,
    title: 'positions of two hours, in order of timestamp',
    given: [['pushPositions', { params: LANE, query: 'apikey=key-7', body: positions(FROM + 27_200, FROM + 20_000) }]],
    ask: () => ({ params: ROUTE, query: `from=${FROM + 20_000}&to=${FROM + 27_200}` }),
    json: () =>
      [FROM + 20_000, FROM + 27_200].map((timestamp) => ({
        lat: 55.75,
        lon: 37.5,
        timestamp,
        server_timestamp: expect.any(Number) as unknown,
      })),
  },
  {
    operation: 'courierPositions',
    status: 200,
    title: 'a route that the company does not have',
    ask: () => ({ params: { ...ROUTE, route_id: '2001' }, query: `from=${FROM}` }),
    json: () => [],
  },
  ...WRONG_INTERVALS.map(([title, query, path]) => refused('courierPositions', [400, title, () => ({ query }), path])),
  refused(
    'courierPositions',
    [400, 'two hours and a second', () => ({ query: `from=${FROM}&to=${FROM + 7_201}` }), 'to'],
    WINDOWS,
  ),
  { ...refused('courierPositions', [504, 'a service whose time is up', () => ({})]), impatient: true },
]

/** All cells, in the order in which they run. */
export const cells: readonly Cell[] = [
  ...credentials,
  ...pathIds,
  ...bodies,
  ...numbers,
  ...items,
  ...returns,
  ...pushes,
  ...intervals,
]
