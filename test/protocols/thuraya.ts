import { kmh, sum16 } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const summed = (content: Buffer) => Buffer.concat([content, u(2, -sum16(content) & 0xffff)])
const frame = (kind: number, content: Buffer) =>
  summed(Buffer.concat([bytes('2354'), u(2, content.length + 12), u(2, kind), u(4, 120310000), content]))
const answer = (kind: number) => ({
  device: '120310000',
  reply: summed(Buffer.concat([bytes('2354 000f 9901'), u(4, 120310000), u(2, kind), u(2, 1)])),
})
const LONGITUDE = Buffer.alloc(4)
LONGITUDE.writeInt32BE(-13_410_000)
const RECORD = Buffer.concat([
  u(4, 20240501),
  u(4, 91530),
  LONGITUDE,
  u(4, 52_525_000),
  u(2, 0x1000 + 270),
  u(2, 36),
  u(2, 0),
  Buffer.from('B2:0\0'),
])
const FIX = {
  time: '2024-05-01T09:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: kmh(36),
  heading: 270,
  said: { ignition: true },
}
const PARKED = Buffer.from(RECORD)
PARKED.writeUInt16BE(270, 16)
const BAD = Buffer.from(RECORD)
BAD.fill(0xff, 0, 8)

export default {
  costly: {
    'records that cannot be read': frame(0x7101, Buffer.concat([bytes('ff'), Buffer.alloc(COSTLY_SIZE - 100)])),
  },
  frames: [
    {
      title: 'records, a state and a kind that is not known',
      frames: [
        { frame: frame(0x5101, RECORD), fixes: [FIX], ...answer(0x5101) },
        {
          frame: frame(0x7101, Buffer.concat([bytes('03'), RECORD, BAD, RECORD])),
          fixes: [FIX, FIX],
          unreadable: [1],
          ...answer(0x7101),
        },
        {
          frame: frame(0x5101, PARKED),
          fixes: [{ ...FIX, said: { ignition: false } }],
          ...answer(0x5101),
        },
        { frame: frame(0x5101, BAD), error: 'malformed', envelope: answer(0x5101) },
        { frame: frame(0x8115, bytes('0301')), none: 'status', ...answer(0x8115) },
        { frame: frame(0x6101, bytes('0301')), ...answer(0x6101) },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the checksum of an answer is made as the devices make theirs, of bytes without a sign',
      says: ({ replies = [] }) => ({
        replies: replies.map(({ hex = '' }) => ({ hex: summed(bytes(hex.slice(0, -4))).toString('hex') })),
      }),
    },
  ],
} satisfies ProtocolCases
