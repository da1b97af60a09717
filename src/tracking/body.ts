import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Refusal } from './refusal.ts'
import { INT64_FIELDS } from './schemas.ts'

/** Most bytes of a request body. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

/**
 * The body of a request. What comes after the limit is read and dropped: a client that still sends would otherwise miss
 * the answer. @throws Refusal 422 where it is too large, or ends early.
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
      reject(new Refusal(422, `the body must be at most ${maxBytes} bytes`))
    }
  })
  request.on('end', () => resolve(Buffer.concat(chunks)))
  request.on('error', () => reject(new Refusal(422, 'the body ended early')))
  return promise
}

/**
 * What a body says, undefined where it is empty; integers beyond 2^53 in `INT64_FIELDS` as bigint.
 * @throws Refusal 422 where it is not declared as JSON, or no JSON.
 */
export function parseBody(bytes: Buffer, contentType?: string): unknown {
  if (bytes.length === 0) return undefined
  if (!isJson(contentType)) throw new Refusal(422, 'the body must be sent as application/json')
  const text = jsonText(bytes)
  return parseJson(text, LONG_INTEGER.test(text) ? exactInteger : undefined)
}

/** Whether a body is declared as JSON. */
export function isJson(contentType = ''): boolean {
  return JSON_TYPE.test(contentType)
}

/** The text of a body that is JSON. @throws Refusal 422 where it is not UTF-8, or marked as such. */
export function jsonText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Refusal(422, 'the body is not JSON: it is not UTF-8')
  if (bytes.subarray(0, 3).equals(BYTE_ORDER_MARK))
    throw new Refusal(422, 'the body is not JSON: it begins with a byte order mark, leave that out')
  return bytes.toString()
}

/** What JSON says. @throws Refusal 422 where it is none; what the parser stumbled over is not quoted: it may be a secret. */
export function parseJson(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver)
  } catch (error) {
    // Revivers work down into what is nested, on the stack.
    if (error instanceof RangeError) throw new Refusal(422, 'the body is nested too deeply')
    const reason = (error as Error).message.replace(QUOTATION, '')
    throw new Refusal(422, `the body is not JSON: ${reason || 'no value that JSON knows'}`)
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

function exactInteger(key: string, value: unknown, context?: { source?: string }): unknown {
  const inexact = typeof value === 'number' && INT64_FIELDS.includes(key) && !Number.isSafeInteger(value)
  return inexact && INTEGER.test(context?.source ?? '') ? BigInt(context?.source ?? '') : value
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const INTEGER = /^-?\d+$/
// Only a body that has one pays for a reviver.
const LONG_INTEGER = /:\s*-?\d{16}/
// Of V8: `Unexpected token 'x', ..."of the text"... is not valid JSON`, `"the text" is not valid JSON`.
const QUOTATION = /(?:^|, )(?:\.\.\.)?".*$/s
