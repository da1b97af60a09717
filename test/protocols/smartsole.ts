import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `#GTXRP=${ID}${many(',')}$`, 'one number': `#GTXRP=${ID},8,180514200051,${many('1')}$` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `#GTXRP=${ID},8,261120200055,52.52,-13.41,60,36,1,7,1.8,261120200051,4.16,11$`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T20:00:51Z',
              latitude: 52.52,
              longitude: -13.41,
              altitude: 60,
              speed: kmh(36),
              satellites: 7,
              hdop: 1.8,
              said: { battery_voltage: 4.16 },
            },
          ],
        },
        {
          frame: `#GTXRP=${ID},11,261120200055,52.52,-13.41,60,0,0,0,0,261120200051,4.16,11$`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T20:00:51Z',
              valid: false,
              latitude: 52.52,
              longitude: -13.41,
              altitude: 60,
              speed: 0,
              satellites: 0,
              said: { battery_voltage: 4.16 },
            },
          ],
        },
        {
          frame: `#GTXRP=${ID},8,261120200055,52.52,-13.41,60,36,1,7,1.8,261120200051,low,11$`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T20:00:51Z',
              latitude: 52.52,
              longitude: -13.41,
              altitude: 60,
              speed: kmh(36),
              satellites: 7,
              hdop: 1.8,
            },
          ],
        },
        { frame: `#GTXST=${ID},1$`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
