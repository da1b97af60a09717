/*
 * AutoFon D, E, SE beacons: no specification is known, inferred from frames. Big-endian. TCP.
 *
 *   10 xx xx IIIIIIIIIIIIIIII K         login; 41 IIIIIIIIIIIIIIII x{9} K  login of newer ones; answer "resp_crc=" K
 *   02 x{14} gg tttttt dddddd YY yyyyyx OO ooooox SS CCCC K        position, 34 bytes
 *
 *   I  0 and the IMEI, packed decimals      t, d  hhmmss, DDMMYY, as integers      g  bits 7–6: 0 no fix
 *   Y, O  degrees, y, o  minutes of 20 bits, 1e-4; the four bits behind them are not read: the frames show the north-east
 *   S  knots (assumed)     C  degrees       K  a checksum of unknown kind
 *
 * Frames of other types have lengths that are not known: they are skipped.
 */
import { ByteReader, DecodeError, type Fix, heading, knots, type Message, type Protocol, utcDmy } from '../kit/index.ts'

export default {
  name: 'autofon',
  devices: 'AutoFon D, E, SE',
  integrity: { none: 'the kind of its checksum is not known' },
  tcp: { port: 5077, frame: frameLength },
  decode,
} satisfies Protocol

const LOGIN = 0x10
const NEW_LOGIN = 0x41
const POSITION = 0x02
const LENGTHS = new Map([
  [LOGIN, 12],
  [NEW_LOGIN, 19],
  [POSITION, 34],
])

function frameLength(bytes: Buffer): number {
  if (bytes.length === 0) return 0
  const length = LENGTHS.get(bytes[0])
  if (length === undefined) return -1
  return bytes.length < length ? 0 : length
}

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const type = r.u8()
  const length = LENGTHS.get(type)
  if (length === undefined) throw new DecodeError('unsupported')
  if (frame.length < length) throw new DecodeError('truncated')
  if (type === POSITION) return { fixes: [fixOf(r.skip(14))] }
  const device = r
    .skip(type === LOGIN ? 2 : 0)
    .bcd(8)
    .replace(/^0/, '')
  const reply = Buffer.concat([Buffer.from('resp_crc='), frame.subarray(length - 1, length)])
  return { device, none: 'login', reply }
}

function fixOf(r: ByteReader): Fix {
  const flags = r.u8()
  const time = digitsOf(r)
  const date = digitsOf(r)
  const latitude = angle(r)
  const longitude = angle(r)
  const speed = knots(r.u8())
  return { time: utcDmy(date, time), latitude, longitude, valid: flags >> 6 !== 0, speed, heading: heading(r.u16()) }
}

function digitsOf(r: ByteReader): string {
  const digits = String(r.u24()).padStart(6, '0')
  if (digits.length > 6) throw new DecodeError('malformed', `"${digits}" is not a time`)
  return digits
}

function angle(r: ByteReader): number {
  return r.u8() + (r.u24() >> 4) / 600_000
}
