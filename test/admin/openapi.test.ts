import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { keys } from '../../src/store/index.ts'
import { OPERATIONS } from '../../src/tracking/operations.ts'
import { adminFixture, hold, refuse, store, TOKEN, workerOf } from '../support/admin.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { beatingHeardBook } from '../support/beat.ts'

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, object>> }
  readonly responses: Readonly<Record<string, object>>
  readonly security: readonly object[]
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}

/** Schemas of tracking API bodies with numeric ids. */
const WITH_NUMERIC_IDS = new Set(['StoredContractorNumber', 'Item', 'ItemReturn'])

const admin = adminFixture({
  gateway: `admin: { port: 0, tokens: [another-token, ${TOKEN}] }\ncopies: [{ name: crm, to: "http://127.0.0.1:1" }]`,
})

async function readDocument(): Promise<Document> {
  return (await admin.ask('/openapi.json')).json as Document
}

/** Returns each operation as `GET /admin/status`, with its description. */
async function readOperations(): Promise<(readonly [name: string, described: Described])[]> {
  const { paths } = await readDocument()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => [`${method.toUpperCase()} ${path}`, described] as const),
  )
}

it('GET /openapi.json answers an OpenAPI 3.1 document with a token, and 401 without', async () => {
  expect((await readDocument()).openapi).toBe('3.1.1')
  expect((await admin.ask('/openapi.json', { headers: {} })).status).toBe(401)
})

it('GET /openapi.json describes each relayed operation with the statuses that the relay adds', async () => {
  const { paths } = await readDocument()
  for (const [name, { method, path }] of Object.entries(OPERATIONS)) {
    const described = paths[path]?.[method.toLowerCase()]
    if (name === 'pushPositions') expect(described).toBeUndefined()
    else {
      expect(described.operationId).toBe(name)
      expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(['200', '401', '404', '502', '504']))
    }
  }
})

it('GET /openapi.json describes every path that the answer to an unknown path lists', async () => {
  const { message } = (await admin.ask('/admin/nothing')).json as { message: string }
  const known = (await readOperations()).map(([name]) => name)
  const named = message
    .replace('unknown path; this port has ', '')
    .split(', ')
    .flatMap((text) => {
      const [methods, path] = text.split(' ')
      return methods.split('|').map((method) => `${method} ${path}`)
    })
  expect(named.length).toBeGreaterThan(10)
  expect(known).toEqual(expect.arrayContaining(named))
})

it('GET /openapi.json names each operation once', async () => {
  const ids = (await readOperations()).map(([, { operationId }]) => operationId)
  expect(ids).toEqual([...new Set(ids)])
})

it('GET /openapi.json declares for each operation a summary, its parameters, its token and an answer', async () => {
  for (const [name, { summary, parameters, responses, security, requestBody }] of await readOperations()) {
    const inPath = parameters.filter((parameter) => parameter.in === 'path')
    expect([name, inPath.map((parameter) => `{${parameter.name}}`)]).toEqual([name, name.match(/\{\w+\}/g) ?? []])
    expect(inPath.every(({ required }) => required)).toBe(true)
    expect(summary).toMatch(/^[A-Z]/)
    expect(Object.keys(responses)).toContain('200')
    const isOpen = / \/(?:healthz|readyz|metrics|admin\/oidc.*)$/.test(name)
    expect([name, security]).toEqual([name, isOpen ? [] : [{ token: [] }]])
    if (requestBody) expect(Object.keys(requestBody.content)).not.toEqual([])
  }
})

it('GET /openapi.json describes the event stream as text/event-stream', async () => {
  const { parameters, responses } = (await readDocument()).paths['/admin/events'].get
  expect(parameters.map(({ name, required }) => [name, required])).toEqual([
    ['topics', false],
    ['device', false],
    ['last_event_id', false],
  ])
  expect(responses['200']).toMatchObject({ content: { 'text/event-stream': {} } })
})

it('GET /openapi.json refers only to components that exist', async () => {
  const document = await readDocument()
  const references = Array.from(JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g))
  expect(references.length).toBeGreaterThan(30)
  for (const [, kind, name] of references) expect(Object.keys(document.components[kind])).toContain(name)
})

