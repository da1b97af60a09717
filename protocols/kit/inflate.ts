import { inflateSync } from 'node:zlib'
import { DecodeError } from './errors.ts'

/** What zlib-compressed bytes hold, at most `limit` bytes. @throws DecodeError `malformed`. */
export function inflate(bytes: Buffer, limit: number): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength: limit })
  } catch {
    throw new DecodeError('malformed', `it is not ${limit} bytes or less compressed with zlib`)
  }
}
