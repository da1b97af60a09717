import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `a_1,261120,143601.00,04${many(',')}`, 'one number': `a_1,261120,143601.00,04,${many('1')}` },
  frames: [
    {
      title: 'a fix, and none',
      transport: 'udp',
      frames: [
        {
          frame: 'bus7_R01,261120,143621.00,06,5231.50000,N,01324.60000,W,12.5,270,1,2.12,34.5',
          device: 'bus7',
          fixes: [
            {
              time: '2026-11-20T14:36:21Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              satellites: 6,
              hdop: 2.12,
              altitude: 34.5,
            },
          ],
        },
        {
          frame: 'bus7_R01,261120,143621.00,06,5231.50000,N,01324.60000,W,12.5,270,1',
          device: 'bus7',
          fixes: [
            {
              time: '2026-11-20T14:36:21Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              satellites: 6,
            },
          ],
        },
        { frame: 'bus7_R01,261120,143601.00,04,,,,,,,,,', device: 'bus7', none: 'no fix' },
      ],
    },
  ],
} satisfies ProtocolCases
