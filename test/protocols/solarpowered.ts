import { kmh, xor } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, eachPosition, type ProtocolCases } from '../support/protocol-cases.ts'

function frame(content: Buffer): Buffer {
  const covered = Buffer.concat([bytes('8502560000000170 11'), u(2, content.length), content])
  return Buffer.concat([bytes('7e'), covered, Buffer.of(xor(covered)), bytes('7e')])
}

const position = (flags: string, state = '') =>
  frame(
    Buffer.concat([
      bytes(`02 01 00 81 13 ${flags} 1805010a0f1e`),
      u(4, 52_525_000),
      u(4, 13_410_000),
      bytes('24 14b8 5a'),
      bytes(state),
    ]),
  )
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: -52.525,
  longitude: 13.41,
  speed: kmh(36),
  heading: 90,
  said: { battery_voltage: 3.68 },
}
const ID = '850256000000017'

export default {
  costly: { 'values without content': frame(Buffer.alloc(COSTLY_SIZE - 100)) },
  frames: [
    {
      title: 'positions, and a frame without one',
      frames: [
        { frame: position('19'), device: ID, fixes: [FIX] },
        { frame: position('19', '82 02 0f00 83 01 00'), device: ID, fixes: [FIX] },
        {
          frame: position('19', '82 02 0f02 83 01 00'),
          device: ID,
          fixes: [{ ...FIX, said: { ...FIX.said, alarms: ['low_power'] } }],
        },
        { frame: position('19', '82 01 02'), device: ID, fixes: [FIX] },
        { frame: position('1e'), device: ID, fixes: [{ ...FIX, latitude: 52.525, longitude: -13.41, valid: false }] },
        { frame: frame(bytes('0201 00')), device: ID },
        { frame: frame(bytes('8101 19')), error: 'truncated', envelope: { device: ID } },
      ],
    },
  ],
  corrections: [
    {
      reason: 'places that drift by metres between reports days apart are fixes; no flag says that they are none',
      says: eachPosition(() => ({ valid: true })),
    },
  ],
} satisfies ProtocolCases
