import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { time: '2026-11-20T14:06:54Z', latitude: 52.525, longitude: 13.41, speed: knots(12.5), heading: 270 }
const PARKED = { ...FIX, said: { ignition: false } }
const HEAD = `$1,${ID},D001,AP29AW0963,20/11/26,14:06:54`

export default {
  costly: { commas: `$1,${ID}${many(',')}`, 'one number': `${HEAD},${many('1')}` },
  frames: [
    {
      title: 'positions of each layout',
      frames: [
        {
          frame: `${HEAD},52315000N,013246000E,12.5,270,1,1,1,1,1,A`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
        },
        { frame: `${HEAD},5231.5000N,01324.6000E,12.5,270,0,0,0,0,0,A,`, device: ID, fixes: [PARKED] },
        { frame: `${HEAD},5231.5000N,01324.6000E,12.5,270,A`, device: ID, fixes: [FIX] },
        {
          frame: `${HEAD},5231.5000N,01324.6000E,12.5,270,0,0,0,0,0,0008478660,1450,40,34,0,0,0,V`,
          device: ID,
          fixes: [{ ...FIX, valid: false, said: { ignition: false, driver: '0008478660' } }],
        },
        { frame: `${HEAD},5231.5000N,01324.6000E,12.5,270,0,0,7,A`, device: ID, fixes: [PARKED] },
        { frame: `$1,${ID},D001`, device: ID, fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
