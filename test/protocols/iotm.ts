import { kmh, sum8 } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

function payload(...records: readonly Buffer[]): Buffer {
  const content = Buffer.concat([bytes('02020800 0100000000000000'), ...records])
  return Buffer.concat([content, Buffer.of(sum8(content))])
}

function record(type: number, content: Buffer): Buffer {
  const head = Buffer.alloc(3)
  head[0] = type
  head.writeUInt16LE(content.length, 1)
  return Buffer.concat([head, content])
}

const TIME = Buffer.alloc(4)
TIME.writeUInt32LE(1714558530)
const POSITION = Buffer.alloc(16)
POSITION.writeFloatLE(52.525, 0)
POSITION.writeFloatLE(-13.41, 4)
POSITION.writeUInt16LE(36, 8)
POSITION.set([9, 8], 10)
POSITION.writeUInt16LE(270, 12)
POSITION.writeInt16LE(-34, 14)
const VALUES = bytes('0d02b0 00000040bf9ffc40 060050 16a1c101 050030 6b2f 030830')
const REPORT = record(1, Buffer.concat([TIME, VALUES, bytes('0e00d0'), POSITION, bytes('006d00010200')]))
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: Math.fround(52.525),
  longitude: Math.fround(-13.41),
  altitude: -34,
  speed: kmh(36),
  heading: 270,
  hdop: 0.9,
  satellites: 8,
  said: { moving: true, external_voltage: 12.139, driver: '29466902' },
}
const UNKNOWN_VALUE = record(1, Buffer.concat([TIME, bytes('7f0000')]))

export default {
  costly: {
    'records without content': payload(Buffer.alloc(COSTLY_SIZE - 100)),
    'reports that cannot be read': payload(...Array.from({ length: 6000 }, () => UNKNOWN_VALUE)),
  },
  frames: [
    {
      title: 'reports with and without a place, sensors, and what is not known',
      frames: [
        { frame: payload(REPORT, record(3, Buffer.alloc(10)), REPORT), fixes: [FIX, FIX] },
        { frame: payload(REPORT, UNKNOWN_VALUE), fixes: [FIX], unreadable: [1] },
        {
          frame: payload(record(1, Buffer.concat([TIME, VALUES, bytes('000200')]))),
          none: 'no place',
          said: { ...FIX.said, moving: false },
        },
        { frame: payload(record(3, Buffer.alloc(10))), none: 'no place' },
        { frame: payload(record(9, Buffer.alloc(10))) },
        { frame: bytes('0304'), error: 'checksum' },
      ],
    },
  ],
} satisfies ProtocolCases
