import * as fc from 'fast-check'
import { resolved, type Schema } from './document.ts'
import { type Json, type JsonObject, jsonText, raw } from './json.ts'

/** A value that breaks its schema in one place; `path` is null if the text is no JSON. */
export interface Broken {
  readonly value: Json
  readonly path: readonly string[] | null
}

type Type = NonNullable<Schema['type']>

/** Valid values of a schema, with unknown fields and with the ends of its ranges. */
export function valid(schema: Schema): fc.Arbitrary<Json> {
  const { type, ...rest } = resolved(schema)
  return VALID[type as Type](rest)
}

/** Values of a schema with one mistake. */
export function broken(schema: Schema): fc.Arbitrary<Broken> {
  const { type, ...rest } = resolved(schema)
  return fc.oneof(fc.constantFrom(...WRONG_TYPES[type as Type]).map(whole), ...MISTAKES[type as Type](rest))
}

const VALID: Readonly<Record<Type, (schema: Schema) => fc.Arbitrary<Json>>> = {
  object: ({ properties = {}, required = [] }) =>
    fc
      .tuple(fc.record(mapValues(properties, valid), { requiredKeys: [...required] }), UNKNOWN_FIELDS)
      .map(([known, unknown]) => ({ ...unknown, ...known })),
  array: ({ items = {}, minItems = 0, maxItems = 5 }) =>
    fc.array(valid(items), { minLength: minItems, maxLength: Math.min(maxItems, 5) }),
  string: ({ pattern, minLength = 0, maxLength }) =>
    pattern === undefined ? textOf(minLength, maxLength) : fc.stringMatching(new RegExp(pattern)),
  integer: (schema) => {
    const [min, max] = boundsOf(schema)
    const ends = [min, min + 1n, 2n ** 53n + 1n, max - 1n, max].filter((n) => n >= min && n <= max)
    const low = min < 0n ? 0n : min
    return fc.oneof(fc.bigInt(min, max), fc.bigInt(low, max < low + 99n ? max : low + 99n), fc.constantFrom(...ends))
  },
  number: ({ minimum, maximum }) => fc.double({ min: minimum, max: maximum, noNaN: true, noDefaultInfinity: true }),
}

const MISTAKES: Readonly<Record<Type, (schema: Schema) => fc.Arbitrary<Broken>[]>> = {
  object: (schema) => [
    ...(schema.required ?? []).map((field) => objectOf(schema).map((object) => without(object, field))),
    ...Object.entries(schema.properties ?? {}).map(([field, property]) =>
      fc.tuple(objectOf(schema), broken(property)).map(([object, { value, path }]) => ({
        value: { ...object, [field]: value },
        path: path && [field, ...path],
      })),
    ),
  ],
  array: ({ items = {}, minItems = 0, maxItems = Infinity }) => [
    ...(minItems > 0 ? [fc.constant(whole([]))] : []),
    ...(maxItems < Infinity ? [small(valid(items)).map((item) => whole(Array<Json>(maxItems + 1).fill(item)))] : []),
    fc.tuple(fc.array(valid(items), { maxLength: 3 }), broken(items)).map(([before, { value, path }]) => ({
      value: [...before, value],
      path: path && [String(before.length), ...path],
    })),
  ],
  string: ({ pattern, minLength = 0, maxLength = Infinity }) => [
    fc.constantFrom('\ud800', 'a\udfff', '\udc00\ud800').map(whole),
    ...(minLength > 0 ? [fc.constant(whole(''))] : []),
    ...(maxLength < Infinity ? [textOf(maxLength + 1, maxLength + 1).map(whole)] : []),
    ...(pattern === undefined ? [] : [notMatching(new RegExp(pattern)).map(whole)]),
  ],
  integer: (schema) => {
    const [min, max] = boundsOf(schema)
    const beyond = [min - 1n, max + 1n, 2n ** 64n, 12345678901234567890n, -(2n ** 63n) - 1n]
    return [fc.constantFrom<Json>(...beyond, 1.5, raw('1e400'), raw('1e-1')).map(whole), NO_JSON]
  },
  number: ({ minimum, maximum }) => {
    const beyond = [...(minimum === undefined ? [] : [minimum - 1e-9]), ...(maximum === undefined ? [] : [maximum + 1])]
    return [fc.constantFrom<Json>(...beyond, raw('1e400'), raw('-1e400')).map(whole), NO_JSON]
  },
}

/** By type: values of every other type. */
const WRONG_TYPES: Readonly<Record<Type, readonly Json[]>> = {
  object: [null, true, 5, 'text', []],
  array: [null, false, 5, 'text', {}],
  string: [null, true, 5, 2n ** 63n, [], {}, ['text']],
  integer: [null, true, '5', '', [], {}, [5]],
  number: [null, true, '5', '', [], {}, [5]],
}

const NO_JSON = fc
  .constantFrom('NaN', 'Infinity', '-', '01', '1.', '.5', '0x10', '1_000', 'undefined', "'5'")
  .map((text) => ({ value: raw(text), path: null }))

/** Field names, dangerous ones like `__proto__` included. */
const UNKNOWN_FIELDS = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  fc.dictionary(
    fc.oneof(
      fc.string().map((name) => `x-${name}`),
      fc.constantFrom('__proto__', 'constructor', 'toString', ''),
    ),
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    { maxKeys: 3 },
  ),
)

/** Short enough that a thousand of them fit into a body. */
function small(values: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return values.filter((value) => jsonText(value).length < 1_000)
}

function objectOf(schema: Schema): fc.Arbitrary<JsonObject> {
  return VALID.object(schema) as fc.Arbitrary<JsonObject>
}

function without(object: JsonObject, field: string): Broken {
  const { [field]: _, ...value } = object
  return { value, path: [field] }
}

function whole(value: Json): Broken {
  return { value, path: [] }
}

/** Text of any code points except surrogates; sometimes as long as allowed. */
function textOf(minLength: number, maxLength?: number): fc.Arbitrary<string> {
  const some = fc.string({ unit: 'binary', minLength, ...(maxLength !== undefined && { maxLength }) })
  if (maxLength === undefined) return some
  return fc.oneof({ weight: 4, arbitrary: some }, fc.string({ unit: 'binary', minLength: maxLength, maxLength }))
}

function notMatching(pattern: RegExp): fc.Arbitrary<string> {
  return fc
    .oneof(fc.constantFrom('', ' 1', '1\n', '-1', '+1', '1e3', '01', '1.', '1.23456', '٣'), fc.string())
    .filter((text) => !pattern.test(text))
}

/** The least and the greatest integer of a schema; a bound that JSON cannot write exactly is that of its format. */
function boundsOf({ format, minimum, maximum }: Schema): [bigint, bigint] {
  const [least, greatest] = format === 'int64' ? INT64 : SAFE
  return [minimum === undefined ? least : BigInt(minimum), maximum === undefined ? greatest : BigInt(maximum)]
}

const INT64 = [-(2n ** 63n), 2n ** 63n - 1n] as const
const SAFE = [BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER)] as const

function mapValues<A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
