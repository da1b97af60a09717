import * as fc from 'fast-check'
import { broken, valid } from './arbitraries.ts'
import { bodySchema, type Parameter, type PlacedOperation, resolved, type Schema } from './document.ts'
import { jsonText } from './json.ts'
import { encoded, type Parts } from './parts.ts'

/** Replaces parts of a request; an undefined header or body is left out. */
export interface Spoil {
  readonly path?: Readonly<Record<string, string>>
  /** All values of one parameter. */
  readonly query?: { readonly name: string; readonly values: readonly string[] }
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Buffer
  /** The field that the refusal names; null for none. */
  readonly field: string | null
}

/** The request with one part replaced. */
export function spoilt(parts: Parts, spoil: Spoil): Parts {
  const { name, values } = spoil.query ?? { name: '', values: [] }
  const headers = Object.entries({ ...parts.headers, ...spoil.headers }).filter(([, value]) => value !== undefined)
  return {
    path: { ...parts.path, ...spoil.path },
    query: [...parts.query.filter(([other]) => other !== name), ...values.map((value) => [name, value] as const)],
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: 'body' in spoil ? spoil.body : parts.body,
  }
}

/** Generates one mistake in the input of an operation. */
export function inputSpoils(operation: PlacedOperation): fc.Arbitrary<Spoil> {
  const schema = bodySchema(operation)
  const parameters = fc.oneof(...operation.parameters.map(parameterSpoils))
  return schema ? fc.oneof(parameters, { weight: 3, arbitrary: bodySpoils(schema) }) : parameters
}

/** Wrong credentials, each with the status that answers it. */
export function credentialSpoils(operation: PlacedOperation): fc.Arbitrary<Spoil & { readonly status: number }> {
  const [credential] = operation.security.flatMap((one) => Object.keys(one))
  if (credential === 'apikey')
    return fc
      .constantFrom('key-8', 'token-7', 'key-7%20', 'KEY-7', '__proto__', '%00', '%ff')
      .map((value) => ({ query: { name: 'apikey', values: [value] }, field: null, status: 403 }))
  return fc.oneof(
    fc.constantFrom(...NO_TOKEN).map((authorization) => ({ headers: { authorization }, field: null, status: 401 })),
    fc.constant({ headers: { authorization: 'OAuth token-8' }, field: null, status: 403 }),
    fc.constantFrom('8', '99', '0').map((company_id) => ({ path: { company_id }, field: null, status: 403 })),
  )
}

const NO_TOKEN = [
  undefined,
  '',
  'OAuth',
  'token-7',
  'Bearer token-7',
  'OAuth key-7',
  'OAuth token-7 x',
  'OAuth __proto__',
]

function parameterSpoils({ name, in: place, required, schema }: Parameter): fc.Arbitrary<Spoil> {
  if (place === 'path')
    return fc.oneof(
      fc.constantFrom(...NO_IDS).map((text) => ({ path: { [name]: text }, field: name })),
      fc.constantFrom('%', '%zz', '%ff', '1%c3').map((text) => ({ path: { [name]: text }, field: null })),
    )
  const { type, minimum, maximum, minLength } = resolved(schema)
  const wrong = [
    ...(type === 'integer' ? [...NO_INTEGERS, ''] : []),
    ...(minimum === undefined ? [] : [String(minimum - 1)]),
    ...(maximum === undefined ? [] : [String(maximum + 1)]),
    ...(minLength === undefined ? [] : ['']),
    ...(name === 'page_token' ? NO_TOKENS : []),
  ].map((text) => [encoded(text)])
  return fc
    .constantFrom(...wrong, ['1', '1'], ...(required ? [[]] : []))
    .map((values) => ({ query: { name, values }, field: name }))
}

/** Text that is neither an int64 nor from 1 to 100. */
const NO_INTEGERS = [
  ' ',
  'x',
  '1.5',
  '1e1',
  '+1',
  '0x1',
  '00',
  '-0',
  '1n',
  '1,0',
  '٣',
  '１',
  'NaN',
  'null',
  '[1]',
  '9223372036854775808',
  '12345678901234567890',
  '-9223372036854775809',
  '1'.repeat(3_000),
]

/** Percent-encoded; `..` and slashes among them. */
export const NO_IDS = [
  ...NO_INTEGERS.map(encoded),
  '-1',
  '%2f',
  '..',
  '%2e%2e',
  '..%2f1',
  '%00',
  '1%3Areturn',
  '1:return',
]

const NO_TOKENS = ['', 'abc', '1', 'MS8x', '=']

function bodySpoils(schema: Schema): fc.Arbitrary<Spoil> {
  const fields = broken(schema).map(({ value, path }) => ({ body: jsonText(value), field: path && path.join('.') }))
  const texts = valid(schema).chain((value) => noJson(jsonText(value)))
  return fc.oneof(
    { weight: 5, arbitrary: fields },
    texts.map((body) => ({ body, field: null })),
    fc.constantFrom(...OTHER_TYPES).map((type) => ({ headers: { 'content-type': type }, field: null })),
    fc.constantFrom(undefined, '').map((body) => ({ body, field: '' })),
  )
}

const OTHER_TYPES = [
  undefined,
  '',
  'text/plain',
  'text/json',
  'application/jsonp',
  'multipart/form-data; boundary=x',
  ';',
]
const NOT_UTF8 = Buffer.from([0xff])

/** Damaged JSON text. */
function noJson(text: string): fc.Arbitrary<string | Buffer> {
  const bytes = Buffer.from(text)
  return fc.oneof(
    fc.nat(text.length - 2).map((length) => text.slice(0, length + 1)),
    fc.constantFrom('{', ']', ',', '\u0000', '//', 'null').map((garbage) => text + garbage),
    fc.nat(bytes.length).map((at) => Buffer.concat([bytes.subarray(0, at), NOT_UTF8, bytes.subarray(at)])),
    fc.constant(Buffer.from(text, 'utf16le')),
    fc.constant(`\ufeff${text}`),
  )
}
