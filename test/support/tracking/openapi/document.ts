import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { trackingDocument } from '../../../../src/sandbox/tracking/service.ts'

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number'
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema: Schema
}

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: Content & { readonly required: boolean }
  readonly responses: Readonly<Record<string, (Content & { readonly description: string }) | { readonly $ref: string }>>
}

export type PlacedOperation = Operation & { readonly path: string; readonly method: 'GET' | 'POST' | 'DELETE' }

export interface Document {
  readonly openapi: string
  readonly info: Readonly<Record<string, string>>
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Content & { readonly description: string }>>
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

/** The document after serialisation. */
export const document = JSON.parse(JSON.stringify(trackingDocument())) as Document

/** All operations of the document, each with its path and method. */
export const operations: readonly PlacedOperation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    path,
    method: method.toUpperCase() as PlacedOperation['method'],
  })),
)

/** The operation with that operationId. */
export function operationOf(name: string): PlacedOperation {
  const operation = operations.find(({ operationId }) => operationId === name)
  if (!operation) throw new Error(`there is no operation ${name}`)
  return operation
}

/** The schema of an operation's request body, if it has one. */
export function bodySchema({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content['application/json'].schema
}

/** The component that a reference names. */
export function resolve(ref: string): unknown {
  const steps = ref.slice(2).split('/')
  return steps.reduce((node: unknown, step) => (node as Record<string, unknown> | undefined)?.[step], document)
}

/** The schema itself in place of a reference. */
export function resolved(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (resolve(schema.$ref) as Schema)
}

/** The schema of an operation's answer with a status. */
export function answerSchema({ responses }: Operation, status: number | string): Schema {
  const response = responses[status]
  const content = '$ref' in response ? (resolve(response.$ref) as Content) : response
  return content.content['application/json'].schema
}

/** Compiles a schema of the document, strictly; `closed` refuses unknown fields. */
export function compile(schema: Schema, { closed = false } = {}): ValidateFunction {
  const { schemas } = document.components
  const whole = JSON.stringify({ ...schema, $defs: schemas }).replaceAll('#/components/schemas/', '#/$defs/')
  return ajv.compile(JSON.parse(whole, (_, node) => (closed && node.properties ? close(node) : node)))
}

function close(schema: Schema): object {
  return { ...schema, additionalProperties: false }
}

const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  formats: { int64: { type: 'number', validate: Number.isInteger } },
})
