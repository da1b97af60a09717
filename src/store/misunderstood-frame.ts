import { StringDecoder } from 'node:string_decoder'
import type { DecodeReason, HttpRequest, Transport } from '../../protocols/kit/index.ts'
import type { FrameKind } from './kept-frames.ts'

/**
 * Why a frame is kept as it came. `not_read`, `entries`: its type holds positions, and none or not all of them could be
 * read. `unknown_type`: its type is not known. `guessed`: the protocol that it was read with is a guess. Other codes:
 * it is damaged and came over MQTT, where the client would send it again for ever.
 */
export type Doubt = 'not_read' | 'entries' | 'unknown_type' | 'guessed' | DecodeReason

/** A frame that was not understood, as it is kept in Redis (JSON): all that it takes to decode it again. */
export interface MisunderstoodFrame {
  /** When it arrived, ms UTC. */
  readonly at: number
  readonly device: string
  /** The company of its device then; absent: the device was not configured. */
  readonly company?: string
  /**
   * The other devices of a relay's frame that were accepted, with their companies then. Absent: it is no relay's, or a version
   * kept it that did not ask whether its fixes are accepted.
   */
  readonly others?: readonly (readonly [device: string, company: string])[]
  readonly protocol: string
  readonly isGuess?: true
  readonly transport: Transport
  readonly reason: Doubt
  readonly error?: string
  /** Base64; or the request. */
  readonly frame?: string
  readonly request?: Omit<HttpRequest, 'body'> & { readonly body: string }
  /** The frames that its conversation began with, base64: a login may say how later frames are to be read. */
  readonly opening?: readonly string[]
  /** The fixes that were read and stored: time, ms, latitude, longitude. */
  readonly fixes?: readonly FixMark[]
  readonly unreadable?: readonly number[]
  /**
   * Whether a secret was replaced by asterisks, or one that is a number by the digit 1; `short`: a secret so short that the
   * same characters may have been something else.
   */
  readonly masked?: 'secret' | 'short'
}

/** The kind that a frame is counted and bounded as, if it is kept for this reason. */
export function kindOf(doubt: Doubt): FrameKind {
  if (doubt === 'guessed') return doubt
  return doubt === 'not_read' || doubt === 'entries' ? 'position' : 'unknown'
}

/** What tells a fix of a frame from its others. */
type FixMark = readonly [time: number, latitude: number, longitude: number]

/** What a decoder takes of a kept frame. */
export function contentOf({ frame = '', request }: MisunderstoodFrame): Buffer | HttpRequest {
  return request ? { ...request, body: Buffer.from(request.body, 'base64') } : Buffer.from(frame, 'base64')
}

/** A request as bytes: its method, address and body. */
export function requestBytes({ method, uri, body }: HttpRequest): Buffer {
  return Buffer.concat([Buffer.from(`${method} ${uri}${body.length > 0 ? '\n\n' : ''}`), body])
}

/** The beginning of bytes: as text where they are, else as hexadecimal digits. */
export function shownBytes(bytes: Buffer, most: number): { readonly text: string } | { readonly hex: string } {
  const shown = bytes.subarray(0, most)
  // Leaves out the half of a character at the cut.
  const text = new StringDecoder().write(shown)
  return CONTROL.test(text) ? { hex: shown.toString('hex') } : { text }
}

/** Control characters, and the character that stands for bytes that are no UTF-8. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/
