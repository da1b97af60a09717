import { sameId } from '../domain/ids.ts'
import { deviceOf, type Position, timestampAt } from './record.ts'

/*
 * Delivered fixes of one device and hour, as they are kept: 14 bytes a fix.
 *
 *   12 bits second of the hour · 9 heading, degrees (360: not known) · 14 accuracy, m · 14 speed, cm/s (16383: not known)
 *   31 bits latitude + 90°, 1e-7 degrees · 32 longitude, signed, 1e-7 degrees
 *
 * An accuracy beyond 16,383 m is kept as this; a speed beyond 163 m/s as not known.
 */

/** The chunks of records that were delivered. */
export function chunksOf(records: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < records.length; ) {
    const first = at
    const hour = hourAt(records, first)
    let count = 0
    for (; at < records.length && count < MOST_IN_CHUNK; at += records[at], count++)
      if (hourAt(records, at) !== hour || !isSameDevice(records, first, at)) break
    chunks.push(packChunk(records.subarray(first, at), hour, count))
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

function packChunk(records: Buffer, hour: number, count: number): Buffer {
  const device = sameId(deviceOf(records))
  const idBytes = Buffer.byteLength(device)
  const chunk = Buffer.allocUnsafe(7 + idBytes + count * FIX_BYTES)
  chunk.writeUInt32BE(hour)
  chunk[4] = idBytes
  chunk.write(device, 5)
  chunk.writeUInt16BE(count * FIX_BYTES, 5 + idBytes)
  for (let from = 0, to = 7 + idBytes; from < records.length; from += records[from], to += FIX_BYTES) {
    const second = timestampAt(records, from) - hour * HOUR_S
    const accuracy = Math.min(records.readUInt16BE(from + 19), MOST_ACCURACY)
    const heading = Math.min(records.readUInt16BE(from + 21), NO_HEADING)
    const speed = Math.min(records.readUInt16BE(from + 23), NO_SPEED)
    chunk.writeUInt32BE(second * 2 ** 20 + (heading << 11) + (accuracy >> 3), to)
    chunk.writeUInt16BE(((accuracy & 7) << 13) + (speed >> 1), to + 4)
    chunk.writeUInt32BE((speed & 1) * 2 ** 31 + records.readInt32BE(from + 11) + LATITUDE_0, to + 6)
    chunk.writeInt32BE(records.readInt32BE(from + 15), to + 10)
  }
  return chunk
}

/** The fix at a position of a chunk. */
export function unpackFix(chunk: Buffer, at: number, hour: number): Position {
  const head = chunk.readUInt32BE(at)
  const middle = chunk.readUInt16BE(at + 4)
  const place = chunk.readUInt32BE(at + 6)
  const heading = (head >>> 11) & 0x1ff
  const speed = ((middle & 0x1fff) << 1) + (place >>> 31)
  return {
    timestamp: hour * HOUR_S + (head >>> 20),
    latitude: ((place & 0x7fffffff) - LATITUDE_0) / 1e7,
    longitude: chunk.readInt32BE(at + 10) / 1e7,
    accuracy: ((head & 0x7ff) << 3) + (middle >>> 13),
    heading: heading === NO_HEADING ? undefined : heading,
    speed: speed === NO_SPEED ? undefined : speed / 100,
  }
}

function hourAt(records: Buffer, at: number): number {
  return Math.floor(timestampAt(records, at) / HOUR_S)
}

function isSameDevice(records: Buffer, one: number, other: number): boolean {
  const length = records[one]
  return (
    one === other ||
    (records[other] === length &&
      records.compare(records, one + DEVICE, one + length, other + DEVICE, other + length) === 0)
  )
}

const HOUR_S = 3600
export const HOUR_MS = 3_600_000
export const FIX_BYTES = 14
/** Where a record has its device. */
const DEVICE = 25
const MOST_IN_CHUNK = 128
const NO_HEADING = 360
const NO_SPEED = 16_383
const MOST_ACCURACY = 16_383
const LATITUDE_0 = 900_000_000
