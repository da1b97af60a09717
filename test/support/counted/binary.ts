import { createCipheriv } from 'node:crypto'
import {
  crc8Egts,
  crc16Arc,
  crc16CcittFalse,
  crc16Kermit,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  sum8,
  sum16,
  xor,
} from '../../../protocols/kit/index.ts'
import { ARRIVED } from '../vectors/vectors.ts'
import { avlEnvelope, bytes, escapedFrame, u } from '../encode.ts'
import { bits, bufferOf, type CountedLayout, clock, float, nmea, type Place, scaled, w } from './layout.ts'

const IMEI = '356307042441013'
const { concat } = Buffer
const FIXED_16 = '0356307042441013'
const since = (year: number, { seconds }: Place) => seconds - Date.UTC(year, 0, 1) / 1000
const little = (size: 1 | 2 | 4, value: number) => Buffer.from(u(size, value).toReversed())
type Angles = Pick<Place, 'latitude' | 'longitude'>
/** Latitude and longitude, or the other way round, of four bytes each; Le: little-endian. */
const latLon = (place: Angles, scale: number) =>
  concat([place.latitude, place.longitude].map((angle) => u(4, scaled(angle, scale))))
const lonLat = (place: Angles, scale: number) =>
  concat([place.longitude, place.latitude].map((angle) => u(4, scaled(angle, scale))))
const latLonLe = (place: Angles, scale: number) =>
  concat([place.latitude, place.longitude].map((angle) => little(4, scaled(angle, scale))))
const lonLatLe = (place: Angles, scale: number) =>
  concat([place.longitude, place.latitude].map((angle) => little(4, scaled(angle, scale))))
/** A record behind its length. */
const measured = (record: Buffer) => concat([u(1, record.length), record])

/** Teltonika: records, and the packet with them. */
const avlOf = (codec: number, io: string) => ({
  protocol: 'teltonika',
  most: 255,
  record: ({ time, latitude, longitude }: Place) =>
    w().u64(time).u8(1).bytes(lonLat({ latitude, longitude }, 1e7)).hex('00000000090000').hex(io),
  content: (records: readonly Buffer[]) =>
    concat([Buffer.of(codec, records.length), ...records, Buffer.of(records.length)]),
})

function teltonika(): CountedLayout[] {
  const codecs = [
    avlOf(0x08, '000000000000'),
    avlOf(0x8e, '0000'.repeat(7)),
    avlOf(0x10, '0000050000000000'),
    {
      ...avlOf(0x07, ''),
      record: (place: Place) =>
        w()
          .u32(since(2007, place))
          .hex('0101')
          .bytes(float(place.latitude, 'big'))
          .bytes(float(place.longitude, 'big')),
    },
  ]
  return codecs.flatMap(({ content, ...codec }) => [
    {
      ...codec,
      layout: `codec ${content([])[0]}`,
      never0: 'a packet is sent for its records',
      frame: (records) => avlEnvelope(content(records)),
      answer: (count) => u(4, count),
    },
    {
      ...codec,
      layout: `codec ${content([])[0]} in a datagram`,
      transport: 'udp',
      frame: (records) => {
        const packet = concat([bytes('cafe0105000f'), Buffer.from(IMEI), content(records)])
        return concat([u(2, packet.length), packet])
      },
      answer: (count) => concat([bytes('0005cafe0105'), u(1, count)]),
    },
  ])
}

/** JT/T 808: the message of a type, and the position in it. */
const jt808Frame = (type: number, body: Buffer) =>
  escapedFrame(w().u16(type).u16(body.length).hex('0139123456780005').bytes(body).xor().toBuffer())
const jt808Answer = (type: number) =>
  escapedFrame(w().u16(0x8001).u16(5).hex('0139123456780000').u16(5).u16(type).u8(0).xor().toBuffer())
const jt808Position = ({ time, latitude, longitude }: Place, digits = clock(time + 8 * 3_600_000, 'YMDhms')) =>
  w().u32(0).u32(2).bytes(latLon({ latitude, longitude }, 1e6)).hex('000000000000').hex(digits).toBuffer()
const jt808 = (type: number, width: 1 | 2, head: (count: number) => string) => ({
  protocol: 'jt808',
  layout: type.toString(16),
  most: 33,
  record: (place: Place) => concat([u(width, 28), jt808Position(place)]),
  broken: (place: Place) => concat([u(width, 28), jt808Position(place, '261399000000')]),
  frame: (records: readonly Buffer[]) => jt808Frame(type, concat([bytes(head(records.length)), ...records])),
  answer: () => jt808Answer(type),
})

const meitrack = (type: string, head: (count: number) => Buffer, records: readonly Buffer[]) => {
  const body = concat([Buffer.from(`,${IMEI},${type},`), head(records.length), ...records, Buffer.from('*')])
  const covered = concat([Buffer.from(`$$A${body.length + 4}`), body])
  return concat([covered, Buffer.from(`${hex2(sum8(covered))}\r\n`)])
}
const hex2 = (value: number) => value.toString(16).toUpperCase().padStart(2, '0')
const cceRecord = (place: Place, time: string) => {
  const content = w()
    .hex('0001010501000302')
    .u32le(scaled(place.latitude, 1e6))
    .u8(3)
    .u32le(scaled(place.longitude, 1e6))
  const whole = content.hex(time).u32le(since(2000, place)).u8(0).toBuffer()
  return concat([little(2, whole.length), whole])
}

const egtsRecord = (place: Place, content: Buffer) =>
  w()
    .u16le(content.length)
    .u16le(place.index + 1)
    .u8(1)
    .u32le(77)
    .hex('0202')
    .bytes(content)
const egtsPosition = (place: Place) =>
  w()
    .hex('101500')
    .u32le(since(2010, place))
    .u32le(scaled(place.latitude, 0xffff_ffff / 90))
    .u32le(scaled(place.longitude, 0xffff_ffff / 180))
    .hex('010000003a000000')
    .u8(0)
    .toBuffer()

