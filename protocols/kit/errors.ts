/** Why a frame was refused: its integrity, its end, its content, or that its kind is none of the protocol's. */
export type DecodeReason = 'checksum' | 'truncated' | 'malformed' | 'unsupported'

/**
 * A frame that cannot be understood. Thrown by decoders and the kit's readers; caught once, where frames are ingested. It
 * has no stack trace, which costs several times as much as all the rest of a refusal: anybody may send frames to refuse.
 */
export class DecodeError extends Error {
  readonly code: DecodeReason

  constructor(code: DecodeReason, detail?: string) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(detail === undefined ? SENTENCES[code] : `${SENTENCES[code]}: ${detail}`)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'DecodeError'
    this.code = code
  }
}

const SENTENCES = {
  checksum: 'the checksum does not match',
  truncated: 'the frame ends too early',
  malformed: 'the frame is malformed',
  unsupported: 'this kind of frame is not understood',
} satisfies Record<DecodeReason, string>
