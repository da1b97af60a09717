/*
 * Huasheng HS3000G and OBD trackers: no specification is known, inferred from frames. Big-endian. TCP.
 *
 *   C0 vvvv LLLL TTTT kkkk NNNNNNNN content C0       DB DC stands for C0, DB DD for DB
 *
 *   T = AA00: F{4} YYMMDDhhmmss (text) oooooooo yyyyyyyy SSSS CCCC HHHH x{2} (tag{2} length{2} value)…       position
 *   T = AA02: (tag length value)…                                                                         login
 *
 *   L  length of all but the flags    k  0 in all frames      N  serial number       F  bit 31: fix
 *   o, y  1e-5 degrees                S  km/h (assumed)       C  degrees             H  metres
 *   tag 0003 of AA02: the IMEI; tag 0005 of AA00: signal, HDOP; a length counts its tag and itself
 *   tag 0001 of AA00: x{10} external power (0.01 V) …     F bit 30: ignition
 *
 * Answers: FF01 to AA00, FF03 to AA02: C0 0100 000C|000D TTTT 0000 NNNNNNNN [00] C0; so FF and one more than its type to others.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  dop,
  enveloped,
  escaped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Said,
  said,
  tlv,
  utcYmd,
} from '../kit/index.ts'

const escaping = escaped({
  flag: 0xc0,
  escape: 0xdb,
  codes: new Map([
    [0xdc, 0xc0],
    [0xdd, 0xdb],
  ]),
})

export default {
  name: 'huasheng',
  devices: 'Huasheng HS3000G and OBD trackers',
  acknowledges: 'fixes',
  integrity: { none: 'its field is 0 in all frames' },
  escaping,
  tcp: { port: 5111, frame: escaping.frame },
  decode,
} satisfies Protocol

/** High bytes of types that are answered, and of their answers. */
const [ANSWERED, ANSWERS] = [0xaa, 0xff00]
const POSITION = 0xaa00
const LOGIN = 0xaa02
const HAS_FIX = 0x8000_0000
const ID = 0x0003
const SIGNAL = 0x0005
const OBD = 0x0001
const IGNITION = 0x4000_0000
/** Bytes of an OBD value in front of the external power. */
const BEFORE_POWER = 10
const UNKNOWN = 0xffff

function decode(frame: Buffer): Message {
  const r = new ByteReader(escaping.content(frame))
  const type = r.skip(4).u16()
  const serial = r.skip(2).u32()
  if (type >> 8 !== ANSWERED) return {}
  const reply = answer(ANSWERS | ((type + 1) & 0xff), serial, type === LOGIN ? [0] : [])
  if (type === POSITION) return enveloped({ reply }, () => positionOf(r))
  return type === LOGIN ? enveloped({ reply }, () => ({ device: idOf(r), none: 'login' })) : { reply }
}

const LAYOUT = { tag: 2, length: 2, counted: 4 } as const

function idOf(r: ByteReader): string {
  for (const { tag, value } of tlv(r, LAYOUT)) if (tag === ID) return value.ascii(value.left)
  throw new DecodeError('malformed', 'the login has no id')
}

function positionOf(r: ByteReader): Message {
  const flags = r.u32()
  const digits = r.ascii(12)
  // A clock that was never set: the date is YYYYMMDDhhmm.
  const says: Said = { ignition: (flags & IGNITION) !== 0 }
  if (Number(digits.slice(2, 4)) > 12) return { none: 'no date', said: says }
  const fix: Fix = {
    time: utcYmd(digits),
    longitude: r.i32() / 1e5,
    latitude: r.i32() / 1e5,
    valid: (flags & HAS_FIX) !== 0,
    speed: kmh(r.u16()),
    heading: heading(r.u16()),
    altitude: r.i16(),
    hdop: undefined,
    said: undefined,
  }
  for (const { tag, value } of tlv(r.skip(2), LAYOUT)) {
    if (tag === SIGNAL && value.left > 1) fix.hdop = dop(value.skip(1).u8())
    if (tag === OBD && value.left >= BEFORE_POWER + 2) says.external_voltage = power(value.skip(BEFORE_POWER).u16())
  }
  fix.said = said(says)
  return { fixes: [fix] }
}

const power = (value: number) => (value === UNKNOWN ? undefined : value / 100)

function answer(type: number, serial: number, rest: readonly number[] = []): Buffer {
  const w = new ByteWriter().u16(0x0100).u16(12 + rest.length)
  return escaping.wrap(w.u16(type).u16(0).u32(serial).bytes(rest).toBuffer())
}
