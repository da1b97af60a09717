import { sum16 } from '../../protocols/kit/index.ts'
import { unescapeMarks } from '../../protocols/xexun2/escapes.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

function frame(content: Buffer, kind = '0014'): Buffer {
  const sum = u(2, ~sum16(content) & 0xffff)
  return Buffer.concat([bytes(`faaf ${kind} 000a 8622050500000170`), u(2, content.length), sum, content, bytes('faaf')])
}

const records = (...list: readonly Buffer[]) =>
  Buffer.concat([Buffer.of(list.length), ...list.map((each) => u(2, each.length)), ...list])
const record = (parts: string, content: Buffer, battery = '005e') =>
  Buffer.concat([bytes('00'), u(4, 1714558530), bytes(`00 ${battery} ${parts}`), content])
const behindLength = (each: Buffer) => Buffer.concat([u(2, each.length), each])
const GPS = Buffer.alloc(9)
GPS[0] = 8
GPS.writeFloatBE(-1324.5, 1)
GPS.writeFloatBE(5231.5, 5)
const DOUBLES = Buffer.alloc(27)
DOUBLES.writeDoubleBE(-1324.6, 0)
DOUBLES.writeDoubleBE(5231.5, 8)
DOUBLES.set([1, 8], 16)
DOUBLES.writeFloatBE(34.5, 23)
const EXTENDED = Buffer.concat([bytes('001e 47 001b'), DOUBLES])
const CELL = bytes('01 00cc 0008 0000fb2e 0013572a 36')
const SAID = { battery_percent: 94, charging: false }
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13 - 24.5 / 60, satellites: 8, said: SAID }
const ANSWER = { device: '862205050000017', reply: frame(bytes('01')) }
const WIFI = bytes('06 02 64cc2296f840da 2aa884f008c874')

const tagged = (seconds: number) =>
  Buffer.concat([
    bytes('00 1f'),
    u(4, seconds),
    GPS.subarray(1),
    DOUBLES.subarray(23),
    bytes('08 23 021c 0a8c 01 07 001d 26242121 01'),
  ])
const TAGGED_FIX = { ...FIX, altitude: 34.5, speed: 15, heading: 270, said: undefined }

export default {
  costly: {
    'records without content': frame(Buffer.concat([bytes('ff'), Buffer.alloc(COSTLY_SIZE - 100)])),
    escapes: Buffer.concat([bytes('faaf'), Buffer.alloc(COSTLY_SIZE, 0xfb), bytes('faaf')]),
  },
  frames: [
    {
      title: 'places behind tags',
      frames: [
        {
          frame: frame(Buffer.concat([tagged(1714558530), bytes('01 02 abcd'), tagged(1714558560)]), '0020'),
          ...ANSWER,
          fixes: [TAGGED_FIX, { ...TAGGED_FIX, time: '2024-05-01T10:16:00Z' }],
          reply: frame(bytes('01'), '0020'),
        },
        {
          frame: frame(bytes('00 00 02 02 abcd'), '0020'),
          ...ANSWER,
          none: 'no place',
          reply: frame(bytes('01'), '0020'),
        },
        ...(
          [
            [0x6632faaf, 'fbbf02'],
            [0x6632fbbf, 'fbbf01'],
          ] as const
        ).map(([seconds, code]) => ({
          frame: bytes(frame(tagged(seconds), '0020').toString('hex').replace(seconds.toString(16), `6632${code}`)),
          ...ANSWER,
          fixes: [{ ...TAGGED_FIX, time: new Date(seconds * 1000).toISOString() }],
          reply: frame(bytes('01'), '0020'),
        })),
        {
          frame: frame(bytes('00 04 66323502'), '0020'),
          ...ANSWER,
          error: 'truncated',
          reply: frame(bytes('01'), '0020'),
        },
      ],
    },
    {
      title: 'places as floats and doubles, wifi, and parts that are not known',
      frames: [
        { frame: frame(records(record('02', Buffer.concat([bytes('01'), GPS])))), fixes: [FIX], ...ANSWER },
        {
          frame: frame(records(record('82', WIFI), record('02', Buffer.concat([bytes('80'), EXTENDED])))),
          fixes: [{ ...FIX, longitude: -13.41, altitude: 34.5 }],
          ...ANSWER,
        },
        {
          frame: frame(records(record('02', Buffer.concat([bytes('86 01 64cc2296f840da'), CELL, EXTENDED])))),
          fixes: [{ ...FIX, longitude: -13.41, altitude: 34.5 }],
          ...ANSWER,
        },
        {
          frame: frame(records(...[0, 1, 2].map(() => record('02', Buffer.concat([bytes('01'), GPS]), '8014')))),
          fixes: [0, 1, 2].map(() => ({ ...FIX, said: { battery_percent: 20, charging: true } })),
          ...ANSWER,
        },
        {
          frame: frame(records(record('02', bytes('01')), record('02', Buffer.concat([bytes('01'), GPS])))),
          fixes: [FIX],
          unreadable: [0],
          ...ANSWER,
        },
        {
          frame: frame(
            Buffer.concat([
              bytes('02'),
              ...[GPS, GPS].map((gps) => behindLength(record('02', Buffer.concat([bytes('01'), gps])))),
            ]),
          ),
          fixes: [FIX, FIX],
          ...ANSWER,
        },
        { frame: frame(records(Buffer.alloc(9))), none: 'no place', ...ANSWER },
        { frame: frame(bytes('02 0004')), error: 'truncated', envelope: ANSWER },
        { frame: frame(records(record('82', WIFI))), none: 'no place', said: SAID, ...ANSWER },
        { frame: frame(records(record('04', WIFI))), none: 'no place', said: SAID, ...ANSWER },
        { frame: frame(records(record('03', WIFI))), fixes: [], said: SAID, ...ANSWER },
        {
          frame: Buffer.from(frame(bytes('00')).toString('hex').replace('000a', 'fbbf02'), 'hex'),
          none: 'no place',
          device: ANSWER.device,
          reply: Buffer.from(frame(bytes('01')).toString('hex').replace('000a', 'fbbf02'), 'hex'),
        },
      ],
    },
  ],
  unescaped: (content) =>
    Buffer.concat([content.subarray(0, 2), unescapeMarks(content.subarray(2, -2)), content.subarray(-2)]),
} satisfies ProtocolCases
