import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const ID = '8651010000000020'
const frame = (kind: string) =>
  bytes(`534d 03 ${kind} ${ID} 0403 00000000 0b86 25 02 0000 0c00 0002 8f00 0102 f8cc 0900 12 7f08`)
/** XOR of all pairs of bytes and F5A0. */
const ANSWER = bytes(`534d 03 01 ${ID} 3292f2c0 25 00`)
const sum = ANSWER.reduce((all, byte, i) => all ^ (byte << (i % 2 === 0 ? 0 : 8)), 0xf5a0)

export default {
  costly: { 'a long frame': Buffer.concat([frame('00'), Buffer.alloc(COSTLY_SIZE - 100)]) },
  frames: [
    {
      title: 'cells, and a kind that is not known',
      frames: [
        {
          frame: frame('00'),
          device: ID,
          none: 'cells',
          reply: Buffer.concat([ANSWER, Buffer.of(sum >> 8, sum & 0xff)]),
        },
        { frame: frame('02'), device: ID },
        { frame: bytes('4040'), error: 'unsupported' },
      ],
    },
  ],
  withoutPositions: 'no frame with a position is known',
  corrections: [
    {
      reason: 'a tracker that sends has no battery of 0 V',
      says: eachSaid((each) => ({ ...each, batteryV: undefined })),
    },
  ],
} satisfies ProtocolCases
