/** What frames of a type hold by the specifications. */
export type FrameKind =
  | { readonly holds: 'position' /** Bytes that precede it. */; readonly before: number }
  /** A position, or after the date (if there is one) what `why` says: it depends on the model. */
  | { readonly holds: 'either'; readonly why: string }
  | { readonly holds: 'none'; readonly why: string }

/** The kind of a type; `type` of a long frame is 79TT. Undefined where no specification is known that has it. */
export function kindOf(type: number, model = ''): FrameKind | undefined {
  const kind = KINDS.get(type)
  const before = kind?.holds === 'none' ? undefined : BEFORE_OF_MODEL.get(model)
  return before === undefined ? kind : { holds: 'position', before }
}

const position = (before = 0): FrameKind => ({ holds: 'position', before })
const either = (why: string): FrameKind => ({ holds: 'either', why })
const none = (why: string): FrameKind => ({ holds: 'none', why })

const KINDS: ReadonlyMap<number, FrameKind> = new Map([
  [0x08, none('heartbeat')],
  [0x10, position()],
  [0x11, either('cells')],
  [0x12, position()],
  [0x13, none('heartbeat')],
  [0x14, none('satellites')],
  [0x15, none('command answer')],
  [0x16, position()],
  [0x17, either('cells')],
  [0x18, either('cells')],
  [0x19, either('cells')],
  [0x1a, position()],
  [0x1e, position()],
  [0x21, none('command answer')],
  [0x22, position()],
  [0x23, none('heartbeat')],
  [0x24, either('cells')],
  [0x26, position()],
  [0x27, position()],
  [0x28, either('cells')],
  [0x2a, position()],
  [0x2c, either('wifi')],
  [0x2e, either('cells')],
  [0x31, position()],
  [0x32, position()],
  [0x34, position(4)],
  [0x61, position(8)],
  [0x81, none('command answer')],
  [0x8a, none('time')],
  [0x95, position()],
  [0xa0, position()],
  [0xa1, either('cells')],
  [0xa2, either('wifi')],
  [0xa3, position()],
  [0xa4, position()],
  [0xa5, either('cells')],
  [0x7921, none('command answer')],
  [0x7932, position()],
  [0x7970, position()],
  [0x798c, none('OBD')],
  [0x7994, none('status')],
  [0x799b, none('serial data')],
])

/** Models that put an id (and a kind, and the time of sending) before the position in every type; length of these. */
const BEFORE_OF_MODEL = new Map([
  ['QH302R', 8],
  ['XT40', 15],
])
