import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const HEAD = '$$4242??????????'
const PLACE = '150010.000,A,5231.5000,N,01324.6000,W,12.50,270.00,201126'
const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }

export default {
  costly: { commas: `${HEAD}&A9955&B${many(',')}##`, 'one number': `${HEAD}&A9955&B150010,A,${many('1')}##` },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        { frame: `${HEAD}&A0000##`, device: '4242', none: 'login' },
        {
          frame: `${HEAD}&A9955&B${PLACE},,,A*64|0.9|&C0100000000&D01830=?6&E00000001&Y00000000##`,
          device: '4242',
          fixes: [{ ...FIX, hdop: 0.9 }],
        },
        { frame: `${HEAD}&A9955&B${PLACE}##`, device: '4242', fixes: [FIX] },
        { frame: `${HEAD}&A1234##`, device: '4242' },
      ],
    },
  ],
} satisfies ProtocolCases
