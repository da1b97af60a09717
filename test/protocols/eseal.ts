import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: {
    commas: `##S,eSeal,1,2,3,Startup${many(',')}\n`,
    'one number': `##S,eSeal,1,2,3,Startup,1,2026-11-20,02:01:19,3,A,${many('1')}\n`,
  },
  frames: [
    {
      title: 'a report and an answer to a command',
      frames: [
        {
          frame:
            '##S,eSeal,1000821,256,3.0.6,Startup,7,2026-11-20,02:01:19,3,A,52.520000S 13.410000W,36,270,Close,3.25,0:0:5:0,3.8,-93,E##\r\n',
          device: '1000821',
          fixes: [
            {
              time: '2026-11-20T02:01:19Z',
              latitude: -52.52,
              longitude: -13.41,
              speed: kmh(36),
              heading: 270,
              said: { battery_voltage: 3.8 },
            },
          ],
          reply: '##S,eSeal,1000821,256,3.0.6,Startup ACK,7,null,E##\r\n',
        },
        {
          frame:
            '##S,eSeal,1000821,256,3.0.6,Normal,8,2026-11-20,02:01:19,3,A,52.520000S 13.410000W,36,270,Close,E##\r\n',
          device: '1000821',
          fixes: [{ time: '2026-11-20T02:01:19Z', latitude: -52.52, longitude: -13.41, speed: kmh(36), heading: 270 }],
          reply: '##S,eSeal,1000821,256,3.0.6,Normal ACK,8,null,E##\r\n',
        },
        { frame: '##S,eSeal,1000821,256,3.0.6,RC-NFC DEL ACK,,E##\r\n', device: '1000821' },
      ],
    },
  ],
} satisfies ProtocolCases
