import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `TK,${ID}${many(',')}\n`, 'one number': `TK,${ID},261120090859,${many('1')}\n` },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        { frame: `HI,${ID}\r\n`, device: ID, none: 'login' },
        {
          frame: `HI,${ID}TK,${ID},261120090859,+52.52,-13.41,36,270,12,0,F,204,08,C94,336C,24\r\n`,
          device: ID,
          fixes: [{ time: '2026-11-20T09:08:59Z', latitude: 52.52, longitude: -13.41, speed: kmh(36), heading: 270 }],
        },
        {
          frame: `TK,${ID},261120090859,+52.52,-13.41,36,270,12,0,F,204,08,C94,336C,24,,4.09,1,,,,,,,,\r\n`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T09:08:59Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: kmh(36),
              heading: 270,
              said: { battery_voltage: 4.09, charging: true },
            },
          ],
        },
        { frame: `TK,${ID},x\r\n`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
