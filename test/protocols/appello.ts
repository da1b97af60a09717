import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const HEAD = 'FOLLOWIT,356307042441013'
const device = '356307042441013'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: knots(12.5),
  heading: 270,
  satellites: 9,
}

export default {
  costly: { commas: `${HEAD}${many(',')}\r\n`, 'one number': `${HEAD},261120150010,${many('1')}\r\n` },
  frames: [
    {
      title: 'positions, and what holds none',
      frames: [
        { frame: `${HEAD},261120150010,52.525,-13.41,12.5,270,09,34,F,460,01,2533,720B,31\r\n`, device, fixes: [FIX] },
        {
          frame: `${HEAD},261120150010,52.525,-13.41,12.5,270,09,34,L,460,01,2533,720B,31\r\n`,
          device,
          fixes: [{ ...FIX, valid: false }],
        },
        {
          frame: `${HEAD},261120150010,52.525,-13.41,12.5,270,09,34,F,460,01,2533,720B,31,out,3.90,1,192,20/00/00\r\n`,
          device,
          fixes: [{ ...FIX, said: { battery_voltage: 3.9 } }],
        },
        {
          frame: `${HEAD},UTCTIME,52.525,-13.41,0,0,3,-0,L,716,10,049C,2A47,23,,4.22,,53\r\n`,
          device,
          none: 'no fix',
          said: { battery_voltage: 4.22 },
        },
        { frame: `${HEAD},UTCTIME,0.000000,0.000000,0,0,0,0,L,262:3\r\n`, device, none: 'no fix' },
        { frame: `${HEAD},X,1\r\n`, device },
      ],
    },
  ],
} satisfies ProtocolCases