const galileoFrame = (kind: number, content: Buffer) => {
  const packet = w().u8(kind).u16le(content.length).bytes(content)
  return packet.crc16le(crc16Modbus)
}
const acknowledged = (_: number, frame: Buffer) => concat([bytes('02'), frame.subarray(-2)])
const galileo = (protocol: string): CountedLayout => ({
  protocol,
  most: 200,
  record: (place) => w().u8(0x20).u32le(place.seconds).hex('3009').bytes(latLonLe(place, 1e6)),
  frame: (records) => galileoFrame(1, concat([bytes('03'), Buffer.from(IMEI), ...records])),
  answer: acknowledged,
})

const xexun2Frame = (content: Buffer) => {
  const head = concat([bytes('0014000a 8622050500000170'), u(2, content.length)])
  const escaped = concat([head, u(2, ~sum16(content) & 0xffff), content]).toString('hex')
  // Of FAAF in between alone: none of our records holds FBBF.
  return bytes(`faaf${(escaped.match(/../g) ?? []).join(' ').replaceAll('fa af', 'fb bf 01')}faaf`)
}
const xexun2Record = (place: Place) => {
  const gps = concat([bytes('09'), float(+nmea(place.longitude, 3), 'big'), float(+nmea(place.latitude, 2), 'big')])
  return concat([bytes('00'), u(4, place.seconds), bytes('00005e0201'), gps])
}
const xexun2 = (layout: string, content: (records: readonly Buffer[]) => readonly Buffer[]): CountedLayout => ({
  protocol: 'xexun2',
  layout,
  most: 200,
  record: xexun2Record,
  broken: ({ seconds }) => concat([bytes('00'), u(4, seconds), bytes('00005e0201')]),
  frame: (records) => xexun2Frame(concat([u(1, records.length), ...content(records)])),
  answer: () => xexun2Frame(bytes('01')),
})

const castelFrame = (version: number, type: number, content: Buffer) => {
  const length = 4 + 1 + 20 + 2 + content.length + 4
  const packet = w().ascii('@@').u16le(length).u8(version).ascii('SERIAL0001').hex('00'.repeat(10)).u16(type)
  return packet.bytes(content).crc16le(crc16X25).ascii('\r\n')
}
const castelPosition = (place: Place, date = clock(place.time, 'DMY')) => {
  const [day, month, year, ...time] = `${date}${clock(place.time, 'hms')}`.match(/../g)?.map(Number) ?? []
  const head = w()
    .bytes([day, month, year, ...time])
    .bytes(latLonLe(place, 3.6e6))
  return head.hex('000000009f')
}
const castel = (version: number, type: number, before: string): CountedLayout => ({
  protocol: 'castel',
  layout: type.toString(16),
  most: 200,
  record: (place) => castelPosition(place),
  broken: (place) => castelPosition(place, '321326'),
  frame: (records) => castelFrame(version, type, concat([bytes(before), u(1, records.length), ...records])),
  answer:
    type === 0x4206
      ? () => castelFrame(version, 0x8206, Buffer.alloc(0))
      : type === 0x1001
        ? () =>
            castelFrame(
              version,
              0x9001,
              w()
                .hex('ffffffff0000')
                .u32le(ARRIVED / 1000)
                .toBuffer(),
            )
        : undefined,
})

const bceStructure = (place: Place) => {
  const time = ((since(2008, place) / 2) * 16 + 7) % 2 ** 32
  const data = w().u32le(time).u16le(1).bytes(float(place.longitude)).bytes(float(place.latitude)).hex('0019000000')
  return measured(data.toBuffer())
}
const bceAnswer = (key: number) => w().u64le(Number(IMEI)).u16le(2).u8(0x19).u8(key).sum8()

const arnaviPacket = (place: Place) => {
  const data = w()
    .u32le(place.seconds)
    .u8(3)
    .bytes(float(place.latitude))
    .u8(4)
    .bytes(float(place.longitude))
    .toBuffer()
  return w()
    .u8(1)
    .u16le(data.length - 4)
    .bytes(data)
    .u8(sum8(data))
}

const astra = (kind: 'K' | 'X', length: number): CountedLayout => ({
  protocol: 'astra',
  layout: `${kind}, reports of ${length} bytes`,
  most: Math.min(255, Math.floor(4080 / length)),
  never0: 'a packet is sent for its reports',
  record: (place) => {
    const time = place.seconds - Date.UTC(1980, 0, 6) / 1000
    const angles = [scaled(place.latitude, 1e6), scaled(place.longitude, 1e6)].map((angle) => u(4, angle))
    const head =
      kind === 'K' ? [...angles, u(4, time)] : [bytes(`000000000013${'00'.repeat(12)}`), u(4, time), ...angles]
    // The bytes behind the motion are those of a driver's card: 40, which is also the number of a report.
    return concat([u(1, place.index), ...head, bytes('0000'), Buffer.alloc(length, 0x28)]).subarray(0, length)
  },
  frame: (records) => {
    const content = concat([u(4, 35_630_704), u(3, 2_441_013), ...records])
    const head = w()
      .ascii(kind)
      .u16(3 + (kind === 'X' ? 1 : 0) + content.length + 2)
    return (kind === 'X' ? head.u8(records.length) : head).bytes(content).crc16(crc16Modbus)
  },
  answer: () => bytes('06'),
})

const atrackPlace = (place: Place) => [
  place.seconds,
  place.seconds,
  place.seconds,
  scaled(place.longitude, 1e6),
  scaled(place.latitude, 1e6),
]
const atrackAnswer = () => w().hex('fe02').u64(Number(IMEI)).u16(7)

/** AT2000: blocks of AES, one chain behind the login. */
const AES = Buffer.from(Array.from({ length: 16 }, (_, i) => i))
const encrypted = (blocks: Buffer, vector: Buffer) => {
  const cipher = createCipheriv('aes-128-cbc', AES, vector).setAutoPadding(false)
  return concat([cipher.update(blocks), cipher.final()])
}
const VECTOR = Buffer.alloc(16, 7)
const FIRST = encrypted(Buffer.alloc(16, 9), VECTOR)

