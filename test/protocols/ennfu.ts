import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `Ennfu:${ID}${many(',')}$`, 'one number': `Ennfu:${ID},041504.00,A,${many('1')}$` },
  frames: [
    {
      title: 'a position and a heartbeat',
      frames: [
        {
          frame: `Ennfu:${ID},041504.00,A,5231.5000,N,01324.6000,W,12.5,270,201126,20,3.72,21.4,V0.01$`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T04:15:04Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              said: { battery_voltage: 3.72, battery_percent: 21.4 },
            },
          ],
        },
        {
          frame: `Ennfu:${ID},041504.00,A,5231.5000,N,01324.6000,W,12.5,270,201126$`,
          device: ID,
          fixes: [
            { time: '2026-11-20T04:15:04Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 },
          ],
        },
        {
          frame: `Ennfu:${ID},041504.00,A,5231.5000,N,01324.6000,W,12.5,270,201126,20,3.72V,--,V0.01$`,
          device: ID,
          fixes: [
            { time: '2026-11-20T04:15:04Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 },
          ],
        },
        { frame: `Ennfu:HeartBeat,${ID}$`, device: ID, none: 'heartbeat' },
        { frame: 'Ennfu:Hello$' },
      ],
    },
  ],
} satisfies ProtocolCases
