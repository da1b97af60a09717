/*
 * Tekelek TEK 766, 822, 880 …: sensors of tanks. No specification is known: inferred from frames. TCP.
 *
 *   PP HH FF rr aa ss bb IIIIIIIIIIIIIIII KK LL content CCCC
 *   content of kind 11  ,n,hhmmss.s,ddmm.mmmmN,dddmm.mmmmW,P,A,F,C,S,s,DDMMYY,nn,
 *   other kinds         levels of the tank: no position
 *
 *   I  IMEI, packed decimals      P  HDOP                   C  degrees    nn  satellites
 *   K  kind                       A  metres                 S  km/h, s  knots
 *   L  length of the content,     F  2, 3: fix
 *      with C                     C  CRC-16/XMODEM of all bytes before it        Nothing is answered.
 */
import {
  ByteReader,
  crc16Xmodem,
  DecodeError,
  degreesMinutes,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  type Session,
  TextReader,
  utcDmy,
  verified,
} from '../kit/index.ts'

export default {
  name: 'tek',
  devices: 'Tekelek TEK 766, 822, 880',
  integrity: { checksum: 'CRC-16/XMODEM', covers: [0, -2] },
  tcp: { port: 5173, frame: lengthField({ at: 16, width: 1, add: 17 }) },
  decode,
} satisfies Protocol

const GPS = 0x11
const LEVELS = new Map([
  [0x02, 'status'],
  [0x04, 'sensors'],
  [0x08, 'sensors'],
])

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16Xmodem, from: 0, width: 2 }, session))
  const device = r
    .skip(7)
    .bcd(8)
    .replace(/^0+(?=\d{15})/, '')
  const kind = r.u8()
  if (kind !== GPS) return { device, none: LEVELS.get(kind) }
  const text = r.skip(1).ascii(r.left)
  const hasPlace = text.includes('N,') || text.includes('S,')
  return enveloped({ device }, () => (hasPlace ? { fixes: [fixOf(text)] } : { none: 'no fix' }))
}

function fixOf(text: string): Fix {
  const r = new TextReader(text, ',').skip(2)
  const time = r.next()
  const latitude = angleOf(r.next(), 'S')
  const longitude = angleOf(r.next(), 'W')
  const hdop = dop(r.optionalNumber())
  const altitude = r.optionalNumber()
  const valid = (r.optionalNumber() ?? 0) >= 2
  const course = heading(r.optionalNumber())
  const speed = optionalNumber(r.next(), kmh)
  const date = r.skip().next()
  const satellites = r.optionalNumber()
  return { time: utcDmy(date, time), latitude, longitude, valid, altitude, speed, heading: course, hdop, satellites }
}

function angleOf(field: string, negative: string): number {
  if (!/^\d+(\.\d+)?[NSEW]$/.test(field)) throw new DecodeError('malformed', `"${field.slice(0, 40)}" is not an angle`)
  return degreesMinutes(number(field.slice(0, -1))) * (field.endsWith(negative) ? -1 : 1)
}
