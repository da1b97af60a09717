import { StringDecoder } from 'node:string_decoder'
import type { DecodeReason, HttpRequest, Transport } from '../../protocols/kit/index.ts'
import type { FrameKind } from './kept-frames.ts'

/**
 * Why a frame is stored unchanged. `not_read`, `entries`: its type has positions, and none or only some could be read.
 * `unknown_type`: its type is not known. `guessed`: it was read with a guessed protocol. Other codes: it is damaged and came
 * over MQTT, where the client would send it again for ever.
 */
export type Doubt = 'not_read' | 'entries' | 'unknown_type' | 'guessed' | DecodeReason

/** A frame that was not understood, as stored in Redis (JSON), with everything that decoding it again needs. */
export interface MisunderstoodFrame {
  /** When it arrived, ms UTC. */
  readonly at: number
  readonly device: string
  /** The company of its device then; absent: the device was not configured. */
  readonly company?: string
  /**
   * The other devices of a relay's frame that were accepted, with their companies at that time. Absent: it is no relay's, or
   * it was kept by a version that did not check whether its fixes are accepted.
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
  /** The first frames of its conversation, base64: a login may determine how later frames are read. */
  readonly opening?: readonly string[]
  /** The fixes that were read and stored: time, ms, latitude, longitude. */
  readonly fixes?: readonly FixMark[]
  readonly unreadable?: readonly number[]
  /**
   * Whether a secret was replaced by asterisks, or a numeric one by the digit 1; `short`: a secret so short that the same
   * characters may have meant something else.
   */
  readonly masked?: 'secret' | 'short'
}

/** The kind that a frame is counted and bounded as, if it is kept for this reason. */
export function kindOf(doubt: Doubt): FrameKind {
  if (doubt === 'guessed') return doubt
  return doubt === 'not_read' || doubt === 'entries' ? 'position' : 'unknown'
}

/** Identifies a fix among those of a frame. */
type FixMark = readonly [time: number, latitude: number, longitude: number]

/** Returns the decoder's input from a stored frame. */
export function contentOf({ frame = '', request }: MisunderstoodFrame): Buffer | HttpRequest {
  return request ? { ...request, body: Buffer.from(request.body, 'base64') } : Buffer.from(frame, 'base64')
}

/** A request as bytes: its method, address and body. */
export function requestBytes({ method, uri, body }: HttpRequest): Buffer {
  return Buffer.concat([Buffer.from(`${method} ${uri}${body.length > 0 ? '\n\n' : ''}`), body])
}

/** Returns the beginning of bytes: as text if they are text, else as hexadecimal digits. */
export function shownBytes(bytes: Buffer, most: number): { readonly text: string } | { readonly hex: string } {
  const shown = bytes.subarray(0, most)
  // Leaves out the half of a character at the cut.
  const text = new StringDecoder().write(shown)
  return CONTROL.test(text) ? { hex: shown.toString('hex') } : { text }
}

/** Control characters, and the character that stands for bytes that are no UTF-8. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/
