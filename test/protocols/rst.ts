import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const HEAD = 'RST;L;RST-MINIv5;V9.08;042;248'
const reply = 'RST;A;RST-MINIv5;V9.08;042;248;6;FIM;'

export default {
  costly: {
    semicolons: `${HEAD}${many(';')}FIM;`,
    'one number': `${HEAD};55;20-11-2026 19:34:20;20-11-2026 19:34:21;${many('1')}`,
  },
  frames: [
    {
      title: 'positions and other reports',
      frames: [
        {
          frame: `${HEAD};55;20-11-2026 19:34:20;20-11-2026 19:34:21;-52.52;13.41;36;270;34;1;4;15;00;B0;FIM;`,
          device: '042',
          fixes: [
            {
              time: '2026-11-20T19:34:21Z',
              latitude: -52.52,
              longitude: 13.41,
              speed: kmh(36),
              heading: 270,
              altitude: 34,
              satellites: 4,
              hdop: 15,
            },
          ],
          reply,
        },
        {
          frame: `${HEAD};29;20-11-2026 17:27:26;20-11-2026 17:27:26;-1.28;-47.93;7353;79;1;14;FIM;`,
          device: '042',
          none: 'trip',
          reply,
        },
        { frame: `${HEAD};134;FIM;`, device: '042', none: 'status', reply },
        { frame: `${HEAD};777;FIM;`, device: '042', reply },
      ],
    },
  ],
} satisfies ProtocolCases
