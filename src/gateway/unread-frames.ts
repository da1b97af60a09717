import { hash } from 'node:crypto'
import type { HttpRequest } from '../../protocols/kit/index.ts'
import { requestBytes } from '../store/misunderstood-frame.ts'
import { RecentlyUsed } from './admit/flood.ts'

/**
 * Frames with a valid envelope and unreadable content that no checksum protects. In such a frame, damage and an unknown
 * layout look alike; but damage does not repeat, so a frame that comes again byte for byte is what its sender means.
 * Remembers hashes of the last 20,000 frames of this process, for two hours at most.
 */
export class UnreadFrames {
  readonly #seen = new RecentlyUsed<true>(MOST / 2, LASTS_MS / 2)

  /** Whether a frame of a device came before, and notes that it came. */
  hasCome(device: string | undefined, frame: Buffer | HttpRequest): boolean {
    const bytes = Buffer.isBuffer(frame) ? frame : requestBytes(frame)
    const key = `${device ?? ''} ${hash('sha1', bytes, 'base64')}`
    const hasCome = this.#seen.get(key) === true
    this.#seen.set(key, true, performance.now())
    return hasCome
  }
}

const MOST = 20_000
const LASTS_MS = 7_200_000
