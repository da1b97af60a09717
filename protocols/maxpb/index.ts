/*
 * Maxtrack trackers with Protocol Buffers: no specification is known: inferred from frames. Little-endian.
 *
 *   55AA55AA LLLL CCCC TTTTTTTT record      L  length of C, T and the record     C  CRC-16/XMODEM of T and the record
 *
 *   T 1  { 1: id, 4: { 3: unix seconds, 4: { 3: latitude, 4: longitude, 5: altitude, 6: error }, 5: { 3: satellites, 5: HDOP },
 *               7: { 1: { 2: supply, 5: own battery, mV } } } }
 *   T 2  { 1: id, 2: number }               hello
 *
 *   latitude, longitude  fixed32, 1e-7 degrees     altitude  signed, m     error  m     HDOP  0.1
 *
 * How fast and where to the device goes was 0 in all frames and is not read. Nothing is answered.
 */
import {
  ByteReader,
  crc16Xmodem,
  DecodeError,
  dop,
  enveloped,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  said,
  verify,
  zigzag,
} from '../kit/index.ts'
import { messageOf } from './protobuf.ts'

const START = Buffer.from('55aa55aa', 'hex')
/** Bytes in front of what the checksum covers. */
const HEAD = 8

export default {
  name: 'maxpb',
  devices: 'Maxtrack trackers of 2016 and later',
  integrity: { checksum: 'CRC-16/XMODEM', covers: (frame) => [HEAD, frame.length] },
  tcp: { port: 5221, frame: lengthField({ start: START, at: 4, width: 2, endian: 'little', add: 6 }) },
  decode,
} satisfies Protocol

const REPORT = 1
const HELLO = 2

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (!r.slice(4).equals(START)) throw new DecodeError('unsupported', 'the frame does not begin with 55AA55AA')
  const checksum = r.skip(2).u16le()
  verify(crc16Xmodem(frame.subarray(HEAD)) === checksum, session)
  const type = r.u32le()
  if (type !== REPORT && type !== HELLO) return {}
  const message = messageOf(r.slice())
  const device = String(message.number(1) ?? '')
  if (device === '') throw new DecodeError('malformed', 'there is no id')
  return type === HELLO ? { device, none: 'login' } : enveloped({ device }, () => report(message))
}

const volts = (millivolts: number | undefined) => (millivolts === undefined ? undefined : millivolts / 1000)

function report(message: ReturnType<typeof messageOf>): Message {
  const record = message.message(4)
  const place = record?.message(4)
  const [time, latitude, longitude] = [record?.number(3), place?.number(3), place?.number(4)]
  if (latitude === undefined || longitude === undefined) return { none: 'no place' }
  if (time === undefined) return { fixes: [] }
  const quality = record?.message(5)
  const power = record?.message(7)?.message(1)
  const altitude = place?.number(5)
  const hdop = quality?.number(5)
  return {
    fixes: [
      {
        time: time * 1000,
        latitude: (latitude | 0) / 1e7,
        longitude: (longitude | 0) / 1e7,
        valid: true,
        altitude: altitude === undefined ? undefined : zigzag(altitude),
        accuracy: place?.number(6),
        satellites: quality?.number(3),
        hdop: hdop === undefined ? undefined : dop(hdop / 10),
        said: said({ external_voltage: volts(power?.number(2)), battery_voltage: volts(power?.number(5)) }),
      },
    ],
  }
}
