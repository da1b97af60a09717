import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `${ID}${many(',')}\r`, 'one number': `${ID},05*827,000,L001,A,${many('1')}\r` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `${ID},05*827,000,L001,A,5231.5000,N,01324.6000,W,012.5,270.0,00.9,15:00:10 20-11-26,9.5A,D7,0,79,0,,,,\r`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              hdop: 0.9,
            },
          ],
        },
        { frame: `${ID},01*001,1\r`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
