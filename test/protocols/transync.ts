import { kmh } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '860657050000017'
const LONGITUDE = Buffer.alloc(4)
LONGITUDE.writeInt32BE(-13.41 * 1_800_000)
const PLACE = Buffer.concat([bytes('1805010a0f1e'), u(4, 52.525 * 1_800_000), LONGITUDE, bytes('24 010e 00000000')])

const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, speed: kmh(36), heading: 270 }

function frame(kind: string, content: Buffer): Buffer {
  return Buffer.concat([
    bytes('3a3a 2b00'),
    Buffer.of(content.length + 13),
    bytes(`0${ID} 0080 ${kind}`),
    content,
    bytes('2323'),
  ])
}

export default {
  costly: { 'a long position': Buffer.concat([frame('10', PLACE), Buffer.alloc(COSTLY_SIZE - 100, 0x3a)]) },
  frames: [
    {
      title: 'a position and a kind that is not known',
      frames: [
        {
          frame: frame('10', PLACE),
          device: ID,
          fixes: [FIX],
        },
        {
          frame: frame(
            '10',
            Buffer.concat([PLACE, bytes('000007152a2d000000 01050047949169 02050000100000 06020082')]),
          ),
          device: ID,
          fixes: [{ ...FIX, said: { driver: '0000100000' } }],
        },
        {
          frame: frame('10', Buffer.concat([PLACE, bytes('000007152a2d000000 02050000000000 06020082')])),
          device: ID,
          fixes: [FIX],
        },
        { frame: frame('11', PLACE), device: ID },
        { frame: frame('10', PLACE.subarray(0, 8)), error: 'truncated', envelope: { device: ID } },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a zero in front of an IMEI of 15 digits fills its eight bytes',
      says: (vector) => ({
        deviceId: vector.deviceId?.slice(1),
        positions: vector.positions.map((position) => ({ ...position, deviceId: vector.deviceId?.slice(1) })),
      }),
    },
  ],
} satisfies ProtocolCases