it('GET /openapi.json declares every id as text, except those that the tracking API has as numbers', async () => {
  const document = await readDocument()
  const schemas = Object.fromEntries(
    Object.entries(document.components.schemas).filter(([name]) => !WITH_NUMERIC_IDS.has(name)),
  )
  const ids = fieldsOf({ ...document, components: { schemas } }).filter(([name]) => /^id$|_id$/.test(name))
  expect(new Set(ids.map(([name]) => name))).toContain('courier_id')
  const numbers = ids.filter(([, schema]) => /integer|number/.test(JSON.stringify(schema)))
  expect(numbers).toEqual([])
  expect(schemas.Id).toMatchObject({ type: 'string' })
})

it('GET /openapi.json says that settings may have any field', async () => {
  const settings = fieldsOf(await readDocument()).filter(([name]) => name === 'settings')
  expect(settings.length).toBeGreaterThan(1)
  for (const [, schema] of settings) expect(JSON.stringify(schema)).toContain('"additionalProperties":{}')
})

it('GET /openapi.json marks every operation that answers positions', async () => {
  const document = await readDocument()
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ name: `${method.toUpperCase()} ${path}`, described })),
  )
  const reading = operations.filter(({ described }) => 'x-reads' in described).map(({ name }) => name)
  const withPlaces = operations
    .filter(({ described }) =>
      fieldsOf(resolved(described.responses['200'], document)).some(([name]) => PLACE.test(name)),
    )
    .map(({ name }) => name)
  expect(withPlaces.length).toBeGreaterThan(8)
  expect(withPlaces.filter((name) => !reading.includes(name))).toEqual([])
  expect(reading.filter((name) => !withPlaces.includes(name)).toSorted()).toEqual([
    'GET /admin/days',
    'GET /admin/devices/{id}/history',
    'GET /admin/events',
    'GET /admin/mappings/unread',
    'GET /admin/trial',
  ])
})

it('GET /openapi.json declares a query parameter with a default as optional', async () => {
  const { parameters } = (await readDocument()).paths['/admin/lanes'].get
  expect(parameters.map(({ name, required }) => [name, required])).toEqual([
    ['max_results', false],
    ['page_token', false],
    ['sort', false],
  ])
})

const PLACE = /^(?:lat|lon|lng|latitude|longitude|place)$/

/** Replaces references in a part of a document with their schemas. */
function resolved(part: unknown, document: Document): unknown {
  const name = /^#\/components\/schemas\/(\w+)$/.exec((part as { $ref?: string } | null)?.$ref ?? '')?.[1]
  if (name !== undefined) return resolved(document.components.schemas[name], document)
  if (Array.isArray(part)) return part.map((each) => resolved(each, document))
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, resolved(each, document)]))
}

/** All properties of the objects in a document, and its parameters, each with its schema. */
function fieldsOf(node: unknown): [name: string, schema: unknown][] {
  if (typeof node !== 'object' || node === null) return []
  const { properties, name, schema } = node as { properties?: object; name?: unknown; schema?: unknown }
  const own = [...Object.entries(properties ?? {}), ...(typeof name === 'string' && schema ? [[name, schema]] : [])]
  return [...(own as [string, unknown][]), ...Object.values(node).flatMap(fieldsOf)]
}

const FIX = { time: Date.UTC(2026, 10, 20, 8), latitude: 52.5, longitude: 13.4, valid: true, speed: 10, heading: 90 }
const LINES = 'device,courier_id,route_id,from,until\nVan 12,42,9,2099-11-20 06:00,2099-11-20 20:00\nVan 99,1,1,x,\n'
const WINDOW = 'company_id=7&from=2099-11-20&until=2099-11-21'

