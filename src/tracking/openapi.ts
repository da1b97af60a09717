import * as z from 'zod'
import product from '../../package.json' with { type: 'json' }
import { MAX_BODY_BYTES } from './body.ts'
import { OPERATIONS, parametersOf, type TrackingOperation } from './operations.ts'
import {
  ContractorNumber,
  CourierPosition,
  ErrorBody,
  Id,
  Item,
  ItemReturn,
  ItemsPage,
  MAX_ITEM_TEXTS,
  MAX_ITEMS,
  NewItem,
  Point,
  PositionV3,
  StoredContractorNumber,
} from './schemas.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

/** Schemas that have a name in the document. */
const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
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
  Error: ErrorBody,
}

const REFUSALS: Readonly<Record<TrackingOperation['refusals'][number], string>> = {
  400: 'The interval has no beginning, is not in whole seconds, ends before it begins, or is longer than two hours.',
  401: 'Authorization failed: send a known OAuth token in the header.',
  403: 'No access to this object: it belongs to another company than the credentials, or these are unknown.',
  404: 'There is no such object.',
  422: 'Incorrect input: an id that is no int64 from 0 on, a body that is missing, too large or no JSON, a field that is wrong.',
  504: 'The service took too long.',
}

const SECURITY_SCHEMES = {
  oauth: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An OAuth token of the company, as `OAuth <token>`.',
  },
  apikey: { type: 'apiKey', in: 'query', name: 'apikey', description: "The company's API key." },
} satisfies Record<TrackingOperation['credential'], object>

const LIMITS = Object.entries(MAX_ITEM_TEXTS)
  .map(([field, most]) => `at most ${most} characters of \`${field}\``)
  .join(', ')
const DESCRIPTION = `Contractor numbers, positions of couriers, items of orders and their return.

Integers of the format int64 go up to 9223372036854775807 and are exact: read them with a parser that keeps all digits,
and write those beyond 2^53 in plain digits. At most ${MAX_ITEMS} items are taken at once,
and of an item ${LIMITS}.
Fields that are not known are ignored. Text must be well-formed Unicode, and its length is counted in code points.
A request body has at most ${MAX_BODY_BYTES} bytes. Credentials are checked first, then access, existence, input.`

/** The whole interface as an OpenAPI 3.1 document, made from the table of operations and their schemas. */
export function openApiDocument() {
  const schemas = jsonSchemas()
  return {
    openapi: '3.1.1',
    info: { title: 'Courier Tracking Service Interface', version: product.version, description: DESCRIPTION },
    servers: [{ url: '/' }],
    paths: pathsOf(schemas),
    components: {
      schemas: Object.fromEntries(Object.keys(COMPONENTS).map((name) => [name, schemas[name]])),
      responses: Object.fromEntries(Object.entries(REFUSALS).map(([status, text]) => [status, refusal(text)])),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

/** By name: the components, and for each operation an object of all that it has schemas for. */
function jsonSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id })
  for (const [id, operation] of Object.entries(OPERATIONS)) registry.add(partsOf(operation), { id })
  const { schemas } = z.toJSONSchema(registry, { uri: componentUri, unrepresentable: 'any', override: describe })
  for (const schema of Object.values(schemas)) {
    delete schema.$id
    delete schema.$schema
  }
  return schemas
}

function componentUri(id: string): string {
  return `#/components/schemas/${id}`
}

function partsOf({ path, query, body, answer }: TrackingOperation): z.ZodObject {
  const ids = Object.fromEntries(parametersOf(path).map((name) => [name, Id]))
  return z.object({ path: z.object(ids), ...(query && { query }), ...(body && { body }), answer })
}

/** What a schema's own `meta` says holds: an int64 is no string. Fields that are not known are no mistake. */
function describe({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
  delete jsonSchema.additionalProperties
}

function pathsOf(schemas: Readonly<Record<string, JsonSchema>>) {
  const paths: Record<string, Record<string, object>> = {}
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const { path, method } = operation
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(name, operation, schemas[name]) }
  }
  return paths
}

function operationObject(operationId: string, operation: TrackingOperation, parts: JsonSchema) {
  const { path, query, body, answer } = parts.properties as Record<string, JsonSchema>
  return {
    operationId,
    summary: operation.summary,
    security: [{ [operation.credential]: [] }],
    parameters: [...parameters('path', path), ...parameters('query', query)],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      200: { description: 'Done.', content: json(answer) },
      ...Object.fromEntries(operation.refusals.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  }
}

function parameters(place: 'path' | 'query', { properties = {}, required = [] }: JsonSchema = {}) {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema,
  }))
}

function refusal(description: string) {
  return { description, content: json({ $ref: componentUri('Error') }) }
}

function json(schema: JsonSchema) {
  return { 'application/json': { schema } }
}
