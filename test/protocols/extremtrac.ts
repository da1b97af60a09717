import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `$GPRMC,1${many(',')}\n`, 'one number': `$GPRMC,1,050859.000,A,${many('1')}\n` },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame: `$GPRMC,${ID},050859.000,A,5231.5000,N,01324.6000,W,12.5,270,201126,0,,00C8,00218\r\n`,
          device: ID,
          fixes: [
            { time: '2026-11-20T05:08:59Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 },
          ],
        },
        {
          frame: '$GPRMC,092313.299,A,2238.8947,N,11355.2253,E,0.00,311.19,010307,0,,1111,1111\r\n',
          fixes: [],
        },
      ],
    },
  ],
} satisfies ProtocolCases
