/** What frames of a type hold by the specifications. */
export interface FrameKind {
  /** `either`: a position, or after the date (if there is one) what `why` says: it depends on the model. */
  readonly holds: 'position' | 'either' | 'none'
  readonly why?: string
  /** Bytes that precede a position. */
  readonly before?: number
}

/** The kind of a type; `type` of a long frame is 79TT. Undefined where no specification is known that has it. */
export function kindOf(type: number, model = ''): FrameKind | undefined {
  const kind = KINDS.get(type)
  const before = kind?.holds === 'none' ? undefined : BEFORE_OF_MODEL[model]
  return before === undefined ? kind : position(before)
}

const position = (before: number): FrameKind => ({ holds: 'position', before })

const TYPES: readonly (readonly [FrameKind, readonly number[]])[] = [
  [position(0), [0x10, 0x12, 0x16, 0x1a, 0x1e, 0x22, 0x26, 0x27, 0x2a, 0x31, 0x32, 0x95, 0xa0, 0xa4]],
  [position(0), [0x7932, 0x7933, 0x7970]],
  [position(4), [0x34]],
  [position(8), [0x61]],
  [{ holds: 'either', why: 'cells' }, [0x11, 0x17, 0x18, 0x19, 0x24, 0x28, 0x2e, 0xa1, 0xa5]],
  [{ holds: 'either', why: 'wifi' }, [0x2c, 0xa2]],
  // Of the LL301 (Concox), and of the D11 ("Dynamic IoT SP Protocol" V3, scribd.com/document/807634131).
  [{ holds: 'either', why: 'heartbeat' }, [0x36, 0xa3]],
  [{ holds: 'none', why: 'heartbeat' }, [0x08, 0x13, 0x23]],
  [{ holds: 'none', why: 'command answer' }, [0x15, 0x21, 0x81, 0x7921]],
  [{ holds: 'none', why: 'satellites' }, [0x14]],
  [{ holds: 'none', why: 'time' }, [0x8a]],
  [{ holds: 'none', why: 'OBD' }, [0x798c]],
  [{ holds: 'none', why: 'status' }, [0x7994]],
  [{ holds: 'none', why: 'serial data' }, [0x799b]],
]
const KINDS = new Map(TYPES.flatMap(([kind, types]) => types.map((type) => [type, kind] as const)))
/** Models that put an id (and a kind, and the time of sending) before the position in every type; length of these. */
const BEFORE_OF_MODEL: Readonly<Record<string, number | undefined>> = { QH302R: 8, XT40: 15 }
