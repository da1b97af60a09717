import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `42*POS=Y${many(',')}`, 'one number': `42*POS=Y,16:21:20,20/11/26,${many('1')}` },
  frames: [
    {
      title: 'positions and a state',
      frames: [
        {
          frame: '42*POS=Y,16:21:20,20/11/26,5231.5000N,01324.6000E,36,270,34,09,40076,56341\r\n',
          device: '42',
          fixes: [
            {
              time: '2026-11-20T16:21:20Z',
              latitude: 52.525,
              longitude: 13.41,
              speed: kmh(36),
              heading: 270,
              altitude: 34,
              satellites: 9,
            },
          ],
        },
        {
          frame: '42,INFOGPRS,V Bat=13.8,TEMP=23,I TIM,15\r\n',
          device: '42',
          none: 'status',
          said: { external_voltage: 13.8 },
        },
        { frame: '42,INFOGPRS,TEMP=23\r\n', device: '42', none: 'status' },
        { frame: '42*PING\r\n', device: '42' },
      ],
    },
  ],
  corrections: [
    {
      reason: '13.8 V are those of a vehicle',
      says: eachSaid(({ batteryV }) => ({ powerV: batteryV })),
    },
  ],
} satisfies ProtocolCases
