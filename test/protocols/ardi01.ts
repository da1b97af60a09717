import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `${ID}${many(',')}\r\n`, 'one number': `${ID},20261120150010,${many('1')}\r\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `${ID},20261120150010,-13.41,52.525,36,270,34,9,5,78,-1\r\n`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              satellites: 9,
              said: { battery_percent: 78 },
            },
          ],
        },
        { frame: `${ID},1\r\n`, device: ID, fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
