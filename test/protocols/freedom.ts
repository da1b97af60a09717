import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: {
    commas: `IMEI,${ID}${many(',')}\n`,
    'one number': `IMEI,${ID},2026/11/20, 20:49:32, N, Lat:${many('1')}\n`,
  },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame: `IMEI,${ID},2026/11/20, 20:49:32, S, Lat:5231.5000, E, Lon:01324.6000, Spd:12.5\r\n`,
          device: ID,
          fixes: [{ time: '2026-11-20T20:49:32Z', latitude: -52.525, longitude: 13.41, speed: knots(12.5) }],
        },
        { frame: `IMEI,${ID},x\r\n`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
