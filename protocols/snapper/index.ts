/*
 * Snapper. No specification is known: inferred from frames. TCP, little-endian.
 *
 *   4B vv SSSSSSSS IIIIIIII 0000 LLLLLLLL CCCCCCCC NNNN KKKK ff content      answer: 4B 03 0… 0… 0000 02… 0… NNNN 9A37 00 "OK"
 *   50 xx                                                                    answer: PO
 *   content of kinds 37xx: count, then (tag, length, value), 16 bits each
 *   value of the tag 23:  xxxx V …     V  external voltage, 0.1 V
 *   value of the tag 32:  { "f", "t", "d", "la", "lo", "a", "s", "c", "sv", … } as text
 *
 *   I  device             N  number             t, d    hhmmss, DDMMYY, UTC      s   knots        a  metres
 *   L  length of content  K  kind: 0114 is      la, lo  ddmm.mmmm, dddmm.mmmm    c   degrees      sv satellites
 *   C  not known             echoed back
 *
 * South and west have not been seen: a sign before an angle is understood.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  degreesMinutes,
  dialects,
  enveloped,
  type Fix,
  fixedLength,
  heading,
  type JsonObject,
  knots,
  lengthField,
  type Message,
  numericMember,
  objectOf,
  optionalNumberOf,
  type Protocol,
  parseJson,
  readableFixes,
  said,
  textMember,
  tlv,
  utcDmy,
} from '../kit/index.ts'

const wire = dialects([
  { when: 'P', frame: fixedLength(2), decode: () => ({ none: 'heartbeat', reply: Buffer.from('PO') }) },
  { when: 'K', frame: lengthField({ start: 'K', at: 12, width: 4, endian: 'little', add: 25 }), decode: packet },
])

export default {
  name: 'snapper',
  devices: 'Snapper',
  acknowledges: 'fixes',
  integrity: { none: 'the sum in the frames is not known' },
  tcp: { port: 5256, frame: wire.frame },
  decode: wire.decode,
} satisfies Protocol

const ECHO = 0x0114
const REPORT = 0x37
const OK = 0x379a
const INPUTS = 0x23
const POSITION = 0x32

function packet(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const device = String(r.skip(6).u32le())
  const number = r.skip(10).u16le()
  const kind = r.u16le()
  const content = r.skip(1).slice()
  if (kind === ECHO) return { device, none: 'login', reply: answer(number, ECHO, content) }
  const reply = answer(number, OK, Buffer.from('OK'))
  if (kind >> 8 !== REPORT) return { device, reply }
  return enveloped({ device, reply }, () => report(new ByteReader(content)))
}

function answer(number: number, kind: number, content: Buffer): Buffer {
  const head = new ByteWriter().u8(0x4b).u8(0x03).u64(0).u16(0).u32le(content.length).u32(0)
  return head.u16le(number).u16le(kind).u8(0).bytes(content).toBuffer()
}

function report(r: ByteReader): Message {
  const positions: ByteReader[] = []
  let volts: number | undefined
  for (const { tag, value } of tlv(r.skip(2), { tag: 2, length: 2, endian: 'little' })) {
    if (tag === POSITION) positions.push(value)
    if (tag === INPUTS && value.left > 2) volts = value.skip(2).u8() / 10
  }
  const told = said({ external_voltage: volts })
  const read = (value: ByteReader) => {
    const fix = fixOf(objectOf(parseJson(value.ascii(value.left)), 'the position'))
    return fix && { ...fix, said: told }
  }
  return readableFixes(positions, read, { none: 'no fix', said: told })
}

function fixOf(position: JsonObject): Fix | undefined {
  const latitude = numericMember(position, 'la')
  const longitude = numericMember(position, 'lo')
  if (latitude === undefined || longitude === undefined) return undefined
  const date = textMember(position, 'd')
  const time = textMember(position, 't')
  if (date === undefined || time === undefined) throw new DecodeError('malformed', 'a place without a time')
  const speed = optionalNumberOf(position, 's')
  return {
    time: utcDmy(date, time),
    latitude: degreesMinutes(latitude),
    longitude: degreesMinutes(longitude),
    valid: true,
    altitude: optionalNumberOf(position, 'a'),
    speed: speed === undefined ? undefined : knots(speed),
    heading: heading(optionalNumberOf(position, 'c')),
    satellites: optionalNumberOf(position, 'sv'),
  }
}
