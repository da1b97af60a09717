/*
 * Thuraya satellite trackers (T2 M2M). No specification is known: inferred from frames. TCP, big-endian.
 *
 *   2354 LLLL KKKK IIIIIIII content CCCC                answer: 2354 000F 9901 IIIIIIII KKKK 0001 CCCC
 *   content of 5101  record         7101  count, records         8115  state of the device
 *   record   DDDDDDDD TTTTTTTT OOOOOOOO AAAAAAAA HHHH SSSS xxxx text 00
 *
 *   L  length of the frame           D  YYYYMMDD, T  hhmmss, UTC, as numbers     H  degrees in the low 9 bits, bit 12: ignition
 *   K  kind      I  device           O, A  1e-6°                                 S  km/h
 *   C  two's complement of the sum of all bytes before it
 *
 * The length field of an answer is one less than the number of its bytes. All frames that we have seen have the speed
 * 0.
 */
import {
  ByteReader,
  ByteWriter,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  readableFixes,
  type Session,
  said,
  sum16,
  utcYmd,
  verified,
} from '../kit/index.ts'

export default {
  name: 'thuraya',
  devices: 'Thuraya T2 M2M and others',
  acknowledges: 'fixes',
  integrity: { checksum: "two's complement of the sum of 16 bits", covers: [0, -2] },
  tcp: { port: 5242, frame: lengthField({ start: '#T', at: 2, width: 2, add: 0 }) },
  decode,
} satisfies Protocol

const ONE = 0x5101
const SEVERAL = 0x7101
const STATE = 0x8115
const HEADING = 0x01ff
const IGNITION = 0x1000
/** Bytes of a record before its text. */
const RECORD = 22
const complement = (bytes: Uint8Array) => -sum16(bytes) & 0xffff

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: complement, from: 0, width: 2 }, session)).skip(4)
  const kind = r.u16()
  const id = r.u32()
  const head = new ByteWriter().ascii('#T').u16(0x0f).u16(0x9901).u32(id).u16(kind).u16(1)
  const message = { device: String(id), reply: head.crc16(complement).toBuffer() }
  if (kind === STATE) return { ...message, none: 'status' }
  if (kind !== ONE && kind !== SEVERAL) return message
  return enveloped(message, () => {
    const count = kind === SEVERAL ? r.u8() : 1
    const records: ByteReader[] = []
    while (records.length < count && r.left >= RECORD) {
      records.push(r.at(r.position))
      r.skip(RECORD).asciiUntil(0)
    }
    return readableFixes(records, recordOf, { none: 'no place' })
  })
}

function recordOf(r: ByteReader): Fix {
  const date = String(r.u32()).padStart(8, '0')
  const time = utcYmd(date + String(r.u32()).padStart(6, '0'))
  const longitude = r.i32() / 1e6
  const latitude = r.i32() / 1e6
  const bits = r.u16()
  const says = said({ ignition: (bits & IGNITION) !== 0 })
  return { time, latitude, longitude, valid: true, speed: kmh(r.u16()), heading: heading(bits & HEADING), said: says }
}
