/*
 * Gator M508, M518, M528, M588: "ROPE GPS tracker protocol" (M508A … M588FS) has the envelope; the rest is inferred from
 * frames. TCP and UDP.
 *
 *   2424 TT LLLL IIIIIIII content KK 0D
 *
 *   T  type                  I  the number of the SIM card: two digits in bits 6–0 of each byte, and in bits 7 of all four
 *   L  length from I on         the third digit of 13…; newer devices have 8 bytes, their IMEI in packed decimals
 *   K  exclusive or of all before it
 *   80, 81 (answer to a request), 82 (alarm): YYMMDDhhmmss yyyyyyyy oooooooo SSSS CCCC F …       packed decimals
 *   21  heartbeat;  others: the same where they begin like it
 *
 *   y, o  dddmm.mmm, of which the highest bit is south, west     S  km/h     C  degrees     F  bit 7: fix
 *
 * Answer: 2424 21 0005 K T 00 KK 0D.
 */
import {
  ByteReader,
  ByteWriter,
  bcdYmd,
  DecodeError,
  digitsDegreesMinutes,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  optionalNumber,
  type Protocol,
  packedNumber,
  type Session,
  verified,
  xor,
} from '../kit/index.ts'

const packets = lengthField({ start: '$$', at: 3, width: 2, add: 5, end: 0x0d, most: 1024 })

export default {
  name: 'gator',
  devices: 'Gator M508, M518, M528, M588',
  acknowledges: 'fixes',
  integrity: { checksum: 'exclusive or', covers: [3, -2] },
  tcp: { port: 5052, frame: packets },
  udp: { port: 5052, frame: packets },
  decode,
} satisfies Protocol

const HEARTBEAT = 0x21
/** Positions: in time, asked for, alarms. */
const POSITIONS = new Set([0x80, 0x81, 0x82])
/** A date and two angles. */
const PLACE = /^\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{6}(?:[0189]\d{7}){2}\d{8}../
const SHORT_ID = 4
const IMEI = 8
const HEAD = 5

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: xor, from: 0, width: 1, trailing: 1 }, session))
  const type = r.skip(2).u8()
  r.skip(2)
  const reply = new ByteWriter()
    .hex('2424210005')
    .u8(frame[frame.length - 2])
    .u8(type)
    .u8(0)
    .xor()
    .u8(0x0d)
    .toBuffer()
  if (type === HEARTBEAT)
    return { device: r.left >= SHORT_ID ? numberOf(r.slice(SHORT_ID)) : undefined, none: 'heartbeat', reply }
  const isLong = isDate(frame, HEAD + IMEI) && !isDate(frame, HEAD + SHORT_ID)
  const device = isLong ? r.bcd(IMEI).slice(0, 15) : numberOf(r.slice(SHORT_ID))
  if (!POSITIONS.has(type) && !PLACE.test(frame.toString('hex', HEAD + (isLong ? IMEI : SHORT_ID))))
    return { device, reply }
  if (!isLong && !isDate(frame, HEAD + SHORT_ID)) return { device, none: 'no date', reply }
  return enveloped({ device, reply }, () => ({ fixes: [fixOf(r)] }))
}

function numberOf(bytes: Uint8Array): string {
  let third = 0
  let digits = ''
  for (const byte of bytes) {
    third = third * 2 + (byte >> 7)
    digits += String(byte & 0x7f).padStart(2, '0')
  }
  return `1${30 + third}${digits}`
}

/** Whether a date stands at an index: month and day are those of a calendar. */
function isDate(frame: Buffer, at: number): boolean {
  const [month, day] = [frame[at + 1], frame[at + 2]]
  return /^\d{12}$/.test(frame.toString('hex', at, at + 6)) && month >= 1 && month <= 0x12 && day >= 1 && day <= 0x31
}

function fixOf(r: ByteReader): Fix {
  const time = bcdYmd(r)
  const latitude = angle(r)
  const longitude = angle(r)
  const speed = optionalNumber(packedNumber(r.hex(2)), kmh)
  const course = heading(packedNumber(r.hex(2)))
  return { time, latitude, longitude, valid: (r.u8() & 0x80) !== 0, speed, heading: course }
}

function angle(r: ByteReader): number {
  const digits = r.hex(4)
  const first = Number.parseInt(digits[0], 16)
  if ((first & 7) > 1) throw new DecodeError('malformed', `the angle ${digits}`)
  const value = digitsDegreesMinutes(`${first & 7}${digits.slice(1)}`, 3)
  return first & 8 ? -value : value
}
