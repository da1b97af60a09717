import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `(TLN,${ID}${many(',')};`, 'one number': `(TLN,${ID},201126,171418,${many('1')};` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `(TLA,${ID},201126,171418,+52.52,-13.41,36,270,34.5,09,1,5,000,00);`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T17:14:18Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: kmh(36),
              heading: 270,
              altitude: 34.5,
              satellites: 9,
            },
          ],
        },
        { frame: `(ALT,${ID},1);`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
