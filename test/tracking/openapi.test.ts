import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/tracking/operations.ts'
import { VERSION } from '../../src/version.ts'
import {
  answerSchema,
  bodySchema,
  compile,
  document,
  operationOf,
  operations,
  type PlacedOperation,
  resolve,
} from '../support/tracking/openapi/document.ts'
import { startService } from '../support/tracking/service.ts'

const NUMBER = '/api/v1/companies/{company_id}/numbers/{contractor_company_id}'
const ITEMS = '/api/v1/companies/{company_id}/orders/{order_id}/items'

/** The interface of tracking-interface.md and its notes: statuses, and query parameters (`?`: optional). */
const INTERFACE = [
  ['GET', NUMBER, '200 401 403 404 422', ''],
  ['POST', NUMBER, '200 401 403 422', ''],
  ['DELETE', NUMBER, '200 401 403 404 422', ''],
  ['GET', '/api/v1/companies/{company_id}/numbers', '200 401 403 422', ''],
  ['POST', '/api/v1/couriers/{courier_id}/routes/{route_id}/push-positions-v3', '200 403 404 422', 'apikey'],
  ['GET', '/api/v2/companies/{company_id}/routes/{route_id}/courier-positions', '200 400 401 403 422 504', 'from to?'],
  ['POST', ITEMS, '200 401 403 422', ''],
  ['GET', ITEMS, '200 401 403 404 422', 'max_results? page_token?'],
  ['DELETE', ITEMS, '200 401 403 404 422', ''],
  ['DELETE', `${ITEMS}/{item_id}`, '200 401 403 404 422', ''],
  ['POST', '/companies/{company_id}/orders/{order_id}:return', '200 401 403 404 422', ''],
  ['POST', '/api/v1/companies/{company_id}/orders/{order_id}:return', '200 401 403 404 422', ''],
]

const { schemas } = document.components
const text = (minLength: number | undefined, maxLength: number | undefined) => ({
  type: 'string',
  ...(minLength !== undefined && { minLength }),
  ...(maxLength !== undefined && { maxLength }),
})
const int64 = (minimum: number) => ({ type: 'integer', format: 'int64', minimum })

describe('GET /openapi.json', () => {
  it('the tracking service serves its OpenAPI document without credentials', async () => {
    const service = await startService()
    const answer = await service.send('/openapi.json')
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    expect(answer.json).toEqual(document)
  })
})

it('the OpenAPI document has the version of the product, and is relative to its own URL', () => {
  expect(document).toMatchObject({ openapi: '3.1.1', info: { version: VERSION }, servers: [{ url: '/' }] })
})

it('the OpenAPI document describes exactly the operations of the interface, with statuses and parameters', () => {
  const found = operations.map(({ method, path, responses, parameters }) => [
    method,
    path,
    Object.keys(responses).join(' '),
    parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, required }) => (required ? name : `${name}?`))
      .join(' '),
  ])
  expect(lines(found)).toEqual(lines(INTERFACE))
})

it('the OpenAPI document names each operation as the table of operations does', () => {
  const names = operations.map(({ operationId }) => operationId)
  expect(names.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted())
})

it('the OpenAPI document refers only to components that exist', () => {
  const references = Array.from(JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g), ([, reference]) => reference)
  expect(references.length).toBeGreaterThan(30)
  expect(references.filter((reference) => !reference.startsWith('#/components/') || !resolve(reference))).toEqual([])
})

it('the OpenAPI document has only components that are referred to', () => {
  const { securitySchemes: _, ...referable } = document.components
  const uris = Object.entries(referable).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `#/components/${kind}/${name}`),
  )
  expect(uris.filter((uri) => !JSON.stringify(document).includes(`"${uri}"`))).toEqual([])
})

it('the OpenAPI document gives every status a description and a JSON body', () => {
  for (const operation of operations)
    for (const status of Object.keys(operation.responses)) {
      const response = operation.responses[status]
      const whole = '$ref' in response ? resolve(response.$ref) : response
      expect(whole).toMatchObject({ description: expect.stringMatching(/\.$/), content: { 'application/json': {} } })
    }
})

it('the OpenAPI document describes the body of every refusal as an Error', () => {
  const refused = operations.flatMap((operation) =>
    Object.keys(operation.responses)
      .filter((status) => status !== '200')
      .map((status) => answerSchema(operation, status)),
  )
  expect(refused.length).toBeGreaterThan(40)
  expect(refused.filter(({ $ref }) => $ref !== '#/components/schemas/Error')).toEqual([])
})

it('the OpenAPI document names the credential of each operation', () => {
  expect(document.components.securitySchemes).toMatchObject({
    oauth: { type: 'apiKey', in: 'header', name: 'Authorization' },
    apikey: { type: 'apiKey', in: 'query', name: 'apikey' },
  })
  for (const { operationId, security } of operations)
    expect(security).toEqual([operationId === 'pushPositions' ? { apikey: [] } : { oauth: [] }])
})

