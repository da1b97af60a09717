import { promisify } from 'node:util'
import { gunzip, inflate, inflateRaw } from 'node:zlib'

/** Why the body of a request cannot be decompressed. */
export type UnpackRefusal = 'content_encoding' | 'damaged_body' | 'frame_too_long'

/** The encodings that `decompressed` knows, for `Accept-Encoding`. */
export const ENCODINGS = 'gzip, deflate'

/** Resolves to the body of a request without its `Content-Encoding`; `most`: the most bytes of the result. Never rejects. */
export async function decompressed(body: Buffer, encoding = '', most: number): Promise<Buffer | UnpackRefusal> {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return body
  const unpack = name === 'deflate' ? deflated(body) : GZIP.has(name) ? unpackGzip : undefined
  if (!unpack) return 'content_encoding'
  try {
    return body.length === 0 ? body : await unpack(body, { maxOutputLength: most })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'frame_too_long' : 'damaged_body'
  }
}

/** RFC 9110, 8.4.1.2: `deflate` is the zlib format; some clients send the compressed data without its header. */
function deflated(body: Buffer): typeof unpackZlib {
  const hasHeader = body.length > 1 && (body[0] & 0x0f) === DEFLATE && body.readUInt16BE() % 31 === 0
  return hasHeader ? unpackZlib : unpackRaw
}

const unpackGzip = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)
const unpackZlib = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate)
const unpackRaw = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw)
/** RFC 9110, 8.4.1.3: `x-gzip` is equivalent to `gzip`. */
const GZIP: ReadonlySet<string> = new Set(['gzip', 'x-gzip'])
/** The compression method in the header of the zlib format. */
const DEFLATE = 8
