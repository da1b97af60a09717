import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: {
    commas: `${ID},CMD-T,A${many(',')}#`,
    'one number': `${ID},CMD-T,A,DATE:261120,TIME:144956,LAT:${many('1')}#`,
  },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `${ID},CMD-T,A,DATE:261120,TIME:144956,LAT:52.5200000S,LOT:013.4100000E,Speed:036.0,100-22,03.72#`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T14:49:56Z',
              latitude: -52.52,
              longitude: 13.41,
              speed: kmh(36),
              said: { battery_percent: 100 },
            },
          ],
        },
        {
          frame: `${ID},CMD-F,V,DATE:261120,TIME:144956,LAT:52.5200000N,LONG:013.4100000W,Speed:000.0,61-19,#`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T14:49:56Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: 0,
              valid: false,
              said: { battery_percent: 61 },
            },
          ],
        },
        {
          frame: `${ID},CMD-T,A,DATE:261120,TIME:144956,LAT:52.52N,LOT:013.41E,Speed:000.0,X-X-X-X-81-26,000,65501-00A0-4B8E#`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T14:49:56Z',
              latitude: 52.52,
              longitude: 13.41,
              speed: 0,
              heading: 0,
              said: { battery_percent: 81 },
            },
          ],
        },
        {
          frame: `${ID},CMD-T,A,DATE:261120,TIME:144956,LAT:52.52N,LOT:013.41E,Speed:36.0,1-1-0-0-77-20,271,26201-FFFE-06B72E33,05,1.00,31.0,5,"a net",-71#`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T14:49:56Z',
              latitude: 52.52,
              longitude: 13.41,
              speed: kmh(36),
              heading: 271,
              satellites: 5,
              said: { battery_percent: 77 },
            },
          ],
        },
        { frame: `${ID},CMD-X#`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
