import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `#MTX,${ID}${many(',')}\n`, 'one number': `#MTX,${ID},20261120,195550,${many('1')}\n` },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame: `#MTX,${ID},20261120,195550,52.5200000,-013.4100000,036,270,000000.00,X,X,1111,000,0,0\r\n`,
          device: ID,
          fixes: [{ time: '2026-11-20T19:55:50Z', latitude: 52.52, longitude: -13.41, speed: kmh(36), heading: 270 }],
          reply: '#ACK',
        },
        { frame: `#MTX,${ID}\r\n`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
