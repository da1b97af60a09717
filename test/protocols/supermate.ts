import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const ID = '356307042441013'
const reply = `#1:${ID}:1:*,00000000,UP,7ea0b14,0c0000#`

export default {
  costly: { commas: `2:${ID}:1:*${many(',')}#`, colons: `2:${ID}${many(':')}#` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `2:${ID}:1:*,00000000,XT,A,1a0b14,140b28,81e0e178,807ac5b0,04e2,6978,020204010000,12,0,0000,0003e6#`,
          device: ID,
          reply,
          fixes: [
            { time: '2026-11-20T20:11:40Z', latitude: -52.525, longitude: -13.41, speed: knots(12.5), heading: 270 },
          ],
        },
        {
          frame: `2:${ID}:1:*,00000000,XT,A,1A0B14,140B28,81E0E178,807AC5B0,04E2,6978#`,
          device: ID,
          reply,
          fixes: [
            { time: '2026-11-20T20:11:40Z', latitude: -52.525, longitude: -13.41, speed: knots(12.5), heading: 270 },
          ],
        },
        { frame: `2:${ID}:9#`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a field of 0000 in all frames, at 39 knots too, measures no supply',
      says: eachSaid((each) => ({ ...each, powerV: undefined })),
    },
  ],
} satisfies ProtocolCases
