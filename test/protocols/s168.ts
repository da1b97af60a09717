import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: {
    parts: `S168#${ID}#1#1#${many(';')}$`,
    'one number': `S168#${ID}#1#1#GDATA:A,5,261117220950,${many('1')}$`,
  },
  frames: [
    {
      title: 'a state and a position',
      frames: [
        {
          frame: `S168#${ID}#003a#01ca#GDATA:A,5,261120220950,52.52,-13.41,36$`,
          device: ID,
          fixes: [{ time: '2026-11-20T22:09:50Z', latitude: 52.52, longitude: -13.41, speed: kmh(36), satellites: 5 }],
        },
        {
          frame: `S168#${ID}#00ec#0016#SYNC:0093;STATUS:91,51$`,
          device: ID,
          none: 'status',
          said: { battery_percent: 91 },
        },
        {
          frame: `S168#${ID}#003a#01ca#STATUS:98,73;GDATA:A,5,261120220950,52.52,-13.41,36$`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T22:09:50Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: kmh(36),
              satellites: 5,
              said: { battery_percent: 98 },
            },
          ],
        },
        {
          frame: `S168#${ID}#003a#01ca#LOCA:G;CELL:1,1cc,0,2479,de1,2e;GDATA:A,5,261120220950,52.52,-13.41,36,270,35;ALERT:0080$`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T22:09:50Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: kmh(36),
              heading: 270,
              altitude: 35,
              satellites: 5,
            },
          ],
        },
      ],
    },
  ],
} satisfies ProtocolCases
