import { randomBytes } from 'node:crypto'
import type { Sealed } from '../../protocols/kit/index.ts'

/** The content of a box, and the secret that opened it. */
interface OpenedBox {
  readonly content: Buffer
  readonly secret: string
}

/** Opens a box with one of several secrets. Resolves to undefined if none of them opens it. */
export async function openBox({ nonce, box }: Sealed, secrets: readonly string[]): Promise<OpenedBox | undefined> {
  // Loaded on first use, since most gateways never need it.
  const { secretbox } = await import('@noble/ciphers/salsa.js')
  // Always tries at least two secrets, so that the time does not tell which devices are configured.
  const tried = [...secrets, UNKNOWN_SECRET, UNKNOWN_SECRET].slice(0, Math.max(secrets.length, MOST_SECRETS))
  for (const secret of tried)
    try {
      return { content: Buffer.from(secretbox(keyOf(secret), nonce).open(box)), secret }
    } catch {
      // The library throws an Error for a wrong key and for a damaged box.
    }
  return undefined
}

/** Returns the secret padded with zeros to 32 bytes. A longer secret, which no app accepts, opens nothing. */
function keyOf(secret: string): Buffer {
  const bytes = Buffer.from(secret)
  if (bytes.length > KEY_BYTES) return keyOf(UNKNOWN_SECRET)
  return Buffer.concat([bytes, Buffer.alloc(KEY_BYTES - bytes.length)])
}

const KEY_BYTES = 32
/** A device has a secret, and its previous one. */
const MOST_SECRETS = 2

/** A secret that no device has: presented for a sender whose box no secret has opened. */
export const UNKNOWN_SECRET = randomBytes(24).toString('base64url')
