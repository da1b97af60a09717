/*
 * Navigil S1, Wellness Watch: no specification is known: inferred from frames. Little-endian.
 *
 *   0001 NNNN TTTT LLLL FFFF CCCC IIIIIIII SSSSSSSS content
 *
 *   N  number       L  length of all of it      C  CRC-16/CCITT-FALSE of the content      S  seconds since 1970, 25 leap seconds
 *   T  type         F  flags                    I  id                                        ahead of UTC
 *
 *   0F  AAAAAAAA OOOOOOOO …     latitude, longitude, 1e-7 degrees; what follows is open
 *   04  status
 *
 * Answer to every frame: 0001, a number of the server, 00FF, LLLL, 0, C, 0, S, N 0000. The clock of the answer runs ahead as well.
 */
import {
  ByteReader,
  ByteWriter,
  crc16CcittFalse,
  DecodeError,
  enveloped,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  sessionState,
  verify,
} from '../kit/index.ts'

export default {
  name: 'navigil',
  devices: 'Navigil S1, Navigil Wellness Watch',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: (frame) => [20, frame.length] },
  tcp: { port: 5025, frame: lengthField({ start: '\x01\0', at: 6, width: 2, endian: 'little', add: 0 }) },
  decode,
} satisfies Protocol

const PREAMBLE = 1
const HEAD = 20
const POSITION = 0x0f
const STATUS = 0x04
const ACK = 0xff
const LEAP_SECONDS = 25

const sent = sessionState(() => ({ count: 0 }))

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (r.u16le() !== PREAMBLE) throw new DecodeError('unsupported', 'the frame does not begin with 1')
  const number = r.u16le()
  const type = r.u16le()
  const checksum = r.skip(4).u16le()
  const device = String(r.u32le())
  const time = (r.u32le() - LEAP_SECONDS) * 1000
  verify(crc16CcittFalse(frame.subarray(HEAD)) === checksum, session)
  const reply = acknowledgement(number, session)
  if (type !== POSITION) return { device, none: type === STATUS ? 'status' : undefined, reply }
  return enveloped({ device, reply }, () => {
    const latitude = r.i32le() / 1e7
    return { fixes: [{ time, latitude, longitude: r.i32le() / 1e7, valid: true }] }
  })
}

function acknowledgement(number: number, session: Session): Buffer {
  const state = sent(session)
  state.count = (state.count + 1) & 0xffff
  const content = new ByteWriter().u16le(number).u16le(0).toBuffer()
  const w = new ByteWriter()
    .u16le(PREAMBLE)
    .u16le(state.count)
    .u16le(ACK)
    .u16le(HEAD + content.length)
    .u16le(0)
  w.u16le(crc16CcittFalse(content))
    .u32le(0)
    .u32le(Math.floor(session.now / 1000) + LEAP_SECONDS)
  return w.bytes(content).toBuffer()
}
