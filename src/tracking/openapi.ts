import * as z from 'zod'
import { VERSION } from '../version.ts'
import { NAMED_SCHEMAS } from './schemas.ts'

export interface DescribedOperation {
  readonly summary: string
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
  /** The schema of every parameter of the path; default: text. */
  readonly parameter?: z.ZodType
  /** Names one of the document's security schemes; default: the operation needs no credential. */
  readonly credential?: string
  readonly query?: z.ZodObject
  /** The body as JSON. */
  readonly body?: z.ZodType
  /** Media types of the body; default: JSON. Text is described as text, anything else as any bytes. */
  readonly bodyTypes?: readonly string[]
  /** The body of a 200; default: any. */
  readonly answer?: z.ZodType
  /** The media types of a 200; default: JSON. Text beside JSON is described as text. */
  readonly answerType?: string | readonly string[]
  /** Set if the answer tells where vans are or were, or when they moved. */
  readonly reads?: 'positions'
  /** Statuses that are answered with a JSON `message`. */
  readonly refusals: readonly number[]
}

export interface DocumentParts {
  readonly info: { readonly title: string; readonly description: string }
  readonly securitySchemes: Readonly<Record<string, object>>
  /** The meaning of each status with which an operation may refuse. */
  readonly refusals: Readonly<Record<number, string>>
  /** JSON schemas that replace those of the named schemas. */
  readonly schemas?: Readonly<Partial<Record<keyof typeof NAMED_SCHEMAS, object>>>
  /** By operationId. */
  readonly operations: Readonly<Record<string, DescribedOperation>>
}

/** An OpenAPI 3.1 document. A schema's `meta` takes precedence over what zod derives from it: an int64 is no string. */
export function openApiDocument({ info, securitySchemes, refusals, schemas, operations }: DocumentParts) {
  const converted = jsonSchemas(operations)
  const paths: Record<string, Record<string, object>> = {}
  for (const [id, operation] of Object.entries(operations)) {
    const { path, method } = operation
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(id, operation, converted[id]) }
  }
  return {
    openapi: '3.1.1',
    info: { ...info, version: VERSION },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { ...Object.fromEntries(Object.keys(NAMED_SCHEMAS).map((name) => [name, converted[name]])), ...schemas },
      responses: Object.fromEntries(Object.entries(refusals).map(([status, text]) => [status, refusal(text)])),
      securitySchemes,
    },
  }
}

type JsonSchema = z.core.JSONSchema.BaseSchema

/** By name: the named schemas; and, for each operation, an object with its path, query, body and answer. */
function jsonSchemas(operations: DocumentParts['operations']): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) registry.add(schema, { id })
  for (const [id, operation] of Object.entries(operations)) registry.add(partsOf(operation), { id })
  const { schemas } = z.toJSONSchema(registry, { uri: componentUri, unrepresentable: 'any', override: refine })
  for (const schema of Object.values(schemas)) {
    delete schema.$id
    delete schema.$schema
  }
  return schemas
}

function componentUri(id: string): string {
  return `#/components/schemas/${id}`
}

function partsOf({ path, parameter = z.string(), query, body, answer = z.unknown() }: DescribedOperation): z.ZodObject {
  const ids = Object.fromEntries(parametersOf(path).map((name) => [name, parameter]))
  return z.object({ path: z.object(ids), ...(query && { query }), ...(body && { body }), answer })
}

/** The parameters of an operation's path, in their order. */
export function parametersOf(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name)
}

/** Unknown fields of objects are ignored everywhere. A field with a default may be left out. */
function refine({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
  if (!(zodSchema instanceof z.ZodObject)) return
  delete jsonSchema.additionalProperties
  jsonSchema.required = jsonSchema.required?.filter((name) => !(zodSchema.shape[name] instanceof z.ZodDefault))
}

function operationObject(operationId: string, operation: DescribedOperation, parts: JsonSchema) {
  const { summary, credential, bodyTypes = [JSON_TYPE], answerType = JSON_TYPE, reads, refusals } = operation
  const { path, query, body, answer } = parts.properties as Record<string, JsonSchema>
  return {
    operationId,
    summary,
    security: credential === undefined ? [] : [{ [credential]: [] }],
    ...(reads && { 'x-reads': reads }),
    parameters: [...parameters('path', path), ...parameters('query', query)],
    ...(body && { requestBody: { required: true, content: bodyContent(bodyTypes, body) } }),
    responses: {
      200: { description: 'Done.', content: answerContent(answerType, answer) },
      ...Object.fromEntries(refusals.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
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
  return { description, content: content([JSON_TYPE], { $ref: componentUri('Error') }) }
}

function content(types: readonly string[], schema: JsonSchema) {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

function answerContent(type: string | readonly string[], answer: JsonSchema) {
  return typeof type === 'string' ? content([type], answer) : bodyContent(type, answer)
}

function bodyContent(types: readonly string[], json: JsonSchema) {
  const { description } = json
  const schemaOf = (type: string) =>
    type === JSON_TYPE ? json : { description, ...(type.startsWith('text/') && { type: 'string' }) }
  return Object.fromEntries(types.map((type) => [type, { schema: schemaOf(type) }]))
}

const JSON_TYPE = 'application/json'
