import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { time: '2026-11-20T10:20:40Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5) }

export default {
  costly: { commas: `@@${ID}${many(',')}#`, 'one number': `@@${ID},,0,102040,${many('1')}#` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `@@${ID},,0,102040,5231.5000,N,01324.6000,W,12.5,201126,A,0127,1,1,03962,00000,#`,
          device: ID,
          fixes: [{ ...FIX, said: { charging: true } }],
        },
        {
          frame: `@@${ID},,,102040,5231.5000,N,01324.6000,W,12.5,201126,A,1100,0,1,02700,05800,#`,
          device: ID,
          fixes: [{ ...FIX, said: { charging: false } }],
        },
        { frame: `@@${ID},,,102040,5231.5000,N,01324.6000,W,12.5,201126,A,1100,,1#`, device: ID, fixes: [FIX] },
        { frame: `@@${ID},,,102040,5231.5000,N,01324.6000,W,12.5,201126,A#`, device: ID, fixes: [FIX] },
        { frame: `@@${ID},1#`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
