/*
 * Maxtrack MXT-100, MXT-140, MXT-150: no specification is known: inferred from frames. Little-endian.
 *
 *   01 DD TT IIIIIIII content CCCC 04        escapes: 01, 04, 10, 11, 13 as 10 and the byte + 20
 *
 *   D  kind of device      T  type      I  id      C  CRC-16/XMODEM from D on
 *
 *   31  position: P NNNN G BBBBBBBB AAAAAAAA OOOOOOOO FFFFFFFF V …; answer 01 D 02 I C, the CRC of this, 04
 *
 *   P, N, G, F  protocol, number, groups of values, flags     A, O  latitude, longitude, 1e-6 degrees     V  speed, km/h
 *   B  from the highest bit on: days since 2000 (15), hour (5), minute (6), second (6)
 *
 * The last 12 bytes are UUUU 0000 F427 x{6} in all frames: U, the external voltage, mV.
 */
import {
  ByteReader,
  ByteWriter,
  crc16Xmodem,
  DecodeError,
  enveloped,
  escaped,
  type Fix,
  kmh,
  type Message,
  type Protocol,
  type Session,
  said,
  splitBits,
  verify,
} from '../kit/index.ts'

const escaping = escaped({
  flag: 0x01,
  end: 0x04,
  escape: 0x10,
  codes: new Map([
    [0x21, 0x01],
    [0x24, 0x04],
    [0x30, 0x10],
    [0x31, 0x11],
    [0x33, 0x13],
  ]),
})

export default {
  name: 'mxt',
  devices: 'Maxtrack MXT-100, MXT-140, MXT-150',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/XMODEM', covers: [1, -3] },
  escaping,
  tcp: { port: 5087, frame: escaping.frame },
  decode,
} satisfies Protocol

const POSITION = 0x31
const ACK = 0x02
const EPOCH = Date.UTC(2000, 0, 1)
const DAY = 86_400
const POWER = 12
const BEHIND_VOLTAGE = 0x0000_f427

function decode(frame: Buffer, session: Session): Message {
  if (frame[0] !== 0x01 || frame.at(-1) !== 0x04)
    throw new DecodeError('unsupported', 'the frame does not stand in 01 and 04')
  const content = escaping.content(frame)
  if (content.length < 2) throw new DecodeError('truncated')
  const data = content.subarray(0, -2)
  const checksum = content.readUInt16LE(data.length)
  verify(crc16Xmodem(data) === checksum, session)
  const r = new ByteReader(data)
  const kind = r.u8()
  const type = r.u8()
  const id = r.u32le()
  const device = String(id)
  if (type !== POSITION) return { device }
  const answer = new ByteWriter().u8(kind).u8(ACK).u32le(id).u16le(checksum).crc16le(crc16Xmodem).toBuffer()
  return enveloped({ device, reply: escaping.wrap(answer) }, () => ({ fixes: [position(r)] }))
}

function position(r: ByteReader): Fix {
  const [days, hour, minute, second] = splitBits(r.skip(4).u32le(), 15, 5, 6, 6)
  const time = EPOCH + (days * DAY + hour * 3600 + minute * 60 + second) * 1000
  const latitude = r.i32le() / 1e6
  const longitude = r.i32le() / 1e6
  const speed = kmh(r.skip(4).u8())
  return { time, latitude, longitude, valid: true, speed, said: said({ external_voltage: voltageAtEnd(r) }) }
}

function voltageAtEnd(r: ByteReader): number | undefined {
  if (r.left < POWER) return undefined
  const voltage = r.skip(r.left - POWER).u16le()
  return r.u32() === BEHIND_VOLTAGE ? voltage / 1000 : undefined
}
