import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const HEAD = 'RST;L;RST-MINIv5;V9.08;042;248'
const reply = 'RST;A;RST-MINIv5;V9.08;042;248;6;FIM;'

const FIX = {
  time: '2026-11-20T19:34:21Z',
  latitude: -52.52,
  longitude: 13.41,
  speed: kmh(36),
  heading: 270,
  altitude: 34,
  satellites: 4,
  hdop: 15,
}

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
          fixes: [FIX],
          reply,
        },
        {
          frame: `${HEAD};55;20-11-2026 19:34:20;20-11-2026 19:34:21;-52.52;13.41;36;270;34;1;4;15;00;B0;00;1A;02;12.18;4.02;65;21;FE;0000;01;C0;001606017031;0002;FIM;`,
          device: '042',
          fixes: [
            {
              ...FIX,
              said: { ignition: true, external_voltage: 12.18, battery_voltage: 4.02, driver: '001606017031' },
            },
          ],
          reply,
        },
        {
          frame: `${HEAD};47;20-11-2026 19:34:20;20-11-2026 19:34:21;-52.52;13.41;36;270;34;1;4;15;00;30;00;1A;02;3.82;4.16;0;FIM;`,
          device: '042',
          fixes: [{ ...FIX, said: { ignition: false, external_voltage: 3.82, battery_voltage: 4.16 } }],
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