/** Stores an example of everything that an answer can show. */
async function fill(): Promise<void> {
  await admin.redis.hset(admin.redis.keyNames.keptHours, 'since', 0)
  const { redis } = admin
  const { leases, lease } = workerOf(redis)
  await store(redis, '7/42/1001', { count: 2 })
  await store(redis, '7/43/2001', { count: 2 })
  await refuse(redis, '7/43/2001', 1, { status: 422, message: 'accuracy' })
  await leases.park(await lease('7/43/2001'), { status: 404, message: 'no such route' })
  await hold(redis, 'clock', '356307042441014', { count: 2, time: Date.now() + 3 * 3_600_000 })
  await hold(redis, 'no_route', '0356307042441013')
  await hold(redis, 'unknown', '77')
  const heard = beatingHeardBook(redis)
  const device = '0356307042441013'
  const session = Object.assign(new Conversation('tcp', '10.1.2.3:40001'), { device })
  heard.of(device).spoke(session, 'teltonika')
  heard.of(device).stored({
    fix: { at: session.now, fix: FIX },
    filtered: { reason: 'zero', at: session.now + 1, fix: { ...FIX, latitude: NaN } },
  })
  heard.of(device).became('routed', '7/42/1001')
  heard.of(device).became('filtered', 'zero')
  await expect.poll(async () => (await eventsOf(device)).length, { timeout: 30_000 }).toBeGreaterThan(2)
  await keepFrame(redis, '1', { unreadable: [0], opening: ['hello'] })
  const arrival = { at: Date.now(), address: '10.1.2.3:40001', transport: 'http', port: 5055, protocol: 'osmand' }
  await redis.lpush(keys.arrivals, JSON.stringify({ ...arrival, evidence: [], bytes: '', json: JSON_UNREAD }))
  await heard.close()
}

async function eventsOf(device: string): Promise<unknown[]> {
  return ((await admin.ask(`/admin/devices/${device}`)).json as { events: unknown[] }).events
}

/** Requests in the order of sending: the operation, its id or query, and its options. */
const MAPPING = '{"device":"imei","lat":"la","lon":"lo","speed":{"path":"v","unit":"kmh"}}'
const JSON_UNREAD = '{"imei":"356307042441013","la":52.5,"lo":13.4,"v":50,"t":1795154400,"gps":{"lat":52.5,"lon":13.4}}'
const VANS = 'IMEI;Plate;Comment\nnew-1;B-WB 1;x\n356307042441014;Van 14;\n3.5E+14;Van 12;\n;B-WB 2;\n'
const REQUESTS: readonly (readonly [
  operation: string,
  query?: string,
  options?: RequestInit & { type?: string },
  further?: string,
])[] = [
  ['GET /healthz'],
  ['GET /readyz'],
  ['GET /admin/status'],
  ['GET /admin/lanes', '?sort=oldest&max_results=1'],
  ['GET /admin/lanes'],
  ['GET /admin/devices', '?max_results=2'],
  ['GET /admin/devices'],
  ['GET /admin/devices/{id}', '0356307042441013'],
  ['GET /admin/devices/{id}', '356307042441014'],
  ['GET /admin/devices/{id}', '77'],
  ['GET /admin/devices/{id}/chain', '0356307042441013'],
  ['GET /admin/devices/{id}/chain', '356307042441014'],
  ['GET /admin/devices/{id}/chain', '77'],
  ['GET /admin/devices/{id}/history', '0356307042441013'],
  ['GET /admin/days'],
  ['POST /admin/devices/{id}/watch', '1'],
  ['GET /admin/devices/{id}/frames', '1'],
  ['PUT /admin/devices/{id}', 'new', { body: '{"company_id":7,"name":"Van 16"}', type: 'application/json' }],
  ['POST /admin/devices/{id}/release', 'new'],
  ['DELETE /admin/devices/{id}/data', 'new'],
  ['DELETE /admin/devices/{id}', 'new'],
  ['PUT /admin/devices', '?company_id=7&dry_run=true', { body: VANS, type: 'text/csv' }],
  ['PUT /admin/devices', '?company_id=7', { body: VANS, type: 'text/csv' }],
  ['PUT /admin/routes', `?${WINDOW}&dry_run=true`, { body: LINES, type: 'text/csv' }],
  ['PUT /admin/routes', `?${WINDOW}`, { body: LINES, type: 'text/csv' }],
  ['GET /admin/routes', '?max_results=1'],
  ['GET /admin/routes', '?at=2099-11-20 07:00'],
  [
    'POST /admin/devices/{id}/assign',
    'van%2F15',
    { body: '{"like":"Van 12"}', type: 'application/json' },
    '?force=true',
  ],
  ['POST /admin/devices/{id}/swap', 'van%2F15', { body: '{"with":"Van 14"}', type: 'application/json' }, '?force=true'],
  [
    'POST /admin/devices/{id}/redeliver',
    'van%2F15',
    { body: '{"from_at":"2026-11-20","until_at":"2026-11-21"}', type: 'application/json' },
  ],
  ['POST /admin/verify'],
  ['POST /admin/roster/redeliver', '?company_id=7'],
  ['DELETE /admin/roster/redeliver', '?company_id=7'],
  ['POST /admin/devices/{id}/unassign', 'van%2F15'],
  ['GET /admin/roster'],
  ['POST /admin/roster/undo', '?put='],
  ['GET /admin/parked'],
  ['POST /admin/parked/retry', '?courier_id=43'],
  ['DELETE /admin/parked', '?all=true'],
  ['GET /admin/copies/parked', '?copy=crm'],
  ['POST /admin/copies/retry', '?copy=crm'],
  ['DELETE /admin/copies/parked', '?copy=crm'],
  ['POST /admin/apis/test'],
  ['POST /admin/alerts/test'],
  ['POST /admin/enrolment', '?for=1m'],
  ['GET /admin/enrolment'],
  ['DELETE /admin/enrolment'],
  ['GET /admin/findings', '?severity=error'],
  ['GET /admin/misunderstood', '?device=1'],
  ['DELETE /admin/misunderstood', '?device=1'],
  ['GET /admin/arrivals'],
  ['PUT /admin/mappings/{name}', 'own?dry_run=true', { body: MAPPING, type: 'application/json' }],
  ['GET /admin/mappings/unread'],
  ['PUT /admin/mappings/{name}', 'own', { body: MAPPING, type: 'application/json' }],
  ['GET /admin/mappings'],
  ['DELETE /admin/mappings/{name}', 'own'],
  ['GET /admin/trial'],
  ['GET /admin/setups'],
  ['GET /admin/audit', '?max_results=2'],
  ['GET /admin/reads', '?max_results=2'],
  ['GET /admin/token'],
  ['GET /admin/oidc'],
  ['POST /admin/oidc/logout', '', { headers: { 'x-waybridge-page': '1' } }],
  ['GET /openapi.json'],
]

