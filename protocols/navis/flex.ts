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
  crc,
  DecodeError,
  dop,
  type Fix,
  heading,
  Marks,
  type Session,
  sessionState,
} from '../kit/index.ts'

/** Where the fields of a record are that a fix needs. */
interface FlexLayout {
  /** Bytes of the fields whose length is known: of the whole record, if `isWhole`. */
  readonly length: number
  readonly isWhole: boolean
  readonly offsets: ReadonlyMap<number, number>
}

/** How far the bytes of an incomplete frame were looked at, and their checksum: each byte is looked at once. */
const UNLOOKED = { looked: 0, crc: 0xff }

/** `record`: how long the records of the last array were. */
const conversations = sessionState(() => ({
  layout: undefined as FlexLayout | undefined,
  record: undefined as number | undefined,
  ...UNLOOKED,
}))

export const layoutOf = (session: Session): FlexLayout | undefined => conversations(session).layout

export function noteLength(length: number, session: Session): void {
  conversations(session).record = length
}

/** Notes the fields that a device proposes, and accepts them. @throws DecodeError */
export function negotiated(r: ByteReader, session: Session): Buffer {
  const [protocol, version, structure, size] = r.slice(4)
  const mask = r.slice(Math.ceil(size / 8))
  const offsets = new Map<number, number>()
  let length = 0
  let isWhole = true
  for (let field = 0; field < size; field++) {
    if (!(mask[field >> 3] & (0x80 >> (field & 7)))) continue
    offsets.set(field + 1, length)
    length += SIZES[field] ?? 0
    isWhole &&= field < SIZES.length
  }
  if (length === 0) throw new DecodeError('malformed', 'the proposed records have no fields')
  Object.assign(conversations(session), { layout: { length, isWhole, offsets }, record: undefined })
  return new ByteWriter().ascii('*<FLEX').u8(protocol).u8(version).u8(structure).toBuffer()
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

/** Bytes before the first record, which an answer repeats. */
export const HEADS: Readonly<Record<string, number | undefined>> = { A: 3, C: 2, E: 3, T: 6, X: 6 }
const FRAME = new Marks(['@NTC', '~', 0x7f])
const MAX_RECORD = 1024

/** Length of a FLEX frame, by the fields that were agreed on. */
export function flexFrame(bytes: Buffer, session: Session): number {
  const type = String.fromCharCode(bytes[1])
  const head = HEADS[type] ?? 0
  const count = type === 'A' || type === 'E' ? bytes[2] : 1
  if (bytes.length < 3 || (type === 'X' && bytes.length < head)) return 0
  if (type === 'E' || type === 'X') return further(bytes, head, count)
  if (head === 0 || count === 0) return -FRAME.next(bytes, 1)
  const { length = 60, isWhole = false } = conversations(session).layout ?? {}
  if (!isWhole) return learnedEnd(bytes, { head, count, least: length }, session)
  const end = head + count * length + 1
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

/** Of a frame with records of unknown length: how many follow its head, and how long each is at least. */
interface UnknownRecords {
  readonly head: number
  readonly count: number
  readonly least: number
}

/**
 * Such a frame ends where CRC-8 fits, and where the numbers in the first four bytes of its records follow one another. A
 * single record is as long as those of an earlier array, or ends with the first checksum that fits: perhaps too early, but
 * the fields of a fix come first, and the rest is skipped.
 */
function learnedEnd(bytes: Buffer, records: UnknownRecords, session: Session): number {
  const state = conversations(session)
  if (state.looked > bytes.length) Object.assign(state, UNLOOKED)
  for (; state.looked < bytes.length; state.looked++) {
    const byte = bytes[state.looked]
    const length = (state.looked - records.head) / records.count
    const isEnd = length >= records.least && state.crc === byte && isLength(bytes, length, records, state.record)
    if (isEnd || length > MAX_RECORD) {
      const end = isEnd ? state.looked + 1 : -FRAME.next(bytes, 1)
      Object.assign(state, UNLOOKED)
      return end
    }
    state.crc = crcOfByte(Uint8Array.of(state.crc ^ byte))
  }
  return 0
}

/** CRC-8 (31, FF) with one more byte, which is combined with the last value. */
const crcOfByte = crc({ width: 8, polynomial: 0x31, initial: 0, reflected: false, xorOut: 0 })

function isLength(bytes: Buffer, length: number, { head, count }: UnknownRecords, expected = length): boolean {
  if (count === 1 || !Number.isInteger(length)) return length === expected
  const first = bytes.readUInt32LE(head)
  for (let i = 1; i < count; i++) if (bytes.readUInt32LE(head + i * length) !== first + i) return false
  return true
}

/** Undefined where the record has no place. */
export function flexFix(record: Buffer, { offsets }: FlexLayout): Fix | undefined {
  const r = new ByteReader(record)
  const read = (field: number, type: 'u8' | 'u16le' | 'u32le' | 'i32le' | 'f32le', divisor = 1) => {
    const offset = offsets.get(field)
    return offset === undefined ? undefined : r.at(offset)[type]() / divisor
  }
  const time = read(9, 'u32le') ?? read(3, 'u32le')
  const latitude = read(10, 'i32le', 600_000)
  const longitude = read(11, 'i32le', 600_000)
  if (time === undefined || latitude === undefined || longitude === undefined) return undefined
  const state = read(8, 'u8')
  return {
    time: time * 1000,
    latitude,
    longitude,
    valid: state === undefined || (state & 2) !== 0,
    altitude: read(12, 'i32le', 10),
    speed: read(13, 'f32le', 3.6),
    heading: heading(read(14, 'u16le')),
    satellites: state === undefined ? undefined : state >> 2,
    hdop: dop(read(71, 'u8', 10)),
  }
}
