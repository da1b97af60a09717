import * as fc from 'fast-check'
import { broken, valid } from './arbitraries.ts'
import { bodySchema, type PlacedOperation, type Schema } from './document.ts'
import { jsonText } from './json.ts'
import { encoded, type Parts } from './parts.ts'
import { NO_IDS } from './spoils.ts'

/** Replaces parts of a request. */
export type Change = Partial<Parts>

/** The request with some parts replaced. */
export function changed(parts: Parts, { path, query, headers, body }: Change): Parts {
  return {
    path: { ...parts.path, ...path },
    query: query ?? parts.query,
    headers: { ...parts.headers, ...headers },
    body: body ?? parts.body,
  }
}

/** Any values, right ones included, for some parts of a request. */
export function changes(operation: PlacedOperation): fc.Arbitrary<Change> {
  const names = operation.parameters.map(({ name }) => name)
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  return fc.record(
    {
      path: fc.dictionary(fc.constantFrom(...inPath), ANY_ID),
      query: fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string().map(encoded)), ANY_VALUE), {
        maxLength: 4,
      }),
      headers: fc.dictionary(fc.constantFrom('authorization', 'content-type', 'accept'), HEADER),
      body: anyBody(bodySchema(operation) ?? { type: 'object' }),
    },
    { requiredKeys: [] },
  )
}

function anyBody(schema: Schema): fc.Arbitrary<string | Buffer> {
  return fc.oneof(
    valid(schema).map(jsonText),
    broken(schema).map(({ value }) => jsonText(value)),
    fc.json(),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  )
}

const HEADER = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) })
const ANY_ID = fc.oneof(
  fc.constantFrom('7', '8', '42', '1001', '1', '9223372036854775807'),
  fc.constantFrom(...NO_IDS),
  fc.string({ unit: 'binary', minLength: 1 }).map(encoded),
)
const ANY_VALUE = fc.oneof(fc.constantFrom('key-7', 'key-8', '1700000000', ''), ANY_ID, fc.webQueryParameters())
