/*
 * Tytan DS540 and others of Tytan (Poland). No specification is known: inferred from frames. UDP, big-endian.
 *
 *   B5 LLLL NN IIIIIIII record… CCCC                        answer: ^<N / 8>
 *   record   RR TTTTTTTT QQ AAAAAA OOOOOO xx SS (type length value)…     type 5A: external voltage, float32, little-endian
 *
 *   L  length behind it       R  length of the record, itself included      A  90° − latitude, in 180/2^24 degrees
 *   N  number, times 8        T  unix seconds                               O  longitude + 180°, in 360/2^24 degrees
 *   I  device                 Q  satellites, times 4; 0: no fix             S  speed, km/h
 *   C  CRC-16/ARC of all bytes before it
 *
 * Bit 0 of x is the ignition. A heading has not been seen other than of standing vehicles; it is not read.
 */
import {
  ByteReader,
  crc16Arc,
  DecodeError,
  enveloped,
  type Fix,
  kmh,
  type Message,
  type Protocol,
  readableFixes,
  type Session,
  said,
  tlv,
  verified,
} from '../kit/index.ts'

export default {
  name: 'tytan',
  devices: 'Tytan DS540 and others',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/ARC', covers: [0, -2] },
  udp: { port: 5084 },
  decode,
} satisfies Protocol

const START = 0xb5
/** Bytes of a record before its tagged values. */
const LEAST = 14
const IGNITION = 1
const VOLTAGE = 0x5a

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16Arc, from: 0, width: 2, endian: 'big' }, session))
  if (r.u8() !== START) throw new DecodeError('unsupported', 'the frame does not begin with B5')
  const number = r.skip(2).u8() >> 3
  const device = String(r.u32())
  return enveloped({ device, reply: Buffer.from(`^${number}`) }, () => {
    const records: ByteReader[] = []
    while (r.left >= LEAST) {
      const length = r.u8()
      if (length < LEAST) throw new DecodeError('malformed', `a record of ${length} bytes`)
      records.push(r.part(length - 1))
    }
    return readableFixes(records, recordOf, { none: 'no place' })
  })
}

/** A record behind its length. */
function recordOf(record: ByteReader): Fix {
  const time = record.u32() * 1000
  const satellites = record.u8() >> 2
  const latitude = 90 - (record.u24() * 180) / 2 ** 24
  const longitude = (record.u24() * 360) / 2 ** 24 - 180
  const ignition = (record.u8() & IGNITION) !== 0
  const speed = kmh(record.u8())
  const says = said({ ignition, external_voltage: voltageIn(record) })
  return { time, latitude, longitude, valid: satellites > 0, speed, satellites, said: says }
}

function voltageIn(r: ByteReader): number | undefined {
  for (const { tag, value } of tlv(r, { tag: 1, length: 1 }))
    if (tag === VOLTAGE && value.left === 4) return value.f32le()
  return undefined
}
