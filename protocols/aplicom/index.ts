/*
 * Aplicom A1, A9, A11, Q series: "Aplicom D protocol" 2.0, S100300 rev. 6.1.0 (traccar.org/protocol/5049-aplicom), as
 * far as the frames show it. Big-endian. TCP, no answer.
 *
 *   KK VV I{3|7} LLLL [MMMMMM] content
 *
 *   K  44 'D': snapshot; 45, 46, 48: others, which are not read     V  bit 7: I is the IMEI (7 bytes); bit 6: M is there
 *   L  length of the content        M  which fields the content has
 *   content of D   ee [F] TTTTTTTT [PPPPPPPP yyyyyyyy oooooooo s] [S m C] …
 *
 *   M  bit 3: F, P, y, o, s; bit 4: S, m, C. Then in this order, 2 bytes where nothing else is said: bit 6 inputs (1); bit 5 four
 *      analogue inputs (8); bit 15 power from outside and battery, mV (4); bits 16 and 17 pulses (12); bits 7 and 8 trips (4 each);
 *      bit 6 outputs (1); bit 9 driver's card (6); bit 10 keypad (1); bit 11 altitude, m. Without M: bits 0–7 and 9.
 *      Without the bits 0, 1 and 2, which all frames have, it is not read. That 5 comes before 15 is assumed.
 *   F  bit 7: fix     T, P  unix seconds of the report, of the position     y, o  1e-6 degrees
 *   s  satellites     S  km/h     m  highest speed     C  2°
 *
 * An id of three bytes is the end of an IMEI; it is the id, in decimal. The IMEI in text may stand in front of a stream.
 */
import {
  ByteReader,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  said,
} from '../kit/index.ts'

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
const [ANALOG, INPUTS, TRIP_1, TRIP_2, CARD, KEYPAD, ALTITUDE] = [0x20, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800]
const [POWER, PULSE_1, PULSE_2] = [0x8000, 0x10000, 0x20000]
const PULSES = PULSE_1 | PULSE_2
/** The fields of content without a mask. */
const ALL_DRAWN = HEAD_FIELDS | HAS_PLACE | HAS_MOTION | ANALOG | INPUTS | TRIP_1 | CARD
/** Bytes of the time alone of content without a place, and of the motion. */
const [NO_PLACE, MOTION] = [4, 3]

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
  const mask = version & HAS_MASK ? r.u24() : ALL_DRAWN
  if (kind !== SNAPSHOT) return { device }
  if ((mask & HEAD_FIELDS) !== HEAD_FIELDS) return { device, fixes: [] }
  return enveloped({ device }, () => snapshot(r.skip(2), mask))
}

function snapshot(r: ByteReader, mask: number): Message {
  if ((mask & HAS_PLACE) === 0) {
    r.skip(NO_PLACE + (mask & HAS_MOTION ? MOTION : 0))
    return { none: 'no place', said: besideOf(r, mask).said }
  }
  const valid = (r.u8() & 0x80) !== 0
  const time = r.skip(4).u32() * 1000
  const latitude = r.i32() / 1e6
  const longitude = r.i32() / 1e6
  const satellites = r.u8()
  const speed = mask & HAS_MOTION ? kmh(r.u8()) : undefined
  const course = mask & HAS_MOTION ? heading(r.skip(1).u8() * 2) : undefined
  const { altitude, said: told } = besideOf(r, mask)
  return { fixes: [{ time, latitude, longitude, valid, satellites, speed, heading: course, altitude, said: told }] }
}

/** What follows the motion, up to the altitude; nothing if the frame ends before, or one of the two fields of pulses is missing. */
function besideOf(r: ByteReader, mask: number): Pick<Fix, 'altitude' | 'said'> {
  const before = (mask & INPUTS ? 1 : 0) + (mask & ANALOG ? 8 : 0)
  const trips = (mask & TRIP_1 ? 4 : 0) + (mask & TRIP_2 ? 4 : 0)
  const between = (mask & PULSES ? 12 : 0) + trips + (mask & INPUTS ? 1 : 0)
  const behind = (mask & CARD ? 6 : 0) + (mask & KEYPAD ? 1 : 0) + (mask & ALTITUDE ? 2 : 0)
  const length = before + (mask & POWER ? 4 : 0) + between + behind
  if (r.left < length || (mask & PULSES) === PULSE_1 || (mask & PULSES) === PULSE_2) return NOTHING
  r.skip(before)
  const external_voltage = mask & POWER ? r.u16() / 1000 : undefined
  const battery_voltage = mask & POWER ? r.u16() / 1000 : undefined
  r.skip(between)
  const card = mask & CARD ? r.skip(2).u32() : 0
  r.skip(mask & KEYPAD ? 1 : 0)
  const altitude = mask & ALTITUDE ? r.i16() : undefined
  const driver = card === 0 ? undefined : String(card).padStart(10, '0')
  return { altitude, said: said({ external_voltage, battery_voltage, driver }) }
}

const NOTHING = {}
