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
  // Without a secret it takes as long as with a wrong one, so that the time does not tell which devices are configured.
  for (const secret of secrets.length > 0 ? secrets : [UNKNOWN_SECRET]) {
    const key = keyOf(secret)
    try {
      if (key) return { content: Buffer.from(secretbox(key, nonce).open(box)), secret }
    } catch {
      // The library throws an Error for a wrong key and for a damaged box.
    }
  }
  return undefined
}

/** The secret and zeros up to 32 bytes; undefined of a longer one, which no app takes. */
function keyOf(secret: string): Buffer | undefined {
  const bytes = Buffer.from(secret)
  return bytes.length > KEY_BYTES ? undefined : Buffer.concat([bytes, Buffer.alloc(KEY_BYTES - bytes.length)])
}

const KEY_BYTES = 32

/** The secret of nobody: presented by a sender whose box no secret has opened. */
export const UNKNOWN_SECRET = randomBytes(24).toString('base64url')
