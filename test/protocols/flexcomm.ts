import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const frame = (content: string) => `${content.padEnd(99, '0')}10012342107`

export default {
  costly: { digits: `7E${many('1')}`, starts: many('7E') },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame: frame(`7E00${ID}202611202358271052520000-01341000000340362701009`),
          device: ID,
          reply: '{01}',
          fixes: [
            {
              time: '2026-11-20T23:58:27Z',
              latitude: 52.52,
              longitude: -13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              satellites: 9,
              said: { battery_percent: 100, external_voltage: 12.3 },
            },
          ],
        },
      ],
    },
  ],
} satisfies ProtocolCases
