/*
 * VT200: an OBD tracker. No specification is known: inferred from frames. TCP, big-endian; numbers in packed decimals where
 * they are drawn as digits.
 *
 *   28 IIIIIIIIIIII KKKK LLLL content CC 29        (  )  and 3D in between are 3D and the byte XOR 3D
 *   content of 20xx     x xxxx DDMMYY hhmmss AAAAAAAA OOOOOOOOOf SS HH nn …     position
 *   content of 3089     i xxxx DDMMYY hhmmss [AAAAAAAA OOOOOOOOOf]   ignition i: 0 off, 1 on, then without a place
 *   content of 3088     summary of a trip          1088  heartbeat
 *
 *   I  device, 12 digits      A, O  ddmm.mmmm, dddmm.mmmm                S  km/h             n  satellites
 *   K  kind   L  length       f  bits: 1 fix, 2 north, 4 east           H  2 degrees        C  XOR from I to the content
 *
 * Nothing is answered. Hemispheres other than north and east are inferred from protocols that write angles in this way.
 */
import {
  ByteReader,
  digitsDegreesMinutes,
  escaped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Session,
  utcDmy,
  verified,
  xor,
} from '../kit/index.ts'

const wire = escaped({
  flag: 0x28,
  end: 0x29,
  escape: 0x3d,
  codes: new Map([
    [0x15, 0x28],
    [0x14, 0x29],
    [0x00, 0x3d],
  ]),
})

export default {
  name: 'vt200',
  devices: 'VT200',
  integrity: { checksum: 'XOR', covers: [1, -2] },
  escaping: { escape: wire.escape, codes: wire.codes },
  tcp: { port: 5143, frame: wire.frame },
  decode,
} satisfies Protocol

/** The high byte of kinds that hold positions. */
const POSITION = 0x20
const IGNITION = 0x3089
const TRIP = 0x3088
/** Bytes of a report of ignition without a place, behind its first one. */
const TIMED = 8
const HEARTBEAT = 0x1088
const VALID = 1
const NORTH = 2
const EAST = 4

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(wire.content(frame), { sum: xor, from: 0, width: 1 }, session))
  const device = r.bcd(6)
  const kind = r.u16()
  r.skip(2)
  if (kind >> 8 === POSITION) return { device, fixes: [{ ...placeOf(r.skip(3)), ...motionOf(r) }] }
  if (kind === IGNITION) {
    const says = { ignition: r.u8() !== 0 }
    if (r.left <= TIMED) return { device, none: 'no place', said: says }
    return { device, fixes: [{ ...placeOf(r.skip(2)), said: says }] }
  }
  if (kind === TRIP) return { device, none: 'trip' }
  if (kind === HEARTBEAT) return { device, none: 'heartbeat' }
  return { device }
}

function placeOf(r: ByteReader): Fix {
  const date = r.bcd(3)
  const time = utcDmy(date, r.bcd(3))
  const latitude = digitsDegreesMinutes(r.bcd(4), 2)
  const digits = r.hex(5)
  const longitude = digitsDegreesMinutes(digits.slice(0, 9), 3)
  const flags = Number.parseInt(digits[9], 16)
  return {
    time,
    latitude: flags & NORTH ? latitude : -latitude,
    longitude: flags & EAST ? longitude : -longitude,
    valid: (flags & VALID) !== 0,
  }
}

function motionOf(r: ByteReader): Partial<Fix> {
  return { speed: kmh(r.u8()), heading: heading(r.u8() * 2), satellites: r.u8() }
}
