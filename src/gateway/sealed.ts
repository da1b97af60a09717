import { randomBytes } from 'node:crypto'
import type { Sealed } from '../../protocols/kit/index.ts'

/** What a box holds, and the secret that has opened it. */
interface OpenedBox {
  readonly content: Buffer
  readonly secret: string
}

/** Opens a box with one of several secrets. Resolves to undefined if none of them opens it. */
export async function openBox({ nonce, box }: Sealed, secrets: readonly string[]): Promise<OpenedBox | undefined> {
  // Most gateways need none of it.
  const { secretbox } = await import('@noble/ciphers/salsa.js')
  // It takes as long without a secret as with two wrong ones, so that the time does not tell which devices are configured.
  const tried = [...secrets, UNKNOWN_SECRET, UNKNOWN_SECRET].slice(0, Math.max(secrets.length, MOST_SECRETS))
  for (const secret of tried)
    try {
      return { content: Buffer.from(secretbox(keyOf(secret), nonce).open(box)), secret }
    } catch {
      // The library throws an Error for a wrong key and for a damaged box.
    }
  return undefined
}

/** The secret and zeros up to 32 bytes. A longer one, which no app takes, opens nothing. */
function keyOf(secret: string): Buffer {
  const bytes = Buffer.from(secret)
  if (bytes.length > KEY_BYTES) return keyOf(UNKNOWN_SECRET)
  return Buffer.concat([bytes, Buffer.alloc(KEY_BYTES - bytes.length)])
}

const KEY_BYTES = 32
/** A device has a secret, and its previous one. */
const MOST_SECRETS = 2

/** The secret of nobody: presented by a sender whose box no secret has opened. */
export const UNKNOWN_SECRET = randomBytes(24).toString('base64url')