describe('a running admin port', () => {
  it('a running admin port answers each of its operations as the document describes it, without other fields', async () => {
    await fill()
    const described = new Map(await readOperations())
    let put = ''
    for (const [operation, query = '', { type, ...options } = {}, further = ''] of REQUESTS) {
      const [method, template] = operation.split(' ')
      const path = /\{(?:id|name)\}/.test(template)
        ? template.replace(/\{(?:id|name)\}/, query) + further
        : template + query.replace(/put=$/, `put=${put}`)
      const headers = { authorization: `Bearer ${TOKEN}`, ...(type && { 'content-type': type }) }
      const { status, json, text } = await admin.ask(path, { method, headers, ...options })
      put = (json as { put?: string } | undefined)?.put ?? put
      expect([operation, status, text]).toEqual([operation, 200, text])
      expect([operation, query, mistakes(described.get(operation)!, json)]).toEqual([operation, query, []])
    }
    // Operations that do not answer JSON have their own tests.
    const others = ['GET /metrics', 'GET /admin/events']
    const own = [...described.keys()].filter((name) => !/ \/(?:api|companies)\//.test(name) && !others.includes(name))
    expect(own.filter((name) => !REQUESTS.some(([operation]) => operation === name))).toEqual([])
  })
})

/** Returns where an answer with status 200 differs from its description. */
function mistakes({ responses }: Described, json: unknown): unknown[] {
  const { content } = responses['200'] as { content: Record<string, { schema: object }> }
  const fits = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(
    closed(content['application/json'].schema),
  )
  return fits(json)
    ? []
    : (fits.errors ?? []).map(({ instancePath, message, params }) => [instancePath, message, params])
}

/** Returns the schema without additional fields in any object. */
function closed<Schema>(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map((each: unknown) => closed(each)) as Schema
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value as unknown)]))
  return ('properties' in parts && 'type' in parts ? { ...parts, additionalProperties: false } : parts) as Schema
}
