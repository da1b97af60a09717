/*
 * CityEasy 007, 009, 202: no specification is known, inferred from frames. Big-endian. TCP.
 *
 *   5454 LLLL IIIIIIIIIIIIII TTTT content SSSSSSSS KKKK 0D0A
 *
 *   L  length of all     I  IMEI without its check digit, packed decimals     S  serial number     K  a checksum of unknown kind
 *   T = 0003, 0004: text  YYYYMMDDhhmmss,A,s,N,Y,E,O,S,p,H;cells       position; nothing before the semicolon: no fix
 *   T = 0002: heartbeat
 *
 *   A  A: valid     s  satellites     Y, O  degrees     S  knots (assumed)     p  HDOP     H  metres
 */
import {
  ByteReader,
  dop,
  enveloped,
  type Fix,
  knots,
  lengthField,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  TextReader,
  utc,
} from '../kit/index.ts'

export default {
  name: 'cityeasy',
  devices: 'CityEasy 007, 009, 202',
  integrity: { none: 'the kind of its checksum is not known' },
  tcp: { port: 5088, frame: lengthField({ start: 'TT', at: 2, width: 2, add: 0, end: '\r\n', most: 2048 }) },
  decode,
} satisfies Protocol

const HEARTBEAT = 0x0002
const POSITIONS = new Set([0x0003, 0x0004])
const TAIL = 8

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const device = r.skip(4).bcd(7)
  const type = r.u16()
  if (type === HEARTBEAT) return { device, none: 'heartbeat' }
  if (!POSITIONS.has(type)) return { device }
  const [place] = r.ascii(r.left - TAIL).split(';', 1)
  if (place === '') return { device, none: 'cells' }
  return enveloped({ device }, () => ({ fixes: [fixOf(new TextReader(place, ','))] }))
}

function fixOf(r: TextReader): Fix {
  const at = r.next()
  const part = (from: number, to: number) => number(at.slice(from, to))
  const time = utc(part(0, 4), part(4, 6), part(6, 8), part(8, 10), part(10, 12), part(12, 14))
  const valid = r.next() === 'A'
  const satellites = r.optionalNumber()
  const south = r.next() === 'S'
  const latitude = r.number()
  const west = r.next() === 'W'
  const longitude = r.number()
  return {
    time,
    latitude: south ? -latitude : latitude,
    longitude: west ? -longitude : longitude,
    valid,
    satellites,
    speed: optionalNumber(r.next(), knots),
    hdop: dop(r.optionalNumber()),
    altitude: r.optionalNumber(),
  }
}
