import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { masked } from '../../tracking/client/answer.ts'
import { bodyOf, isSuccess, type Reply } from '../../tracking/client/exchange.ts'

/**
 * An answer without the token, should the service quote the request: in its headers, and in the body of an error, which is left
 * out where it is encoded and cannot be looked into. The body of a success is what was asked for, and is not looked at.
 */
export function withoutToken(reply: Reply, token: string): Reply {
  const mask = (text: string) => masked(text, token)
  const headers = mapValues(reply.headers, mask)
  if (isSuccess(reply.status)) return { ...reply, headers }
  const text = decoded(reply)
  const hidden = text && mask(text)
  if (hidden !== undefined && hidden === text) return { ...reply, headers }
  return {
    ...reply,
    headers: { ...headers, 'content-encoding': undefined },
    chunks: [Buffer.from(hidden ?? '', 'latin1')],
  }
}

function mapValues(headers: Reply['headers'], map: (value: string) => string): Reply['headers'] {
  const entries = Object.entries(headers).map(([name, value = '']) => [
    name,
    Array.isArray(value) ? value.map(map) : map(value),
  ])
  return Object.fromEntries(entries) as Reply['headers']
}

/** The body, a byte a character; undefined where nobody can tell what it says. */
function decoded(reply: Reply): string | undefined {
  const encoding = reply.headers['content-encoding']
  const body = bodyOf(reply)
  if (encoding === undefined || body.length === 0) return body.toString('latin1')
  const decode = DECODERS.get(String(encoding).toLowerCase())
  try {
    return decode?.(body, { maxOutputLength: MAX_DECODED_BYTES }).toString('latin1')
  } catch {
    return undefined
  }
}

const DECODERS = new Map<string, (body: Buffer, options: { maxOutputLength: number }) => Buffer>([
  ['identity', (body) => body],
  ['gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
])
const MAX_DECODED_BYTES = 1024 * 1024
