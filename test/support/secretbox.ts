import { randomBytes } from 'node:crypto'
import { secretbox } from '@noble/ciphers/salsa.js'

/** What an OwnTracks app with an encryption key sends in place of a payload. */
export function encrypted(payload: unknown, key: string): { readonly _type: 'encrypted'; readonly data: string } {
  const nonce = randomBytes(24)
  const padded = Buffer.concat([Buffer.from(key), Buffer.alloc(32)]).subarray(0, 32)
  const box = secretbox(padded, nonce).seal(Buffer.from(JSON.stringify(payload)))
  return { _type: 'encrypted', data: Buffer.concat([nonce, box]).toString('base64') }
}
