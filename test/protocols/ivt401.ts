import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

const FIX = {
  time: '2026-11-20T17:14:18Z',
  latitude: 52.52,
  longitude: -13.41,
  speed: kmh(36),
  heading: 270,
  altitude: 34.5,
  satellites: 9,
}

export default {
  costly: { commas: `(TLN,${ID}${many(',')};`, 'one number': `(TLN,${ID},201126,171418,${many('1')};` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `(TLA,${ID},201126,171418,+52.52,-13.41,36,270,34.5,09,1,5,000,00);`,
          device: ID,
          fixes: [FIX],
        },
        {
          frame: `(TLN,${ID},201126,171418,+52.52,-13.41,36,270,34.5,09,1,5,100,00,0.0,13.92,7.82,23.74,0.0,1,1.33,-9,0,429);`,
          device: ID,
          fixes: [{ ...FIX, said: { moving: true, external_voltage: 13.92, battery_voltage: 7.82 } }],
        },
        {
          frame: `(TLA,${ID},201126,171418,+52.52,-13.41,36,270,34.5,09,1,5,000,00,0.0,11.59,8.30,37.77,0.0,0,1.02,${'0,'.repeat(16)}8654604,5,9,114);`,
          device: ID,
          fixes: [
            { ...FIX, said: { moving: false, external_voltage: 11.59, battery_voltage: 8.3, driver: '8654604' } },
          ],
        },
        { frame: `(ALT,${ID},1);`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
