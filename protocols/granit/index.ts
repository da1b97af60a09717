/*
 * Granit Navigator-04, -06 and -08: no specification is known, inferred from frames. Little-endian, between text. TCP.
 *
 *   +RRCB~ LLLL IIII TTTTTTTT P{20} *KK\r\n                          one position
 *   +DDAT~ LLLL IIII 04 xx NNNN TTTTTTTT P{20}… ii xx *KK\r\n         positions, i seconds apart
 *   other lines: what the device says of itself
 *
 *   L  length to before *     I  id     N  number     T  unix seconds     K  exclusive or of all before *, hexadecimal
 *   P  F s{4 bits} x{4 bits} longitude and latitude: degrees (bytes), then minutes (u16, 1e-3) of both, knots, course (2°),
 *      metres since the last one{2} … [17] altitude (10 m) …; F bit 7: fix. All FE: none. Where the hemispheres stand is not known:
 *      the frames show the north-east.
 *
 * Answers: BB+UGRC~ 0600 T I *KK\r\n and BB+ARCF~ 0400 N I *KK\r\n
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  dialects,
  enveloped,
  type Fix,
  heading,
  knots,
  lengthField,
  line,
  type Message,
  type Protocol,
  type Session,
  verifiedHex,
  xor,
} from '../kit/index.ts'

const RECORD = 20
const EMPTY = 0xfe
const packet = lengthField({ at: 6, width: 2, endian: 'little', add: 13, end: '\r\n', most: 4096 })
const { frame } = dialects([{ when: ['+RRCB~', '+DDAT~'], frame: packet }, { frame: line }])

export default {
  name: 'granit',
  devices: 'Granit Navigator-04, -06, -08',
  acknowledges: 'fixes',
  integrity: { checksum: 'exclusive or', covers: (bytes) => (bytes[5] === 0x7e ? [8, -5] : [0, 0]) },
  tcp: { port: 5113, frame },
  decode,
} satisfies Protocol

function decode(bytes: Buffer, session: Session): Message {
  const type = bytes.toString('latin1', 0, 6)
  if (type !== '+RRCB~' && type !== '+DDAT~') {
    if (/^[ -~]+\r?\n?$/.test(bytes.toString('latin1'))) return { none: 'text' }
    throw new DecodeError('unsupported')
  }
  const trailing = bytes.at(-1) === 0x0a ? 2 : 0
  // The checksum covers the head and ends before the asterisk.
  const content = verifiedHex(withoutAsterisk(bytes, trailing), { sum: xor, from: 0, width: 2 }, session)
  const r = new ByteReader(content).skip(8)
  const id = r.u16le()
  const device = String(id)
  if (type === '+RRCB~') {
    const time = r.u32le()
    return enveloped({ device, reply: answer('UGRC', time, id) }, () => {
      const fix = fixOf(r, time * 1000)
      return fix ? { fixes: [fix] } : { none: 'no place' }
    })
  }
  const number = r.skip(2).u16le()
  const reply = new ByteWriter().ascii('BB+ARCF~').u16le(4).u16le(number).u16le(id)
  return enveloped({ device, reply: closed(reply) }, () => {
    const fixes = archive(r)
    return fixes.length > 0 ? { fixes } : { none: 'no place' }
  })
}

/** The bytes without what follows the checksum, and without the asterisk in front of it. */
function withoutAsterisk(bytes: Buffer, trailing: number): Buffer {
  const end = bytes.length - trailing
  if (end < 11 || bytes[end - 3] !== 0x2a) throw new DecodeError('truncated')
  return Buffer.concat([bytes.subarray(0, end - 3), bytes.subarray(end - 2, end)])
}

function archive(r: ByteReader): Fix[] {
  const start = r.u32le()
  const records = new ByteReader(r.slice(r.left - (r.left % RECORD)))
  const interval = r.left > 0 ? r.u8() : 0
  const fixes: Fix[] = []
  for (let i = 0; records.left > 0; i++) {
    const fix = fixOf(records, (start + i * interval) * 1000)
    if (fix) fixes.push(fix)
  }
  return fixes
}

/** Undefined of an empty record. */
function fixOf(r: ByteReader, time: number): Fix | undefined {
  const record = new ByteReader(r.slice(RECORD))
  if (record.peek() === EMPTY) return undefined
  const flags = record.u8()
  const satellites = record.u8() >> 4
  const [east, north] = [record.u8(), record.u8()]
  const longitude = east + record.u16le() / 60_000
  const latitude = north + record.u16le() / 60_000
  const speed = knots(record.u8())
  const course = heading(record.u8() * 2)
  const altitude = record.skip(7).i8() * 10
  return { time, latitude, longitude, valid: (flags & 0x80) !== 0, altitude, speed, heading: course, satellites }
}

function answer(name: string, time: number, id: number): Buffer {
  return closed(new ByteWriter().ascii(`BB+${name}~`).u16le(6).u32le(time).u16le(id))
}

function closed(w: ByteWriter): Buffer {
  const sum = xor(w.toBuffer()).toString(16).toUpperCase().padStart(2, '0')
  return w.ascii(`*${sum}\r\n`).toBuffer()
}
