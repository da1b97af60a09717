/** A JSON value: an integer that may be beyond 2^53 is a bigint, text outside JSON is `Raw`. */
export type Json = null | boolean | number | bigint | string | Raw | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [field: string]: Json
}

export interface Raw {
  readonly [RAW]: string
}

const RAW = Symbol('raw')

/** Written unchanged into the text: `NaN`, `1e400`. */
export function raw(text: string): Raw {
  return { [RAW]: text }
}

/** The JSON text of a value, with all digits of its integers. */
export function jsonText(value: Json): string {
  if (typeof value === 'bigint') return String(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isRaw(value)) return value[RAW]
  if (Array.isArray(value)) return `[${value.map(jsonText).join()}]`
  return `{${Object.entries(value)
    .map(([field, each]) => `${JSON.stringify(field)}:${jsonText(each)}`)
    .join()}}`
}

/** The value of JSON text; every integer is a bigint. */
export function parseExactly(text: string): Json {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context?.source ?? '') : value,
  ) as Json
}

function isRaw(value: object): value is Raw {
  return RAW in value
}
