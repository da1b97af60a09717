import { hash, randomBytes } from 'node:crypto'
import { DecodeError, decodeFrame, type HttpRequest, type Message, type Sealed } from '../../protocols/kit/index.ts'
import { requestBytes } from '../store/misunderstood-frame.ts'
import type { Mappings } from './mappings.ts'
import type { Reading } from './outcome.ts'
import { RecentlyUsed } from './recently-used.ts'

/** A decoder may only throw DecodeError. Any other error is a fault of ours, the `cause` of the error: it harms no other frame. */
export function decode({ frame, session, protocol }: Reading): Message | DecodeError {
  try {
    return decodeFrame(protocol, frame, session)
  } catch (error) {
    return error instanceof DecodeError ? error : Object.assign(new DecodeError('malformed'), { cause: error })
  }
}

/** What a mapping reads of JSON in which its protocol may have missed a position; undefined: nothing. */
export function readByMapping(
  read: Message | DecodeError,
  reading: Reading,
  mappings: Pick<Mappings, 'read'>,
): ReturnType<Mappings['read']> {
  if (read instanceof DecodeError && read.code === 'checksum') return undefined
  if (!(read instanceof DecodeError) && (read.sealed || read.fixes?.length || read.none !== undefined)) return undefined
  return mappings.read(reading)
}

/** What the content of an encrypted frame says. */
export function readOpened({ read }: Sealed, content: Buffer, { session, protocol }: Reading): Message | DecodeError {
  return decode({ frame: content, session, protocol: { ...protocol, decode: read } })
}

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

/** The secret of nobody: presented by a sender whose box no secret has opened. */
export const UNKNOWN_SECRET = randomBytes(24).toString('base64url')

/**
 * Frames of a sound envelope whose content could not be read, and that no checksum protects. Damage and an unknown layout look alike
 * there, but damage does not come twice: what comes again byte for byte is what its sender means. It remembers the last 20,000 frames
 * of this process, for two hours at most, by their hashes.
 */
export class UnreadFrames {
  readonly #seen = new RecentlyUsed<true>(MOST_SEEN / 2, SEEN_FOR_MS / 2)

  /** Whether a frame of a device came before, and notes that it came. */
  hasCome(device: string | undefined, frame: Buffer | HttpRequest): boolean {
    const bytes = Buffer.isBuffer(frame) ? frame : requestBytes(frame)
    const key = `${device ?? ''} ${hash('sha1', bytes, 'base64')}`
    const hasCome = this.#seen.get(key) === true
    this.#seen.set(key, true, performance.now())
    return hasCome
  }
}

const MOST_SEEN = 20_000
const SEEN_FOR_MS = 7_200_000
const KEY_BYTES = 32
/** A device has a secret, and its previous one. */
const MOST_SECRETS = 2
