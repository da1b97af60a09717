import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `*ID1,${ID}${many(',')}#\n`, 'one number': `*ID1,${ID},201126,153218,A,${many('1')}#\n` },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame: `*ID1,${ID},201126,153218,A,5231.5000,N,01324.6000,W,12.5,270,9,20,A,1,4.20,935D#\r\n`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:32:18Z',
              said: { battery_voltage: 4.2 },
              latitude: 52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              satellites: 9,
            },
          ],
        },
        {
          frame: `*ID1,${ID},201126,153218,A,5231.5000,N,01324.6000,W,12.5,270,9,20,935D#\r\n`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:32:18Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              satellites: 9,
            },
          ],
        },
        { frame: `*ID1,${ID},x#\r\n`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