const dmtRecord = (place: Place, fields: Buffer) =>
  w()
    .u16le(11 + fields.length)
    .u32le(place.index)
    .u32le(since(2013, place))
    .u8(3)
    .bytes(fields)
const dmtFrame = (type: number, content: Buffer) => w().hex('0255').u8(type).u16le(content.length).bytes(content)
const dmtCompact = (place: Place, month = +clock(place.time, 'M')) => {
  const [year, , day, hour, minute, second] = (clock(place.time, 'YMDhms').match(/../g) ?? []).map(Number)
  const date = bits([second, 6], [minute, 6], [hour, 5], [day, 5], [month, 4], [year, 6])
  const angles = [place.longitude, place.latitude].map((angle) => little(4, scaled(angle, 1e7)))
  return concat([bytes('0000000000'), date.toReversed(), ...angles, Buffer.alloc(64)]).subarray(0, 64)
}

const escapedF8 = (content: Buffer) => {
  const covered = w().bytes(content).crc16(crc16Xmodem).toBuffer()
  const escapes = [...covered].flatMap((byte) => (byte === 0x1b ? [0x1b, 0] : byte === 0xf8 ? [0x1b, 0xe3] : [byte]))
  return Buffer.from([0xf8, ...escapes, 0xf8])
}

const granitPlace = ({ latitude, longitude }: Place) => {
  const parts = [longitude, latitude].map((angle) => [Math.floor(angle), Math.round((angle % 1) * 60_000)])
  const content = w().hex('8090').u8(parts[0][0]).u8(parts[1][0]).u16le(parts[0][1]).u16le(parts[1][1])
  return concat([content.toBuffer(), Buffer.alloc(20)]).subarray(0, 20)
}
const granitClosed = (content: Buffer) => concat([content, Buffer.from(`*${hex2(xor(content))}\r\n`)])

const hyn600Place = (place: Place, month = +clock(place.time, 'M')) => {
  const [, , day, hour, minute, second] = (clock(place.time, 'YMDhms').match(/../g) ?? []).map(Number)
  const head = w().hex('020a000000000000').bytes(latLon(place, 1e6))
  return head.u16(2026).bytes([month, day, hour, minute, second]).u32(0)
}

const iotmRecord = (place: Place, kind: number) => {
  const value = w().u32le(place.seconds).u8(kind).u16le(1).bytes(float(place.latitude)).bytes(float(place.longitude))
  const content = value.hex('00000009000000000000').toBuffer()
  return w().u8(1).u16le(content.length).bytes(content)
}

const packedPlace = (place: Place, date = clock(place.time, 'DMY')) => {
  const angles = `${nmea(place.latitude, 2)}${nmea(place.longitude, 3)}`.replaceAll('.', '')
  return w().hex(date).hex(clock(place.time, 'hms')).hex(`${angles}7`).hex('0000')
}

const omnicommRecord = (place: Place, end = '') => {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]
  const fields = [scaled(place.latitude, 1e7) * 2, scaled(place.longitude, 1e7) * 2, 0, 0, 9, 0, since(2009, place)]
  const group = Buffer.from(fields.flatMap((value, i) => [(i + 1) << 3, ...varint(value)]))
  const record = concat([bytes('2b'), group, bytes('2c'), bytes(end)])
  return concat([little(2, record.length), record])
}
const omnicommFrame = (type: number, content: Buffer) => {
  const covered = w().u8(type).u16le(content.length).bytes(content).crc16(crc16CcittFalse).toBuffer()
  const pairs = [...covered].flatMap((byte) => (byte === 0xc0 ? [0xdb, 0xdc] : byte === 0xdb ? [0xdb, 0xdd] : [byte]))
  return Buffer.from([0xc0, ...pairs])
}

const pacificValue = (id: number, value: Buffer) => concat([pacificNumber(id), pacificNumber(value.length), value])
const pacificNumber = (value: number) => Buffer.of(value >> 7, (value & 0x7f) | 0x80)
const pacificPlace = (place: Place, day = +clock(place.time, 'D')) => {
  const [, month, , hour, minute, second] = (clock(place.time, 'YMDhms').match(/../g) ?? []).map(Number)
  const head = w()
    .u8(0x10)
    .u8(0x60 | month)
    .bytes([day, hour, minute, second])
  return head
    .u32(scaled(place.latitude + 90, 1e6))
    .u32(scaled(place.longitude + 180, 1e6))
    .hex('000000')
    .toBuffer()
}

const pstPlace = (place: Place, month = +clock(place.time, 'M')) => {
  const [year, , day, hour, minute, second] = (clock(place.time, 'YMDhms').match(/../g) ?? []).map(Number)
  const date = bits([year, 6], [month, 4], [day, 5], [hour, 5], [minute, 6], [second, 6])
  const angles = [place.latitude, place.longitude].map((angle) => {
    const parts = Math.round(angle * 600_000)
    return concat([u(2, Math.floor(parts / 10_000)), u(2, parts % 10_000)])
  })
  const value = concat([date, ...angles, bytes('00000000')])
  return concat([bytes('10'), measured(value)])
}
const pstFrame = (content: Buffer) => {
  const covered = w().bytes(content).crc16(crc16Xmodem).toBuffer()
  return Buffer.from([...covered].flatMap((byte) => (byte >= 0x27 && byte <= 0x29 ? [0x27, byte - 0x20] : [byte])))
}

const radarRecord = (place: Place, mask: string) => {
  const head = w().hex('0002').hex(mask).hex('831c04c01f1c').u16(42).u32(place.seconds).u32(place.seconds)
  const angles = head.bytes(latLon(place, 360_000))
  return angles.hex('0000000000789000000001000000')
}

