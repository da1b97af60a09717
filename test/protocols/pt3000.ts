import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `%${ID},$GPRMC${many(',')}d`, 'one number': `%${ID},$GPRMC,124945,A,${many('1')}d` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `%${ID},$GPRMC,124945.752,A,5231.5000,N,01324.6000,E,12.5,270,201126,,,A,+393334347445,N028d`,
          device: ID,
          fixes: [
            { time: '2026-11-20T12:49:45.752Z', latitude: 52.525, longitude: 13.41, speed: knots(12.5), heading: 270 },
          ],
        },
        { frame: `%${ID},$GPRMC,124945,V,,,,,,,201126,,,N,+393334347445,N028d`, device: ID, none: 'no place' },
        { frame: `%${ID},$GPGSV,1d`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
