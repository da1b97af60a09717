import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { masked, type Reply } from '../../tracking/client.ts'

/**
 * An answer without the token, should a page about an error quote the request: in its headers and in its body, which is
 * left out where it is encoded and cannot be looked into. Answers of success are not looked at.
 */
export function withoutToken(reply: Reply, token: string): Reply {
  if (reply.status >= 200 && reply.status < 300) return reply
  // PHP writes `/` in JSON so.
  const mask = (text: string) => masked(text.replaceAll(token.replaceAll('/', '\\/'), '***'), token)
  const headers = mapValues(reply.headers, mask)
  const text = decoded(reply)
  const hidden = text && mask(text)
  if (hidden !== undefined && hidden === text) return { ...reply, headers }
  return { ...reply, headers: { ...headers, 'content-encoding': undefined }, body: Buffer.from(hidden ?? '', 'latin1') }
}

function mapValues(headers: Reply['headers'], map: (value: string) => string): Reply['headers'] {
  const entries = Object.entries(headers).map(([name, value = '']) => [
    name,
    Array.isArray(value) ? value.map(map) : map(value),
  ])
  return Object.fromEntries(entries) as Reply['headers']
}

/** The body, a byte a character; undefined where nobody can tell what it says. */
function decoded({ headers, body }: Reply): string | undefined {
  const encoding = headers['content-encoding']
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