const ruptela = (type: number, extended: string, io: string): CountedLayout => ({
  protocol: 'ruptela',
  layout: type.toString(16).padStart(2, '0'),
  most: 255,
  record: ({ seconds, latitude, longitude }) =>
    w()
      .u32(seconds)
      .hex(`00${extended}01`)
      .bytes(lonLat({ latitude, longitude }, 1e7))
      .hex('00000000090000')
      .hex(`0a${io}`),
  frame: (records) => {
    const payload = concat([u(1, 0), u(1, records.length), ...records])
    return w()
      .u16(9 + payload.length)
      .u64(Number(IMEI))
      .u8(type)
      .bytes(payload)
      .crc16(crc16Kermit, 2)
  },
  answer: () => bytes('0002640113bc'),
})

const navisBody = (body: Buffer) => {
  const head = w().ascii('@NTC').u32le(1).u32le(2).u16le(body.length).u8(xor(body))
  return head.xor().bytes(body)
}
const navisAnswer = (body: Buffer) => {
  const head = w().ascii('@NTC').u32le(2).u32le(1).u16le(body.length).u8(xor(body))
  return head.xor().bytes(body)
}
const navisOld = (place: Place, month = +clock(place.time, 'M')) => {
  const date = (clock(place.time, 'hmsDMY').match(/../g) ?? []).map(Number)
  date[4] = month - 1
  const head = w().u8(0x25).u32le(place.index).u16le(5).bytes(date).hex('00'.repeat(21)).u8(2).bytes(date)
  return head.bytes(radians(place.latitude)).bytes(radians(place.longitude)).hex('000000000000')
}
const radians = (degrees: number) => float((degrees * Math.PI) / 180)

const ymdhms = (time: number, month = +clock(time, 'M')) => {
  const [year, , ...rest] = (clock(time, 'YMDhms').match(/../g) ?? []).map(Number)
  return Buffer.of(year, month, ...rest)
}

const wliPosition = (place: Place, month?: number) => {
  const angles = [place.latitude, place.longitude].map((angle) => u(4, scaled(angle, 600_000)))
  const value = concat([bytes('0300'), ymdhms(place.time, month), ...angles, bytes('000000000000000000000000')])
  return concat([bytes('3400ff'), u(2, value.length), value, bytes('00')])
}

const bluePosition = (place: Place, month?: number) => {
  const angles = [place.latitude, place.longitude].map((angle) => {
    const parts = Math.round(angle * 600_000)
    const minutes = Math.floor(parts / 600_000) * 100 + (Math.floor(parts / 10_000) % 60)
    return concat([u(2, minutes), u(2, parts % 10_000)])
  })
  const value = concat([bytes('0000000000'), ...angles, bytes('00000000000000'), ymdhms(place.time, month)])
  return concat([u(1, value.length + 2), bytes('01'), value])
}

const solarPosition = (place: Place, month?: number) => {
  const angles = [place.latitude, place.longitude].map((angle) => u(4, scaled(angle, 1e6)))
  return concat([bytes('8113'), bytes('03'), ymdhms(place.time, month), ...angles, bytes('00000000')])
}

const thurayaSum = (content: Uint8Array) => -sum16(content) & 0xffff
const thurayaRecord = (place: Place, date = clock(place.time, 'ZMD')) =>
  w().u32(+date).u32(+clock(place.time, 'hms')).bytes(lonLat(place, 1e6)).hex('000000000000').ascii('x\0')

