import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ApiRefusal } from './refusal.ts'
import { INT64_FIELDS } from './schemas.ts'

/** Most bytes of a request body. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

/** How many levels of arrays and objects a large body may have. */
export const MAX_DEPTH = 100

/** Levels of smaller bodies are not counted: parsing takes at most 15 ms, and counting would add a quarter to that. */
export const UNCHECKED_BYTES = 256 * 1_024

/**
 * Reads the body of a request. Bytes after the limit are read and dropped, because a client that is still sending would
 * otherwise miss the answer. @throws ApiRefusal 422 where the body is too large or ends early
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
 * The value of a JSON body, undefined for an empty one; integers beyond 2^53 in `INT64_FIELDS` are bigint.
 * @throws ApiRefusal 422 where the content type or the text is not JSON
 */
export function parseBody(bytes: Buffer, contentType?: string): unknown {
  if (bytes.length === 0) return undefined
  if (!isJson(contentType)) throw new ApiRefusal(422, 'the body must be sent as application/json')
  const text = jsonText(bytes)
  const body = parseJson(text)
  restoreDigits(body, text)
  return body
}

/** Whether a content type is that of JSON. */
export function isJson(contentType = ''): boolean {
  return JSON_TYPE.test(contentType)
}

/** The text of a JSON body. @throws ApiRefusal 422 where it is not UTF-8, has a byte order mark or too many levels */
export function jsonText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ApiRefusal(422, 'the body is not JSON: it is not UTF-8')
  if (bytes.subarray(0, 3).equals(BYTE_ORDER_MARK))
    throw new ApiRefusal(422, 'the body is not JSON: it begins with a byte order mark, leave that out')
  if (isTooDeep(bytes)) throw new ApiRefusal(422, `the body is not JSON: it has more than ${MAX_DEPTH} levels`)
  return bytes.toString()
}

/** The value of JSON text. @throws ApiRefusal 422 where it is not JSON; the text, which may be secret, is not quoted */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = (error as Error).message.replace(QUOTATION, '')
    throw new ApiRefusal(422, `the body is not JSON: ${reason || 'no value that JSON knows'}`)
  }
}

/** Whether text has so many levels of brackets that parsing it would block the event loop: 4 MiB of them take half a second. */
function isTooDeep(json: Buffer): boolean {
  if (json.length <= UNCHECKED_BYTES) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at)
    else if ((byte | CASE) === OPEN && ++depth > MAX_DEPTH) return true
    else if ((byte | CASE) === CLOSE) depth--
  }
  return false
}

/** Where the JSON string ends that begins at a quotation mark. */
function endOfString(json: Buffer, begin: number): number {
  let at = begin + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

/** JSON in which a bigint is an integer with all of its digits. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? JSON.rawJSON(String(field)) : field,
  )
}

declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}

/** Replaces numbers that lost digits in parsing with bigints that have the digits of the text. */
function restoreDigits(body: unknown, text: string): void {
  const inexact = objectsOf(body).flatMap((object, index) =>
    INT64_FIELDS.filter((field) => isInexact(object?.[field])).map((field) => ({ object, index, field })),
  )
  if (inexact.length === 0) return
  const written = objectsOf(parseJson(text.replaceAll(LONG_INTEGER, '$1"$2"')))
  for (const { object, index, field } of inexact) {
    const digits = written[index]?.[field]
    if (object && typeof digits === 'string') object[field] = BigInt(digits)
  }
}

function isInexact(value: unknown): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value)
}

type BodyObject = Record<string, unknown> | null | undefined

/** The objects of a body that may have 64-bit integers. */
function objectsOf(body: unknown): readonly BodyObject[] {
  const list = Array.isArray(body) ? body : (body as { positions?: unknown } | null)?.positions
  return Array.isArray(list) ? (list as BodyObject[]) : []
}

function hex(letter: string): string {
  return letter.charCodeAt(0).toString(16)
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
// The letters of a name may be written as escapes.
const NAMES = INT64_FIELDS.map((field) => field.replaceAll(/./g, (letter) => `(?:${letter}|\\\\u00${hex(letter)})`))
// A member of a JSON object: inside a string its quotation marks would have backslashes. A reviver of JSON.parse gets the digits
// as well, but takes two seconds for a body of 4 MiB. An integer with more digits is beyond 64 bits.
const LONG_INTEGER = new RegExp(`((?<!\\\\)"(?:${NAMES.join('|')})"\\s*:\\s*)(-?\\d{16,19})(?![\\d.eE])`, 'gi')
// V8's messages: `Unexpected token 'x', ..."of the text"... is not valid JSON`, `"the text" is not valid JSON`.
const QUOTATION = /(?:^|, )(?:\.\.\.)?".*$/s
const QUOTE = 0x22
const BACKSLASH = 0x5c
/** ASCII brackets and braces differ in one bit. */
const CASE = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d
