import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `KORJAR.PL,${ID}${many(',')}`, 'one number': `KORJAR.PL,${ID},160910144240,${many('1')}` },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame: `KORJAR.PL,${ID},261120144240,52.520000N,013.410000W,12.5,270,F:4.18V,1 260 01 794B 3517,`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T14:42:40Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              said: { battery_voltage: 4.18 },
            },
          ],
        },
        { frame: `KORJAR.PL,${ID},x`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
