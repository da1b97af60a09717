/*
 * FLEX: which fields a record has is agreed on by a mask, the highest bit of the first byte for field 1.
 *
 *   1 number  2 event  3 time of the event  8 FFFFFFFF: bit 1: fixed, bits 7–2: satellites  9 time of the place, unix seconds
 *   10, 11 latitude, longitude, degrees × 600,000  12 altitude, 0.1 m  13 speed, km/h, float  14 heading
 *   19, 20 main and reserve power, mV  71 HDOP × 10, PDOP × 10
 */
import {
  ByteReader,
  crc8Egts,
  DecodeError,
  dop,
  heading,
  Marks,
  type Session,
  type Stream,
  said,
  sessionState,
} from '../kit/index.ts'

/** How far the bytes of an incomplete frame were looked at, and their checksum: each byte is looked at once. */
const UNLOOKED = { looked: 0, crc: 0xff }

/** What is known of the records of a connection. */
export const conversations = sessionState(() => ({
  /** Where their fields are, by number; undefined until a device proposes them. */
  offsets: undefined as ReadonlyMap<number, number> | undefined,
  /** Bytes of the fields whose length is known: of the whole record, if `isWhole`. */
  length: 60,
  isWhole: false,
  /** How long the records of the last array were. */
  last: undefined as number | undefined,
  ...UNLOOKED,
}))

/** Notes the fields that a device proposes, and accepts them. @throws DecodeError */
export function negotiated(r: ByteReader, session: Session): Buffer {
  const [agreed, size] = [r.slice(3), r.u8()]
  const mask = r.slice(Math.ceil(size / 8))
  const offsets = new Map<number, number>()
  let length = 0
  for (let field = 0; field < size; field++) {
    if (!(mask[field >> 3] & (0x80 >> (field & 7)))) continue
    offsets.set(field + 1, length)
    length += SIZES[field] ?? 0
  }
  if (length === 0) throw new DecodeError('malformed', 'the proposed records have no fields')
  const isWhole = offsets.keys().every((field) => field <= SIZES.length)
  Object.assign(conversations(session), { offsets, length, isWhole, last: undefined })
  return Buffer.concat([Buffer.from('*<FLEX'), agreed])
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
export function flexFrame(bytes: Buffer, stream: Stream): number {
  const type = String.fromCharCode(bytes[1])
  const head = HEADS[type] ?? 0
  const count = type === 'A' || type === 'E' ? bytes[2] : 1
  if (bytes.length < 3 || (type === 'X' && bytes.length < head)) return 0
  if (type === 'E' || type === 'X') return further(bytes, head, count)
  if (head === 0 || count === 0) return -FRAME.next(bytes, 1)
  const { length, isWhole } = conversations(stream)
  if (!isWhole) return learnedEnd(bytes, { head, count }, stream)
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

/**
 * A frame with records of unknown length ends where CRC-8 fits, and where the numbers in the first four bytes of its records
 * follow one another. A single record is as long as those of an earlier array, or ends with the first checksum that fits:
 * perhaps too early, but the fields of a fix come first, and the rest is skipped.
 */
function learnedEnd(bytes: Buffer, { head, count }: Record<'head' | 'count', number>, stream: Stream): number {
  const state = conversations(stream)
  if (state.looked > bytes.length) Object.assign(state, UNLOOKED)
  for (; state.looked < bytes.length; state.looked++) {
    const byte = bytes[state.looked]
    const length = (state.looked - head) / count
    const fits = length >= state.length && state.crc === byte
    const isEnd = fits && (count > 1 ? isStep(bytes.subarray(head), length, count) : length === (state.last ?? length))
    if (isEnd || length > MAX_RECORD) {
      const end = isEnd ? state.looked + 1 : -FRAME.next(bytes, 1)
      Object.assign(state, UNLOOKED)
      return end
    }
    state.crc = CRC_OF_BYTE[state.crc ^ byte]
  }
  return 0
}

/** CRC-8 (31, FF), whose first value is FF, with one more byte: by that byte combined with the last value. */
const CRC_OF_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => crc8Egts(Uint8Array.of(byte ^ 0xff)))

/** Whether the numbers of records of a length follow one another. */
function isStep(records: Buffer, length: number, count: number): boolean {
  const follows = (i: number) => records.readUInt32LE(i * length) === records.readUInt32LE() + i
  return Number.isInteger(length) && length > 3 && Array.from({ length: count }, (_, i) => follows(i)).every(Boolean)
}

/** Undefined where the record has no place. */
export function flexFix(record: Buffer, offsets: ReadonlyMap<number, number>) {
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
  const moved = { altitude: read(12, 'i32le', 10), speed: read(13, 'f32le', 3.6), heading: heading(read(14, 'u16le')) }
  const quality = { satellites: state === undefined ? undefined : state >> 2, hdop: dop(read(71, 'u8', 10)) }
  const power = { external_voltage: read(19, 'u16le', 1000), battery_voltage: read(20, 'u16le', 1000) }
  const fix = { time: time * 1000, latitude, longitude, valid: ((state ?? 2) & 2) !== 0 }
  return { ...fix, ...moved, ...quality, said: said(power) }
}
