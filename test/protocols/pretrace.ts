import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { digits: `(${ID}U${many('1')})`, 'one more': `(${ID}U1110A261120150010${many('2')})` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `(${ID}U1110A2611201500105231.5000N01324.6000E03627002200000000912170000000,&P11A4^47)`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: 13.41,
              speed: kmh(36),
              heading: 270,
              altitude: 34,
              satellites: 9,
              hdop: 1.2,
              said: { battery_voltage: 4.2 },
            },
          ],
        },
        {
          frame: `(${ID}U1110A2611201500105231.5000N01324.6000E03627002200000000912170000000,&P195%,T1050,R104C51E47B^30)`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: 13.41,
              speed: kmh(36),
              heading: 270,
              altitude: 34,
              satellites: 9,
              hdop: 1.2,
              said: { battery_percent: 95, driver: '4C51E47B' },
            },
          ],
        },
        { frame: `(${ID}X1)`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
