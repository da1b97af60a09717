/*
 * TK102 of another make than those of gps103 and xexun. No specification is known: inferred from frames. TCP, no checksum.
 *
 *   [KNNNNNNNNNNLcontent]         N  ten digits, a serial number      L  length of the content, one byte
 *   content of kind F0            id: login; the answer is the same with the kind FF
 *   (eeehhmmssVddmm.mmmmNdddmm.mmmmEsss.sssDDMMYY…)       position, in frames of several kinds
 *   content of kinds 80 and 21 (!)     id, or (IMEI,version,…): a login too; how it is answered is not known
 *   (GSM,…)                                               cells
 *
 *   e  event: ONE, ITV …      V  A: valid, V: not         s  speed, knots       N, E  hemispheres
 */
import {
  ByteReader,
  DecodeError,
  degreesMinutes,
  knots,
  lengthField,
  type Message,
  number,
  type Protocol,
  utcDmy,
} from '../kit/index.ts'

export default {
  name: 'tk102',
  devices: 'TK102 and clones that log in with [ and a kind of F0',
  tcp: { port: 5036, frame: lengthField({ start: '[', at: 12, width: 1, add: 14, end: ']' }) },
  decode,
} satisfies Protocol

const LOGIN = 0xf0
const LOGIN_ANSWER = 0xff
const OTHER_LOGINS = new Set([0x80, 0x21])
const OTHER_LOGIN = /^\(?([0-9A-Za-z]{6,17})(?:,|\)?$)/
const POSITION = /^\([A-Z]{3}(\d{6})([AV])(\d{4}\.\d{4})([NS])(\d{5}\.\d{4})([EW])(\d{3}\.\d{3})(\d{6})[^)]{0,200}\)$/

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  if (r.u8() !== 0x5b) throw new DecodeError('unsupported')
  const kind = r.u8()
  const content = r.skip(10).ascii(r.u8())
  if (kind === LOGIN) return login(content, frame)
  const other = OTHER_LOGINS.has(kind) ? OTHER_LOGIN.exec(content) : null
  if (other) return { device: other[1], none: 'login' }
  if (content.startsWith('(GSM,')) return { none: 'cells' }
  const match = POSITION.exec(content)
  if (!match) return {}
  const [, time, valid, latitude, north, longitude, east, speed, date] = match
  return {
    fixes: [
      {
        time: utcDmy(date, time),
        latitude: degreesMinutes(number(latitude)) * (north === 'S' ? -1 : 1),
        longitude: degreesMinutes(number(longitude)) * (east === 'W' ? -1 : 1),
        valid: valid === 'A',
        speed: knots(number(speed)),
      },
    ],
  }
}

function login(id: string, frame: Buffer): Message {
  const device = id.trim()
  if (!/^[0-9A-Za-z]+$/.test(device)) throw new DecodeError('malformed', 'the login has no id')
  const reply = Buffer.from(frame)
  reply[1] = LOGIN_ANSWER
  return { device, none: 'login', reply }
}