it('the OpenAPI document declares a required body for each operation with a body', () => {
  const withBody = operations.filter(({ requestBody }) => requestBody?.required).map(({ operationId }) => operationId)
  expect(withBody.toSorted()).toEqual(['addItems', 'pushPositions', 'putNumber', 'returnItems', 'returnItemsV1'])
})

describe.each(operations.map((operation) => [operation.operationId, operation] as const))('%s', (_, operation) => {
  it('declares each parameter of its path once, as an int64', () => {
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
    expect(declared.map(({ name }) => `{${name}}`)).toEqual(operation.path.match(/\{\w+\}/g))
    for (const parameter of declared)
      expect(parameter).toMatchObject({ required: true, schema: { $ref: '#/components/schemas/Id' } })
  })

  it('has schemas that a strict validator compiles', () => {
    for (const schema of schemasOf(operation)) expect(compile(schema)).toBeTypeOf('function')
  })
})

it('the OpenAPI document allows unknown fields in every schema', () => {
  expect(JSON.stringify(document)).not.toContain('additionalProperties')
})

it.each([
  ['Id', int64(0)],
  ['ContractorNumber', { properties: { number: text(1, 80), name: text(undefined, 80) }, required: ['number'] }],
  ['StoredContractorNumber', { properties: { id: int64(0) }, required: ['number', 'id'] }],
  [
    'Point',
    {
      properties: {
        lat: { type: 'number', minimum: -90, maximum: 90 },
        lon: { type: 'number', minimum: -180, maximum: 180 },
      },
      required: ['lat', 'lon'],
    },
  ],
  [
    'PositionV3',
    {
      properties: {
        accuracy: { type: 'integer' },
        point: { $ref: '#/components/schemas/Point' },
        timestamp: int64(0),
        heading: { type: 'integer' },
        speed: { type: 'number' },
      },
      required: ['accuracy', 'point', 'timestamp'],
    },
  ],
  [
    'CourierPosition',
    {
      properties: { timestamp: { type: 'number' }, server_timestamp: { type: 'number' } },
      required: ['lat', 'lon', 'timestamp'],
    },
  ],
  [
    'NewItem',
    {
      properties: {
        number: text(1, 80),
        description: text(undefined, 1_023),
        price: { type: 'string', pattern: '^(?:0|[1-9][0-9]*)(?:\\.[0-9]{1,4})?$' },
        total_count: int64(1),
        code: text(undefined, undefined),
      },
      required: ['number', 'description', 'price', 'total_count'],
    },
  ],
  [
    'Item',
    {
      properties: { id: int64(1), undelivered_count: int64(0), comment: { type: 'string' } },
      required: ['number', 'description', 'price', 'total_count', 'id', 'undelivered_count'],
    },
  ],
  [
    'ItemReturn',
    { properties: { item_id: int64(0), undelivered_count: int64(0) }, required: ['item_id', 'undelivered_count'] },
  ],
  ['ItemsPage', { properties: { results: { items: { $ref: '#/components/schemas/Item' } } }, required: ['results'] }],
  ['Error', { properties: { message: { type: 'string' } }, required: ['message'] }],
])('the OpenAPI document describes %s as the interface does', (name, expected) => {
  expect(schemas[name]).toMatchObject(expected)
})

it.each([
  [
    'pushPositions',
    { properties: { positions: { maxItems: 1_000, items: { $ref: '#/components/schemas/PositionV3' } } } },
  ],
  ['addItems', { minItems: 1, items: { $ref: '#/components/schemas/NewItem' } }],
  ['returnItems', { minItems: 1, items: { $ref: '#/components/schemas/ItemReturn' } }],
  ['putNumber', { $ref: '#/components/schemas/ContractorNumber' }],
])('the OpenAPI document describes the body of %s with bounds and named parts', (name, expected) => {
  expect(bodySchema(operationOf(name))).toMatchObject(expected)
})

it('the OpenAPI document describes numeric parameters as numbers, not as text', () => {
  const types = ['courierPositions', 'listItems'].flatMap((name) =>
    operationOf(name)
      .parameters.filter((parameter) => parameter.in === 'query')
      .map(({ schema }) => schema),
  )
  expect(types).toMatchObject([
    { type: 'integer', format: 'int64' },
    { type: 'integer', format: 'int64' },
    { type: 'integer', minimum: 1, maximum: 100, default: 100 },
    { type: 'string' },
  ])
})

function lines(rows: string[][]): string[] {
  return rows.map((row) => row.join(' | ')).toSorted()
}

function schemasOf(operation: PlacedOperation) {
  return [
    bodySchema(operation) ?? {},
    ...operation.parameters.map(({ schema }) => schema),
    ...Object.keys(operation.responses).map((status) => answerSchema(operation, status)),
  ]
}
