import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { lines: `[${many('#M2C\r\n')}]`, commas: `[#M2C${many(',')}]` },
  frames: [
    {
      title: 'two positions',
      frames: [
        {
          frame: `[#M2C,2020,P1.B1,102,${ID},1,L,0,20,261120,062016,52.52,-13.41,34,270,36.0,9,0,64*7524\r\n#M2C,2020,P1.B1,102,${ID},2,L,0,20,261120,062019,52.52,-13.41,34,270,36.0,9,0,64,255,11983,4100,0*7528\r\n]`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T06:20:16Z',
              latitude: 52.52,
              longitude: -13.41,
              altitude: 34,
              heading: 270,
              speed: kmh(36),
              satellites: 9,
            },
            {
              time: '2026-11-20T06:20:19Z',
              said: { external_voltage: 11.983, battery_voltage: 4.1 },
              latitude: 52.52,
              longitude: -13.41,
              altitude: 34,
              heading: 270,
              speed: kmh(36),
              satellites: 9,
            },
          ],
        },
      ],
    },
  ],
} satisfies ProtocolCases
