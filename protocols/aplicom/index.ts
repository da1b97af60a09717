/*
 * Aplicom A1, A9, A11, Q series: "Aplicom D protocol" 2.0, S100300 rev. 6.1.0 (traccar.org/protocol/5049-aplicom), as
 * far as the frames show it. Big-endian. TCP, no answer.
 *
 *   KK VV I{3|7} LLLL [MMMMMM] content
 *
 *   K  44 'D': snapshot; 45, 46, 48: others, which are not read     V  bit 7: I is the IMEI (7 bytes); bit 6: M is there
 *   L  length of the content        M  which fields the content has; without it all that are drawn here are there
 *   content of D   ee F TTTTTTTT PPPPPPPP yyyyyyyy oooooooo s S m C …
 *
 *   M  bit 3: F, P, y, o; bit 4: s, S, m, C; with bits 6–12, 16 and 17 an altitude (metres) 29 bytes behind C: 8 more
 *      with bit 5, 4 more with bit 15. Without the bits 0, 1 and 2, which all frames have, it is not read.
 *   F  bit 7: fix     T, P  unix seconds of the report, of the position     y, o  1e-6 degrees
 *   s  satellites     S  km/h     m  highest speed     C  2°
 *
 * An id of three bytes is the end of an IMEI; it is the id, in decimal. The IMEI in text may stand in front of a stream.
 */
import { ByteReader, DecodeError, type Fix, heading, kmh, type Message, type Protocol } from '../kit/index.ts'

export default {
  name: 'aplicom',
  devices: 'Aplicom A1, A9, A11, Q',
  tcp: { port: 5049, frame: frameLength },
  decode,
} satisfies Protocol

const SNAPSHOT = 0x44
const KINDS = new Set([0x44, 0x45, 0x46, 0x48])
const HAS_IMEI = 0x80
const HAS_MASK = 0x40
const HEAD_FIELDS = 0x07
const HAS_PLACE = 0x08
const HAS_MOTION = 0x10
const HAS_ANALOG = 0x20
const HAS_MORE = 0x8000
/** Bits 6 to 12, 16 and 17. */
const BEFORE_ALTITUDE = 0x031fc0

function frameLength(bytes: Buffer): number {
  if (bytes.length < 2) return bytes.length === 0 || KINDS.has(bytes[0]) ? 0 : -1
  const version = bytes[1]
  // All versions have a low number, and none of the other bits.
  if (!KINDS.has(bytes[0]) || (version & 0x3f) === 0 || (version & 0x3f) > 3) return -1
  const at = 2 + idLength(version)
  if (bytes.length < at + 2) return 0
  const length = at + 2 + (version & HAS_MASK ? 3 : 0) + bytes.readUInt16BE(at)
  return bytes.length < length ? 0 : length
}

function idLength(version: number): number {
  return version & HAS_IMEI ? 7 : 3
}

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const kind = r.u8()
  if (!KINDS.has(kind)) throw new DecodeError('unsupported')
  const version = r.u8()
  const device = String(version & HAS_IMEI ? r.u24() * 2 ** 32 + r.u32() : r.u24())
  r.skip(2)
  const mask = version & HAS_MASK ? r.u24() : HEAD_FIELDS | HAS_PLACE | HAS_MOTION
  if (kind !== SNAPSHOT) return { device }
  if ((mask & HEAD_FIELDS) !== HEAD_FIELDS) return { device, fixes: [] }
  if ((mask & HAS_PLACE) === 0) return { device, none: 'no place' }
  return { device, fixes: [fixOf(r.skip(2), mask)] }
}

function fixOf(r: ByteReader, mask: number): Fix {
  const valid = (r.u8() & 0x80) !== 0
  const time = r.skip(4).u32() * 1000
  const fix: Fix = { time, latitude: r.i32() / 1e6, longitude: r.i32() / 1e6, valid }
  if ((mask & HAS_MOTION) === 0) return fix
  const satellites = r.u8()
  const speed = kmh(r.u8())
  const course = heading(r.skip(1).u8() * 2)
  return { ...fix, satellites, speed, heading: course, altitude: altitudeOf(r, mask) }
}

/** Undefined unless the fields that are known to stand in front of it are all there. */
function altitudeOf(r: ByteReader, mask: number): number | undefined {
  if ((mask & BEFORE_ALTITUDE) !== BEFORE_ALTITUDE) return undefined
  const offset = 29 + (mask & HAS_ANALOG ? 8 : 0) + (mask & HAS_MORE ? 4 : 0)
  return r.left < offset + 2 ? undefined : r.skip(offset).i16()
}