export const BINARY: readonly CountedLayout[] = [
  ...teltonika(),
  jt808(0x0704, 2, (count) => `${count.toString(16).padStart(4, '0')}01`),
  jt808(0x0210, 1, () => ''),
  {
    protocol: 'meitrack',
    layout: 'CCC',
    most: 250,
    record: (place) => w().u8(35).bytes(latLonLe(place, 1e6)).u32le(since(2000, place)).hex('0109140000000000000000'),
    frame: (records) => meitrack('CCC', () => w().u16le(1).u16le(24).u32le(0).toBuffer(), records),
    answer: (count) => {
      const words = `${IMEI},CCC,${count}*`
      const text = `@@A${words.length + 5},${words}`
      return `${text}${hex2(sum8(Buffer.from(text)))}\r\n`
    },
  },
  {
    protocol: 'meitrack',
    layout: 'CCE',
    most: 250,
    record: (place) => cceRecord(place, '04'),
    broken: (place) => cceRecord(place, '7f'),
    frame: (records) => meitrack('CCE', (count) => concat([u(4, 0), little(2, count)]), records),
  },
  {
    protocol: 'egts',
    most: 200,
    record: (place) => egtsRecord(place, egtsPosition(place)),
    broken: (place) => egtsRecord(place, bytes('1004000000ff00')),
    frame: (records) => {
      const data = concat(records)
      const head = w().hex('0100000b00').u16le(data.length).u16le(7).u8(1).sum(crc8Egts)
      return data.length === 0 ? head : head.bytes(data).crc16le(crc16CcittFalse, 11)
    },
    answer: (count) =>
      Array.from({ length: count }, (_, index) => {
        const head = w().hex('0100000b001000').u16le(index).u8(0).sum(crc8Egts).hex('070000')
        return head
          .hex('06000000000202000300')
          .u16le(index + 1)
          .u8(0)
          .crc16le(crc16CcittFalse, 11)
      }),
  },
  {
    protocol: 'eelink',
    transport: 'udp',
    most: 40,
    never0: 'a datagram is made of packets',
    record: ({ seconds, latitude, longitude }) =>
      w()
        .hex('676712001a0007')
        .u32(seconds)
        .u8(1)
        .bytes(latLon({ latitude, longitude }, 1.8e6))
        .hex('0000000000000900010e10'),
    broken: ({ seconds }) => w().hex('67671200060007').u32(seconds),
    frame: (records) => {
      const packets = concat(records)
      return concat([Buffer.from('EL'), u(2, packets.length + 10), bytes('0000'), bytes(FIXED_16), packets])
    },
    answer: (count) => Array.from({ length: count }, () => bytes('67671200020007')),
  },
  {
    protocol: 'gl200',
    layout: 'hex, places of a report',
    most: 40,
    never0: 'a report is sent for its places',
    record: ({ time, latitude, longitude }) => {
      const date = (clock(time, 'MDhms').match(/../g) ?? []).map(Number)
      const place = w().hex('0100000000000078').bytes(lonLat({ latitude, longitude }, 1e6)).u16(2026).bytes(date)
      return place.hex('0460000018d8614100')
    },
    frame: (records) => gl200Hex(1, concat([bytes('00'), ...records])),
  },
  {
    protocol: 'gl200',
    layout: 'hex, seconds of a report',
    most: 250,
    never0: 'a report is sent for its places',
    record: ({ seconds, latitude, longitude }) =>
      bits([3, 3], [0, 12], [0, 9], [scaled(longitude, 1e6), 32], [scaled(latitude, 1e6), 32], [seconds, 32]),
    frame: (records) => gl200Hex(100, concat([bytes('00'), u(2, records.length), ...records])),
  },
  galileo('galileo'),
  galileo('blackkite'),
  {
    protocol: 'galileo',
    layout: 'compressed',
    most: 200,
    record: (place) => {
      const [longitude, latitude] = [((place.longitude + 180) / 360) * 2 ** 22, ((place.latitude + 90) / 180) * 2 ** 21]
      const fields = [
        [0, 1],
        [since(2026, place), 25],
        [0, 1],
        [Math.round(longitude), 22],
        [Math.round(latitude), 21],
        [0, 10],
      ]
      return concat([bits(...(fields as [number, number][])), bytes('00')])
    },
    frame: (records) => galileoFrame(8, concat(records)),
    answer: acknowledged,
  },
  xexun2('lengths in front', (records) => [...records.map(({ length }) => u(2, length)), ...records]),
  xexun2('each behind its length', (records) => records.map((record) => concat([u(2, record.length), record]))),
  castel(4, 0x4001, `00${'00'.repeat(34)}`),
  castel(4, 0x1001, '00'.repeat(34)),
  castel(5, 0x4206, '00'),
  {
    protocol: 'bce',
    layout: 'structures of a block',
    most: 200,
    record: bceStructure,
    frame: (records) => {
      const block = concat([bytes('a503'), ...records])
      return w().u64le(Number(IMEI)).u16le(block.length).bytes(block).sum8()
    },
    answer: () => bceAnswer(3),
  },
  {
    protocol: 'bce',
    layout: 'blocks',
    most: 100,
    never0: 'a frame is made of blocks',
    record: (place) => {
      const structure = bceStructure(place)
      return w()
        .u16le(structure.length + 2)
        .u8(0xa5)
        .u8(place.index)
        .bytes(structure)
    },
    frame: (records) => {
      const content = w().u64le(Number(IMEI)).bytes(concat(records)).toBuffer()
      // The sum up to the third block is what that begins with: where it ends, the checksum might stand.
      const end = 8 + 2 * (records[0]?.length ?? 0)
      if (records.length > 2) content[end - 1] += content[end] - sum8(content.subarray(0, end))
      return w().bytes(content).sum8()
    },
    answer: (count) => Array.from({ length: count }, (_, key) => bceAnswer(key)),
  },
  {
    protocol: 'arnavi',
    before: [w().hex('ff22').u64le(Number(IMEI))],
    most: 200,
    record: arnaviPacket,
    frame: (records) => concat([bytes('5b07'), ...records, bytes('5d')]),
    answer: () => bytes('7b00077d'),
  },
  astra('K', 38),
  astra('K', 50),
  astra('X', 45),
  {
    protocol: 'atrack',
    layout: 'binary',
    most: 100,
    never0: 'a report has a record',
    record: (place) =>
      w()
        .bytes(concat(atrackPlace(place).map((value) => u(4, value))))
        .hex('00000200000000000a000000000000000000000000'),
    frame: (records) => {
      const covered = w()
        .u16(10 + concat(records).length)
        .u16(7)
        .u64(Number(IMEI))
        .bytes(concat(records))
        .toBuffer()
      return w().ascii('@P').u16(crc16Arc(covered)).bytes(covered)
    },
    answer: atrackAnswer,
  },
  {
    protocol: 'atrack',
    layout: 'text',
    most: 100,
    never0: 'a report has a record',
    record: (place) => `${atrackPlace(place).join(',')},0,2,0,10,0,0,0,0,,0,0,\r\n`,
    broken: (place) => `${place.seconds},x\r\n`,
    frame: (records) => {
      const rest = `,7,${IMEI},${records.join('')}`
      const covered = `,${rest.length}${rest}`
      return `@P,${crc16Arc(Buffer.from(covered)).toString(16).toUpperCase().padStart(4, '0')}${covered}`
    },
    answer: atrackAnswer,
  },
  {
    protocol: 'at2000',
    before: [concat([bytes(`01012f${'00'.repeat(14)}`), Buffer.from(IMEI), VECTOR, FIRST])],
    most: 500,
    record: (place) => {
      const head = w().u32(0).u64le(place.seconds).bytes(float(place.latitude)).bytes(float(place.longitude))
      return concat([head.toBuffer(), Buffer.alloc(42), bytes('09')])
    },
    broken: () => Buffer.alloc(63, 1),
    frame: (records) => {
      const content = concat(records)
      const filled = concat([content, Buffer.alloc((16 - (content.length % 16)) % 16)])
      return concat([w().u8(0x89).u32le(content.length).hex('00'.repeat(11)).toBuffer(), encrypted(filled, FIRST)])
    },
  },
  {
    protocol: 'dmt',
    layout: '04',
    most: 200,
    record: (place) => {
      const angles = [place.latitude, place.longitude].map((angle) => little(4, scaled(angle, 1e7)))
      return dmtRecord(
        place,
        concat([bytes('0015'), little(4, since(2013, place)), ...angles, bytes('000000000000000001')]),
      )
    },
    broken: (place) => dmtRecord(place, bytes('0004000000ff')),
    frame: (records) => dmtFrame(4, concat(records)),
  },
  {
    protocol: 'dmt',
    layout: '10',
    most: 200,
    record: (place) => dmtCompact(place),
    broken: (place) => dmtCompact(place, 14),
    frame: (records) => dmtFrame(0x10, concat(records)),
  },
  {
    protocol: 'dolphin',
    most: 200,
    record: (place) => {
      const angles = [place.latitude, place.longitude].map((angle, i) =>
        concat([u(1, ((i + 1) << 3) | 5), float(angle)]),
      )
      return concat([bytes('0a0f'), ...angles, bytes('45'), little(4, place.seconds)])
    },
    broken: () => bytes('0a05450a000000'),
    frame: (records) => {
      const content = concat(records)
      return w().hex('ababff8f0300000100000100').u64le(Number(IMEI)).u32le(content.length).u32(0).bytes(content)
    },
    answer: () => bytes('ababff8f03000000020002000000000000000801'),
  },
  {
    protocol: 'dsf22',
    most: 255,
    record: (place) => w().bytes(latLonLe(place, 1e7)).u32le(place.seconds).hex('00000001'),
    frame: (records) => concat([Buffer.from('FB'), bytes('0700'), u(1, records.length), ...records]),
    answer: () => bytes('01'),
  },
  {
    protocol: 'fleetguide',
    most: 70,
    record: (place) => {
      const [latitude, longitude] = [scaled(place.latitude, 2 ** 32 / 90), scaled(place.longitude, 2 ** 32 / 180)]
      return w()
        .hex('0700')
        .u32le(since(2010, place))
        .hex('000000')
        .hex('0e04')
        .u32le(latitude)
        .u32le(longitude)
        .hex('000000480000')
    },
    frame: (records) => {
      const content = concat(records)
      return w().u8(0x53).u16le(content.length).u32le(77).u8(4).bytes(content).crc16le(crc16CcittFalse, 1)
    },
  },
  {
    protocol: 'g1rus',
    most: 200,
    record: (place) => w().u32(since(2000, place)).u16(2).hex('0b000309').bytes(latLon(place, 1e6)),
    broken: (place) => w().u32(since(2000, place)).u16(2).hex('03000409'),
    frame: (records) => {
      const content = concat([u(1, records.length), ...records])
      return escapedF8(concat([bytes('4604'), u(7, Number(IMEI)), u(2, content.length), content]))
    },
  },
  {
    protocol: 'gs100',
    before: [concat([Buffer.from('GLI'), measured(Buffer.from(IMEI)), bytes('0000')])],
    most: 255,
    record: (place) => {
      const digits = `${nmea(place.longitude, 3)}C${nmea(place.latitude, 2)}`.replaceAll('.', '')
      return measured(w().hex('000000').hex(clock(place.time, 'hmsDMY')).hex(digits).hex('00000000').toBuffer())
    },
    broken: () => bytes('03000000'),
    frame: (records) => concat([Buffer.from('GD'), u(1, records.length), ...records]),
    answer: (count) => concat([Buffer.from('GS100'), u(1, count)]),
  },
  {
    protocol: 'granit',
    most: 150,
    record: granitPlace,
    frame: (records) => {
      const content = w().u16le(77).hex('0400').u16le(9).u32le(START).bytes(concat(records)).hex('3e00').toBuffer()
      return granitClosed(w().ascii('+DDAT~').u16le(content.length).bytes(content).toBuffer())
    },
    answer: () => granitClosed(w().ascii('BB+ARCF~').u16le(4).u16le(9).u16le(77).toBuffer()),
  },
  {
    protocol: 'hyn600',
    most: 200,
    record: (place) => hyn600Place(place),
    broken: (place) => hyn600Place(place, 14),
    frame: (records) => {
      const content = concat([bytes('2203020100000001100000'), u(1, records.length), ...records])
      const tail = bytes(`${'00'.repeat(22)}07ea05080a08130766`)
      return w()
        .ascii('+RPT:')
        .u16(16 + content.length + tail.length)
        .hex('560a4c0816342802')
        .bytes(content)
        .bytes(tail)
        .ascii('#')
    },
  },
  {
    protocol: 'iotm',
    most: 200,
    record: (place) => iotmRecord(place, 0x0e),
    broken: (place) => iotmRecord(place, 0x40),
    frame: (records) => w().hex('020208000100000000000000').bytes(concat(records)).sum8(),
  },
  {
    protocol: 'jt600',
    most: 75,
    never0: 'a packet is sent for its positions',
    record: (place) => concat([packedPlace(place).toBuffer(), Buffer.alloc(27)]).subarray(0, 27),
    broken: (place) => concat([packedPlace(place, '321326').toBuffer(), Buffer.alloc(27)]).subarray(0, 27),
    frame: (records) => concat([bytes('2412345678901a'), u(2, 27 * records.length), ...records, bytes('01')]),
  },
  {
    protocol: 'minifinder2',
    most: 100,
    record: (place) => {
      const angles = [place.latitude, place.longitude].map((angle) => little(4, scaled(angle, 1e7)))
      return concat([
        bytes('0924'),
        little(4, place.seconds),
        bytes('000000001620'),
        ...angles,
        bytes('0000000000000a000000000009'),
      ])
    },
    frame: (records) => {
      const body = concat([bytes('011001'), Buffer.from(IMEI), ...records])
      return w().hex('ab10').u16le(body.length).u16le(crc16Xmodem(body)).u16le(7).bytes(body)
    },
    answer: () =>
      w()
        .hex('ab000300')
        .u16le(crc16Xmodem(bytes('7f0100')))
        .u16le(7)
        .hex('7f0100'),
  },
  {
    protocol: 'naviset',
    before: [w().hex('1110').hex('0100').ascii(IMEI).crc16le(crc16Modbus)],
    most: 200,
    record: (place) => w().hex('000000').u32le(place.seconds).bytes(latLonLe(place, 1e6)).u16le(0),
    frame: (records) => {
      const content = concat([bytes('010000'), ...records])
      return w()
        .u16le(0x2000 | content.length)
        .bytes(content)
        .crc16le(crc16Modbus)
    },
    answer: (_, frame) => concat([bytes('01'), frame.subarray(-2)]),
  },
  {
    protocol: 'navis',
    layout: '~A',
    before: [
      navisBody(Buffer.from(`*>S:${IMEI}`)),
      navisBody(w().ascii('*>FLEX').hex('b010100b').hex('80e0').toBuffer()),
    ],
    most: 255,
    never0: 'its framer looks for the next frame behind it',
    record: (place) => w().u32le(place.index).u32le(place.seconds).bytes(latLonLe(place, 6e5)),
    frame: (records) => w().ascii('~A').u8(records.length).bytes(concat(records)).sum(crc8Egts),
    answer: (count) => w().ascii('~A').u8(count).sum(crc8Egts),
  },
  {
    protocol: 'navis',
    layout: '*>A',
    before: [navisBody(Buffer.from(`*>S:${IMEI}`))],
    most: 200,
    record: (place) => navisOld(place),
    broken: (place) => navisOld(place, 14),
    frame: (records) => navisBody(concat([Buffer.from('*>A'), u(1, records.length), ...records])),
    answer: (count) => navisAnswer(concat([Buffer.from('*<A'), u(1, count)])),
  },
  {
    protocol: 'nvs',
    most: 200,
    record: (place) => w().u32(place.seconds).u8(0).bytes(lonLat(place, 1e7)).hex('0000000009000000000000000000'),
    frame: (records) => {
      const content = w().u64(Number(IMEI)).u8(8).u8(records.length).bytes(concat(records)).toBuffer()
      return w().hex('cccccccc').u16(content.length).bytes(content).crc16(crc16Arc, 6)
    },
  },
  {
    protocol: 'omnicomm',
    before: [omnicommFrame(0x80, bytes('61a6191500000000'))],
    most: 200,
    record: (place) => omnicommRecord(place),
    broken: (place) => omnicommRecord(place, '2f'),
    frame: (records) => omnicommFrame(0x86, concat([bytes('00'.repeat(9)), ...records])),
  },
  {
    protocol: 'pacifictrack',
    most: 60,
    record: (place) => pacificValue(0x10, pacificPlace(place)),
    broken: (place) => pacificValue(0x10, pacificPlace(place, 32)),
    frame: (records) => {
      const content = concat([pacificValue(0x100, bytes(`${IMEI}0`)), ...records])
      return concat([bytes('fb00'), pacificNumber(content.length), content])
    },
  },
  {
    protocol: 'pst',
    transport: 'udp',
    most: 80,
    record: (place) => pstPlace(place),
    broken: (place) => pstPlace(place, 14),
    frame: (records) => pstFrame(concat([bytes('0000004d0100000007050000000000'), u(1, records.length), ...records])),
    answer: () => concat([bytes('28'), pstFrame(bytes('0000004d01000000070005')), bytes('29')]),
  },
  {
    protocol: 'radar',
    most: 200,
    record: (place) => radarRecord(place, '07ff'),
    broken: (place) => radarRecord(place, '07fe'),
    frame: (records) => {
      const content = concat(records)
      const head = w()
        .hex('3618')
        .u32(70_123)
        .u8(1)
        .u32(START)
        .u8(0x4c)
        .u16(24 + content.length)
      return head.hex('01ff003500500038').bytes(content).crc16(crc16CcittFalse)
    },
  },
  {
    protocol: 'radshid',
    most: 200,
    record: (place) => {
      const head = w().hex('00'.repeat(9)).u32(place.seconds).hex('00'.repeat(14)).hex('a000')
      const angles = head.bytes(latLon(place, 1e7))
      return concat([angles.hex('0000000009').toBuffer(), Buffer.alloc(44)]).subarray(0, 44)
    },
    frame: (records) => {
      const content = concat([bytes('010000004d'), u(1, records.length), ...records, bytes('0000')])
      return w().u32le(content.length).bytes(content)
    },
    answer: (_, frame) =>
      w()
        .hex('070000008201')
        .u32le(frame.length - 4)
        .u8(1),
  },
  ruptela(0x01, '', '0000000000'),
  ruptela(0x44, '00', '000000000000'),
  {
    protocol: 'satsol',
    most: 200,
    record: (place) => {
      const head = w().hex('0000000000000000').u32le(place.seconds)
      return head.bytes(latLonLe(place, 1e6)).hex('00000000000001090000')
    },
    frame: (records) => {
      const content = w().hex('bf4c4d000000').u16le(concat(records).length).bytes(concat(records)).toBuffer()
      return concat([little(2, crc16CcittFalse(content)), content])
    },
    answer: () => concat([little(2, crc16CcittFalse(bytes('bf4c4d0000000000'))), bytes('bf4c4d0000000000')]),
  },
  {
    protocol: 'thinkpower',
    before: [w().hex('010700120000').u8(15).ascii(IMEI).crc16(crc16CcittFalse)],
    most: 255,
    record: (place) => w().u32(place.seconds).u8(1).bytes(latLon(place, 1e7)).u32(0),
    frame: (records) => {
      const content = concat([u(1, records.length), ...records])
      return w().hex('0507').u16(content.length).bytes(content).crc16(crc16CcittFalse)
    },
    answer: () => w().hex('06070000').crc16(crc16CcittFalse),
  },
  {
    protocol: 'thuraya',
    most: 255,
    record: (place) => thurayaRecord(place),
    broken: (place) => thurayaRecord(place, '20261399'),
    frame: (records) => {
      const content = concat([u(1, records.length), ...records])
      return w()
        .ascii('#T')
        .u16(12 + content.length)
        .u16(0x7101)
        .u32(77)
        .bytes(content)
        .crc16(thurayaSum)
    },
    answer: () => w().ascii('#T').u16(0x0f).u16(0x9901).u32(77).u16(0x7101).u16(1).crc16(thurayaSum),
  },
  {
    protocol: 'tytan',
    most: 80,
    record: (place) => {
      const angles = [scaled(90 - place.latitude, 2 ** 24 / 180), scaled(place.longitude + 180, 2 ** 24 / 360)]
      return w()
        .u8(14)
        .u32(place.seconds)
        .u8(36)
        .bytes(concat(angles.map((angle) => u(3, angle))))
        .hex('0000')
    },
    frame: (records) => {
      const content = concat([bytes('080000004d'), ...records])
      return w()
        .u8(0xb5)
        .u16(content.length + 2)
        .bytes(content)
        .crc16(crc16Arc)
    },
    answer: () => '^1',
  },
  {
    protocol: 'wialoncombine',
    before: [w().hex('2424000001').u16(18).hex('0140').ascii(`${IMEI}\0`).crc16(crc16Arc)],
    most: 200,
    record: (place) => w().u32(place.seconds).hex('0101').bytes(latLon(place, 1e6)).hex('00000000000009000a'),
    frame: (records) => {
      const content = concat(records)
      return w().hex('2424010007').u16(content.length).bytes(content).crc16(crc16Arc)
    },
    answer: () => bytes('4040000007'),
  },
  {
    protocol: 't800x',
    layout: 'packets of a datagram',
    transport: 'udp',
    most: 20,
    never0: 'a datagram is made of packets',
    record: (place) => {
      const date = w().hex('40').hex('00'.repeat(19)).bcdTime(place.time)
      const angles = [float(0), float(place.longitude), float(place.latitude)]
      return w()
        .hex('2323020042')
        .u16(place.index + 1)
        .hex(FIXED_16)
        .hex('00'.repeat(9))
        .bytes(date.toBuffer())
        .bytes(concat(angles))
        .u32(0)
    },
    frame: (records) => concat(records),
    answer: (count) => Array.from({ length: count }, () => w().hex('232302000f0001').hex(FIXED_16)),
  },
  {
    protocol: 'castel',
    layout: 'packets of a datagram',
    transport: 'udp',
    most: 20,
    never0: 'a datagram is made of packets',
    record: (place) => castelFrame(5, 0x4001, castelPosition(place).toBuffer()),
    frame: (records) => concat(records),
    answer: (count) => Array.from({ length: count }, () => castelFrame(5, 0x8001, Buffer.alloc(0))),
  },
  {
    protocol: 'wli',
    before: [bytes(`0232${Buffer.from('wli:7').toString('hex')}03`)],
    most: 60,
    record: (place) => wliPosition(place),
    broken: (place) => wliPosition(place, 14),
    frame: (records) => {
      const content = concat([bytes('310001000000000000'), ...records])
      const pairs = [...content].flatMap((byte) =>
        byte === 2 || byte === 3 ? [0xdb, 0xd0 + byte] : byte === 0xdb ? [] : [byte],
      )
      return Buffer.from([2, ...pairs, 3])
    },
  },
  {
    protocol: 'blue',
    most: 60,
    record: (place) => bluePosition(place),
    broken: (place) => bluePosition(place, 14),
    frame: (records) => {
      const content = concat([bytes('01010000004d'), bytes('068401000000'), ...records])
      return w()
        .u8(0xaa)
        .u16(content.length + 3)
        .bytes(content)
        .xor(1)
    },
    answer: () => w().hex('aa000b860006a400').u8(1).u16(0).xor(1),
  },
  {
    protocol: 'solarpowered',
    most: 60,
    never0: 'types without a position are not known',
    record: (place) => solarPosition(place),
    broken: (place) => solarPosition(place, 14),
    frame: (records) => {
      const content = concat(records)
      return w().u8(0x7e).hex(`${IMEI}0`).u8(1).u16(content.length).bytes(content).xor(1).u8(0x7e)
    },
  },
  {
    protocol: 'ndtpv6',
    most: 60,
    never0: 'which cells a frame without a position has is not known',
    record: ({ seconds, latitude, longitude }) =>
      w()
        .hex('0000')
        .u32le(seconds)
        .bytes(lonLatLe({ latitude, longitude }, 1e7))
        .hex('e000000000000000')
        .hex('000000000900'),
    frame: (records) => {
      const content = w().hex('0100650001000700').hex('0000').bytes(concat(records)).toBuffer()
      return w().hex('7e7e').u16le(content.length).u16(0).u16(crc16Modbus(content)).hex('02000000000000').bytes(content)
    },
    answer: () => {
      const content = w().hex('010000000000').u32le(7).u32(0).toBuffer()
      return w().hex('7e7e0e000200').u16(crc16Modbus(content)).hex('02000000000000').bytes(content)
    },
  },
  {
    protocol: 'snapper',
    most: 100,
    record: (place) => {
      const [t, d] = [clock(place.time, 'hms'), clock(place.time, 'DMY')]
      const text = Buffer.from(
        JSON.stringify({ f: 1, t, d, la: nmea(place.latitude, 2), lo: nmea(place.longitude, 3) }),
      )
      return w().u16le(0x32).u16le(text.length).bytes(text)
    },
    broken: () => {
      const text = Buffer.from('{"la":"5230.0000","lo":"01324.0000"}')
      return w().u16le(0x32).u16le(text.length).bytes(text)
    },
    frame: (records) => {
      const content = concat([little(2, records.length), ...records])
      const head = w().hex('4b03').u32(0).u32le(77).u16(0).u32le(content.length).u32(0).u16le(7).u16le(0x3701).u8(0)
      return head.bytes(content)
    },
    answer: () => w().hex('4b03').u64(0).u16(0).u32le(2).u32(0).u16le(7).hex('9a3700').ascii('OK'),
  },
]

const START = Date.UTC(2026, 10, 20, 6, 0, 0) / 1000

function gl200Hex(type: number, content: Buffer): Buffer {
  const length = 4 + 1 + 4 + 2 + 5 + 8 + content.length + 7 + 2 + 2 + 2
  const head = w().ascii('+RSP').u8(type).u32(0).u16(length).hex('0102030405').hex('233f07042a0a0d03')
  return bufferOf(head.bytes(content).hex('07ea0b14060000').hex('11f0').crc16(crc16CcittFalse, 4).ascii('\r\n'))
}
