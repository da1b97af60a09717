/*
 * FLEX: which fields a record has is agreed on by a mask, the highest bit of the first byte for field 1.
 *
 *   1 number  2 event  3 time of the event  8 FFFFFFFF: bit 1: fixed, bits 7–2: satellites  9 time of the place, unix seconds
 *   10, 11 latitude, longitude, degrees × 600,000  12 altitude, 0.1 m  13 speed, km/h, float  14 heading
 *   71 HDOP × 10, PDOP × 10
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  dop,
  type Fix,
  heading,
  kmh,
  Marks,
  type Session,
  sessionState,
} from '../kit/index.ts'
import { learnedEnd } from './learning.ts'

/** Where the fields of a record are that a fix needs. */
interface FlexLayout {
  /** Bytes of the fields whose length is known: of the whole record, if `isWhole`. */
  readonly length: number
  readonly isWhole: boolean
  readonly offsets: ReadonlyMap<number, number>
}

/** `record`: how long the records of the last array were. */
const conversations = sessionState(() => ({
  layout: undefined as FlexLayout | undefined,
  record: undefined as number | undefined,
}))

export const layoutOf = (session: Session): FlexLayout | undefined => conversations(session).layout

export function noteLength(length: number, session: Session): void {
  conversations(session).record = length
}

/** Notes the fields that a device proposes, and accepts them. @throws DecodeError */
export function negotiated(r: ByteReader, session: Session): Buffer {
  const [protocol, version, structure, size] = [r.u8(), r.u8(), r.u8(), r.u8()]
  const conversation = conversations(session)
  conversation.layout = layout(r.slice(Math.ceil(size / 8)), size)
  conversation.record = undefined
  return new ByteWriter().ascii('*<FLEX').u8(protocol).u8(version).u8(structure).toBuffer()
}

function layout(mask: Buffer, size: number): FlexLayout {
  const offsets = new Map<number, number>()
  let length = 0
  let isWhole = true
  for (let field = 1; field <= size; field++) {
    if (!(mask[(field - 1) >> 3] & (0x80 >> ((field - 1) & 7)))) continue
    if (field > SIZES.length) isWhole = false
    else {
      offsets.set(field, length)
      length += SIZES[field - 1]
    }
  }
  if (length === 0) throw new DecodeError('malformed', 'the proposed records have no fields')
  return { length, isWhole, offsets }
}

const times = (count: number, size: number) => Array<number>(count).fill(size)

/** Bytes of the fields of FLEX 1.0 (1–69) and 2.0 (70–122). */
// biome-ignore format: in groups, as the specification has them
const SIZES: readonly number[] = [
  4, 2, 4, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 2, 4, 4, 2, 2, 2, 2,
  ...times(8, 2), 1, 1, 1, 1, 4, 4, 2, 2, 4,
  ...times(7, 2), ...times(8, 1),
  2, 4, 2, 1, 4, 2, 2, 2, 2, 2, 1, 1, 1, 2, 4, 2, 1,
  8, 2, 1, 16, 4, 2, 4, 37,
  ...times(6, 1), ...times(10, 3), 6, 12, 24, 48,
  1, 1, 1, 1, 4, 4, 1, 4, 2, 6, 2, 6, ...times(9, 2), 1, 2, 2, 2,
]

const FRAME = new Marks(['@NTC', '~', 0x7f])
const MAX_RECORD = 1024
const NOT_AGREED: FlexLayout = { length: 60, isWhole: false, offsets: new Map() }

/** Length of a FLEX frame, by the fields that were agreed on. */
export function flexFrame(bytes: Buffer, session: Session): number {
  const type = bytes[1]
  if (bytes.length < 3) return 0
  if (type === 0x45) return further(bytes, 3, bytes[2])
  if (type === 0x58) return bytes.length < 6 ? 0 : further(bytes, 6, 1)
  const head = type === 0x41 ? 3 : type === 0x54 ? 6 : type === 0x43 ? 2 : 0
  const { layout: fields = NOT_AGREED, record } = conversations(session)
  const count = type === 0x41 ? bytes[2] : 1
  if (head === 0 || count === 0) return -FRAME.next(bytes, 1)
  if (!fields.isWhole) {
    const records = { head, count, least: fields.length, most: MAX_RECORD, expected: record }
    return learnedEnd(bytes, records, session) ?? -FRAME.next(bytes, 1)
  }
  const end = head + count * fields.length + 1
  return bytes.length < end ? 0 : end
}

/** `~E` and `~X`: data of their own lengths, and a checksum. */
function further(bytes: Buffer, head: number, count: number): number {
  let end = head
  for (let i = 0; i < count; i++) {
    if (bytes.length < end + 2) return 0
    end += 2 + bytes.readUInt16LE(end)
  }
  return bytes.length < end + 1 ? 0 : end + 1
}

/** Undefined where the record has no place. */
export function flexFix(record: Buffer, { offsets }: FlexLayout): Fix | undefined {
  const field = (number: number) => {
    const offset = offsets.get(number)
    return offset === undefined ? undefined : new ByteReader(record).at(offset)
  }
  const time = (field(9) ?? field(3))?.u32le()
  const latitude = field(10)?.i32le()
  const longitude = field(11)?.i32le()
  if (time === undefined || latitude === undefined || longitude === undefined) return undefined
  const state = field(8)?.u8()
  const altitude = field(12)?.i32le()
  const speed = field(13)?.f32le()
  const hdop = field(71)?.u8()
  return {
    time: time * 1000,
    latitude: latitude / 600_000,
    longitude: longitude / 600_000,
    valid: state === undefined || (state & 2) !== 0,
    altitude: altitude === undefined ? undefined : altitude / 10,
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(field(14)?.u16le()),
    satellites: state === undefined ? undefined : state >> 2,
    hdop: hdop === undefined ? undefined : dop(hdop / 10),
  }
}
