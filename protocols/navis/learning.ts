import { type Session, sessionState } from '../kit/index.ts'

/** The records of a frame: how many follow its head; how long each is at least, at most, and was in an earlier array. */
interface LearnedRecords {
  readonly head: number
  readonly count: number
  readonly least: number
  readonly most: number
  readonly expected: number | undefined
}

/**
 * The length of a frame whose records have one length that is not known: it ends where CRC-8 fits, and where the numbers in
 * the first four bytes of its records follow one another. A single record is as long as those of an earlier array, or ends
 * with the first checksum that fits: perhaps too early, but the fields of a fix come first, and the rest is skipped.
 * 0: not yet; undefined: nowhere.
 */
export function learnedEnd(bytes: Buffer, records: LearnedRecords, session: Session): number | undefined {
  const { head, count, least, most } = records
  const progress = progressOf(session)
  if (progress.looked > bytes.length) reset(progress)
  for (; progress.looked < bytes.length; progress.looked++) {
    const at = progress.looked
    const length = (at - head) / count
    const fits = Number.isInteger(length) && length >= least && progress.crc === bytes[at]
    if (fits && isLength(bytes, length, records)) {
      reset(progress)
      return at + 1
    }
    if (length > most) {
      reset(progress)
      return undefined
    }
    progress.crc = next(progress.crc, bytes[at])
  }
  return 0
}

/** How far the bytes of an incomplete frame were looked at, and their checksum: each byte is looked at once. */
const progressOf = sessionState(() => ({ looked: 0, crc: 0xff }))

function reset(progress: { looked: number; crc: number }): void {
  progress.looked = 0
  progress.crc = 0xff
}

function isLength(bytes: Buffer, length: number, { head, count, expected = length }: LearnedRecords): boolean {
  if (count === 1) return length === expected
  const first = bytes.readUInt32LE(head)
  for (let i = 1; i < count; i++) if (bytes.readUInt32LE(head + i * length) !== first + i) return false
  return true
}

/** CRC-8 (31, FF) with one more byte. */
function next(crc: number, byte: number): number {
  let value = crc ^ byte
  for (let bit = 0; bit < 8; bit++) value = value & 0x80 ? ((value << 1) ^ 0x31) & 0xff : value << 1
  return value
}
