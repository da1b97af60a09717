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
export function readBody(request: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let chunks: Buffer[] = []
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= MAX_BODY_BYTES) {
      chunks.push(chunk)
    } else {
      chunks = []
      reject(new Refusal(422, `the body must be at most ${MAX_BODY_BYTES} bytes`))
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
export function parseBody(bytes: Buffer, contentType = ''): unknown {
  if (bytes.length === 0) return undefined
  if (!JSON_TYPE.test(contentType)) throw new Refusal(422, 'the body must be sent as application/json')
  try {
    if (!isUtf8(bytes)) throw new SyntaxError('it is not UTF-8')
    const text = bytes.toString()
    return LONG_INTEGER.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)
  } catch (error) {
    throw new Refusal(422, `the body is not JSON: ${(error as Error).message}`)
  }
}

function exactInteger(key: string, value: unknown, context?: { source?: string }): unknown {
  const inexact = typeof value === 'number' && INT64_FIELDS.includes(key) && !Number.isSafeInteger(value)
  return inexact && INTEGER.test(context?.source ?? '') ? BigInt(context?.source ?? '') : value
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i
const INTEGER = /^-?\d+$/
// Only a body that has one pays for a reviver.
const LONG_INTEGER = /:\s*-?\d{16}/
