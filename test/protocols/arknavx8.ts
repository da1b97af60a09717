import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: knots(12.5),
  heading: 270,
  hdop: 0.9,
}

export default {
  costly: { commas: `1G${many(',')};`, 'one number': `1G,261120150010,A,${many('1')};` },
  frames: [
    {
      title: 'a login, positions, a state',
      frames: [
        { frame: `${ID},261120;`, device: ID, none: 'login' },
        {
          frame: '1G,261120150010,A,5231.5000N,01324.6000W,12.5,270,0.9,11008000;',
          fixes: [FIX],
        },
        {
          frame: '2G,261120150010,08,4084.0,00.04,04.01,000396255.0;',
          none: 'status',
          said: { external_voltage: 0.04, battery_voltage: 4.01 },
        },
        { frame: '2R,261120150010,837493,,998372,,,;', none: 'status' },
        { frame: '1G,261120150010,V,,,,,,11008000;', none: 'no fix' },
        { frame: '3G,1;' },
      ],
    },
    {
      title: 'a packet over UDP',
      transport: 'udp',
      frames: [
        { frame: `${ID},261120;`, device: ID, none: 'login' },
        { frame: '1M,261120150010,A,5231.5000N,01324.6000W,12.5,270,0.9,00000000;', fixes: [FIX] },
      ],
    },
  ],
} satisfies ProtocolCases
