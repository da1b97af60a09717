import { crc8Egts, xor } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, many, type OwnFrame, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '356307042441013'

const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  altitude: -12.3,
  speed: 15,
  heading: 214,
  satellites: 9,
}
const degrees = (angle: number) => (Math.fround((angle * Math.PI) / 180) * 180) / Math.PI
const OLD_FIX = {
  time: FIX.time,
  latitude: degrees(FIX.latitude),
  longitude: degrees(FIX.longitude),
  speed: FIX.speed,
  heading: FIX.heading,
}
const POWER = { external_voltage: 12.365, battery_voltage: 4.108 }
const F52_FIX = { ...OLD_FIX, satellites: 9, said: POWER }
const SECONDS = Date.UTC(2026, 10, 20, 6, 30, 15) / 1000

const DATE = '061e0f 14 0a 1a'

/** Fields 1–3, 8–14: what FLEX 1.0 needs for a fix. */
const PLACE = [1, 2, 3, 8, 9, 10, 11, 12, 13, 14]
/** With HDOP, and two fields above 122, here of three bytes. */
const UNKNOWN = [...PLACE, 71, 123, 206]

const LOGIN: OwnFrame = {
  frame: ntcb(Buffer.from(`*>S:${IMEI}`)),
  device: IMEI,
  none: 'login',
  reply: answered(Buffer.from('*<S')),
}

export default {
  costly: {
    pings: many('\x7f'),
    'starts of FLEX': many('~'),
    'starts of NTCB': many('@NTC'),
    'an old record of dates': ntcb(
      Buffer.concat([Buffer.from('*>T'), bytes('04 00000000 0000 06060f140a1a'), manyDates()]),
    ),
    'old records without content': ntcb(Buffer.concat([Buffer.from('*>A\xff', 'latin1'), Buffer.alloc(255 * 250)])),
    'further data without content': withSum(Buffer.concat([bytes('7e45ff'), Buffer.alloc(510)])),
  },
  frames: [
    {
      title: 'FLEX 1.0',
      frames: [
        LOGIN,
        flexOf(0x0a, 69, PLACE),
        {
          frame: withSum(Buffer.concat([bytes('7e41 02'), record(7), record(8)])),
          fixes: [FIX, FIX],
          reply: withSum(bytes('7e41 02')),
        },
        {
          frame: withSum(Buffer.concat([bytes('7e54 09000000'), record(9, { state: 0x24 })])),
          fixes: [{ ...FIX, valid: false }],
          reply: withSum(bytes('7e54 09000000')),
        },
        { frame: withSum(Buffer.concat([bytes('7e43'), record(10)])), fixes: [FIX], reply: withSum(bytes('7e43')) },
        { frame: Buffer.of(0x7f), none: 'ping' },
        { frame: withSum(bytes('7e45 02 0100aa 0200bbcc')), fixes: [], reply: withSum(bytes('7e45 02')) },
        { frame: withSum(bytes('7e58 05000000 0100aa')), fixes: [], reply: withSum(bytes('7e58 05000000')) },
        flexOf(0x0a, 69, [...PLACE, 19, 20]),
        {
          frame: withSum(Buffer.concat([bytes('7e43'), record(10), bytes('4d30 0c10')])),
          fixes: [{ ...FIX, said: POWER }],
          reply: withSum(bytes('7e43')),
        },
        flexOf(0x0a, 69, [1, 3]),
        { frame: withSum(bytes('7e43 0a000000 00000000')), none: 'no place', reply: withSum(bytes('7e43')) },
        { frame: flexOf(0x0a, 69, []).frame, error: 'malformed' },
      ],
    },
    {
      title: 'FLEX 3.0 with fields of lengths that are not public',
      frames: [
        LOGIN,
        flexOf(0x1e, 255, UNKNOWN),
        {
          frame: withSum(Buffer.concat([bytes('7e41 03'), ...[7, 8, 9].map((number) => wide(number))])),
          fixes: [1, 2, 3].map(() => ({ ...FIX, hdop: 0.9 })),
          reply: withSum(bytes('7e41 03')),
        },
        {
          frame: withSum(Buffer.concat([bytes('7e54 0a000000'), wide(10)])),
          fixes: [{ ...FIX, hdop: 0.9 }],
          reply: withSum(bytes('7e54 0a000000')),
        },
        {
          frame: withSum(Buffer.concat([bytes('7e43'), wide(11)])),
          fixes: [{ ...FIX, hdop: 0.9 }],
          reply: withSum(bytes('7e43')),
        },
      ],
    },
    {
      title: 'FLEX 3.0, a single record before any array',
      frames: [
        flexOf(0x1e, 255, UNKNOWN),
        {
          frame: withSum(Buffer.concat([bytes('7e54 0a000000'), wide(10)])),
          fixes: [{ ...FIX, hdop: 0.9 }],
          reply: withSum(bytes('7e54 0a000000')),
        },
      ],
    },
    {
      title: 'records of the time before FLEX',
      frames: [
        LOGIN,
        {
          frame: ntcb(Buffer.concat([Buffer.from('*>T'), f52(0x0102)])),
          fixes: [F52_FIX],
          reply: answered(Buffer.concat([Buffer.from('*<T'), bytes('02010000')])),
        },
        {
          frame: ntcb(Buffer.concat([Buffer.from('*>A\x02', 'latin1'), f52(1), f52(2)])),
          fixes: [F52_FIX, F52_FIX],
          reply: answered(bytes('2a3c41 02')),
        },
        {
          frame: ntcb(Buffer.concat([Buffer.from('*>T'), f6()])),
          fixes: [{ ...FIX, said: POWER }],
          reply: answered(bytes('2a3c54 01000000')),
        },
        {
          frame: ntcb(Buffer.concat([Buffer.from('*>T'), unknownFormat()])),
          fixes: [OLD_FIX],
          reply: answered(bytes('2a3c54 01000000')),
        },
        {
          frame: ntcb(Buffer.concat([Buffer.from('*>T'), unknownFormat().fill(0, 20)])),
          fixes: [],
          reply: answered(bytes('2a3c54 01000000')),
        },
        {
          frame: ntcb(Buffer.concat([Buffer.from('*>A\x02', 'latin1'), f52(1), f52(2).fill(0, 30)])),
          fixes: [F52_FIX],
          unreadable: [1],
          reply: answered(bytes('2a3c41 02')),
        },
        { frame: ntcb(Buffer.from('*@CNT_ERC OK')), none: 'command answer' },
        { frame: ntcb(Buffer.from('*>Q')) },
        {
          frame: ntcb(Buffer.from('*>A\x02abc')),
          error: 'malformed',
          envelope: { reply: answered(Buffer.from('*<A\x02')) },
        },
      ],
    },
  ],
} satisfies ProtocolCases

