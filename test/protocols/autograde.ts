import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { digits: `(${many('1')})`, zeros: `(000000001637${ID}201126A${many('0')})` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `(000000001637${ID}201126A5231.5000N01324.6000W012.5150010270.00?A0000B0000C0000D0000)`,
          device: ID,
          fixes: [
            { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 },
          ],
        },
        { frame: `(000000001637${ID}1)`, device: ID, fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
