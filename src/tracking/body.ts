import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ApiRefusal } from '../http/refusal.ts'
import { INT64_FIELDS } from './schemas.ts'

export const MAX_BODY_BYTES = 4 * 1024 * 1024
/** Of the positions of two hours: enough for ten vans on one route with two fixes a second each. */
export const MAX_POSITIONS_BYTES = 16 * 1024 * 1024

/**
 * Reads the body of a request. Reads and drops bytes after the limit, because a client that is still sending would otherwise
 * miss the answer. @throws ApiRefusal 422 if the body is too large or ends early
 */
export function readBody(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let chunks: Buffer[] = []
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= maxBytes) {
      chunks.push(chunk)
    } else {
      chunks = []
      reject(new ApiRefusal(422, `the body must be at most ${maxBytes} bytes`))
    }
  })
  request.on('end', () => resolve(Buffer.concat(chunks)))
  request.on('error', () => reject(new ApiRefusal(422, 'the body ended early')))
  return promise
}

/**
 * Returns the value of a JSON body, undefined for an empty one; integers of 16 and more digits in `INT64_FIELDS` are bigint.
 * @throws ApiRefusal 422 if the content type or the text is not JSON
 */
export function parseBody(bytes: Buffer, contentType?: string): unknown {
  if (bytes.length === 0) return undefined
  if (!isJson(contentType)) throw new ApiRefusal(422, 'the body must be sent as application/json')
  const text = jsonText(bytes)
  const marked = text.replaceAll(LONG_INTEGER, '$1"$2n"')
  const body = parseJson(marked)
  if (marked !== text) restoreIntegers(body)
  return body
}

/** Makes the marked integers of a body's objects bigint. */
function restoreIntegers(body: unknown): void {
  const list = Array.isArray(body) ? body : (body as { positions?: unknown } | null)?.positions
  if (!Array.isArray(list)) return
  for (const object of list as (Record<string, unknown> | null)[])
    for (const field of INT64_FIELDS) {
      const value = object?.[field]
      if (object && typeof value === 'string' && MARKED.test(value)) object[field] = BigInt(value.slice(0, -1))
    }
}

export function isJson(contentType = ''): boolean {
  return JSON_TYPE.test(contentType)
}

/** Returns the text of a JSON body. @throws ApiRefusal 422 if it is not UTF-8 or has a byte order mark */
export function jsonText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ApiRefusal(422, 'the body is not JSON: it is not UTF-8')
  const text = bytes.toString()
  if (!text.startsWith('\ufeff')) return text
  throw new ApiRefusal(422, 'the body is not JSON: it begins with a byte order mark, leave that out')
}

/**
 * Returns whether JSON has more lists and objects than positions have. Once parsed, each takes a hundred times its bytes, and
 * as much time.
 */
export function isDense(json: Buffer): boolean {
  let left = Math.max(100, json.length / LEAST_OBJECT_BYTES)
  for (const byte of json) if ((byte === BRACKET || byte === BRACE) && --left < 0) return true
  return false
}

/** Returns the value of JSON text. @throws ApiRefusal 422 if it is not JSON, without quoting the text, which may be secret */
export function parseJson(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1])
  } catch (error) {
    const reason = (error as Error).message.replace(QUOTATION, '')
    throw new ApiRefusal(422, `the body is not JSON: ${reason || 'no value that JSON knows'}`)
  }
}

/** Replaces a value of JSON; `source` is the text of a number. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** JSON in which a bigint is an integer with all of its digits. A field that is null is left out. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? JSON.rawJSON(String(field)) : (field ?? undefined),
  )
}

declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}

const BRACKET = 0x5b
const BRACE = 0x7b
/** Positions have fewer objects: the shortest one is two objects in 50 bytes. */
const LEAST_OBJECT_BYTES = 16
const NAMES = INT64_FIELDS.join('|')
const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i
// A member of a JSON object: inside a string its quotation marks would have backslashes. A reviver of JSON.parse gets the
// digits too, but takes seconds for a body of 4 MiB. An integer with more digits is beyond 64 bits.
const LONG_INTEGER = new RegExp(`((?<!\\\\)"(?:${NAMES})"\\s*:\\s*)(-?[1-9]\\d{15,18})(?![\\d.eE])`, 'g')
const MARKED = /^-?\d{16,19}n$/
// V8's messages: `Unexpected token 'x', ..."of the text"... is not valid JSON`, `"the text" is not valid JSON`.
const QUOTATION = /(?:^|, )(?:\.\.\.)?".*$/s