/** A message of a device 123 to a server 1. */
function ntcb(body: Buffer): Buffer {
  return envelope(1, 123, body)
}

function answered(body: Buffer): Buffer {
  return envelope(123, 1, body)
}

function envelope(receiver: number, sender: number, body: Buffer): Buffer {
  const start = [Buffer.from('@NTC'), le(4, receiver), le(4, sender), le(2, body.length & 0xffff), u(1, xor(body))]
  const head = Buffer.concat(start)
  return Buffer.concat([head, u(1, xor(head)), body])
}

/** The fields that records will have. */
function flexOf(version: number, size: number, fields: readonly number[]): OwnFrame {
  const mask = Buffer.alloc(Math.ceil(size / 8))
  for (const field of fields) mask[(field - 1) >> 3] |= 0x80 >> ((field - 1) & 7)
  const head = Buffer.concat([Buffer.from('*>FLEX'), bytes('b0'), Buffer.of(version, version)])
  return {
    frame: ntcb(Buffer.concat([head, Buffer.of(size), mask])),
    none: 'settings',
    reply: answered(Buffer.concat([Buffer.from('*<FLEX'), bytes('b0'), Buffer.of(version, version)])),
  }
}

function record(number: number, { state = 0x26 } = {}): Buffer {
  const place = [i32(Math.round(FIX.latitude * 6e5)), i32(Math.round(FIX.longitude * 6e5)), i32(-123)]
  return Buffer.concat([
    le(4, number),
    le(2, 5),
    le(4, SECONDS + 1),
    u(1, state),
    le(4, SECONDS),
    ...place,
    f32(54),
    le(2, 214),
  ])
}

function wide(number: number): Buffer {
  return Buffer.concat([record(number), bytes('0914 aabbcc')])
}

function withSum(content: Buffer): Buffer {
  return Buffer.concat([content, u(1, crc8Egts(content))])
}

/** F5.2: a place in radians, 34 bytes from the beginning. */
function f52(number: number): Buffer {
  return Buffer.concat([
    bytes('25'),
    le(4, number),
    bytes(`0500 ${DATE} 082918 24 00 4d30 0c10`),
    Buffer.alloc(12),
    oldPlace(),
    Buffer.alloc(10),
  ])
}

function unknownFormat(): Buffer {
  return Buffer.concat([bytes('15 01000000'), bytes(`0500 ${DATE}`), Buffer.alloc(9), oldPlace(), Buffer.alloc(10)])
}

function oldPlace(): Buffer {
  const angles = [FIX.latitude, FIX.longitude].map((angle) => f32((angle * Math.PI) / 180))
  return Buffer.concat([bytes(`0f ${DATE}`), ...angles, f32(54), le(2, 214)])
}

function f6(): Buffer {
  const angles = [FIX.latitude, FIX.longitude].map((angle) => i32(Math.round(angle * 6e5)))
  const place = [bytes(`27 ${DATE}`), ...angles, i32(-123), f32(54), le(2, 214)]
  return Buffer.concat([
    bytes(`06 01000000 0500 ${DATE} 0000000000 4d30 0c10`),
    Buffer.alloc(52),
    ...place,
    Buffer.alloc(12),
  ])
}

function manyDates(): Buffer {
  return Buffer.alloc(COSTLY_SIZE - 100, bytes('06060f140a1a'))
}

function le(size: number, value: number): Buffer {
  return Buffer.from(u(size, value).toReversed())
}

function i32(value: number): Buffer {
  return le(4, value >>> 0)
}

function f32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeFloatLE(value)
  return buffer
}
