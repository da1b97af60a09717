import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `AA55,1,1${many(',')}\n`, 'one number': `AA55,1,1,1,261120,171418,${many('1')}\n` },
  frames: [
    {
      title: 'a heartbeat and a position',
      frames: [
        { frame: 'AA55,HB\r\n', none: 'heartbeat', reply: '55AA,HB,OK\r\n' },
        {
          frame: 'AA55,36,10024,1,261120,171418,52.52,-13.41,201, 36,270,1000,0000,00000,3578,0,0,0,D\r\n',
          device: '10024',
          fixes: [
            {
              time: '2026-11-20T17:14:18Z',
              latitude: 52.52,
              longitude: -13.41,
              altitude: 201,
              speed: kmh(36),
              heading: 270,
              said: { battery_voltage: 3.578 },
            },
          ],
        },
        {
          frame: 'AA55,1,123456,1,140101,101132,52.52,-13.41,75,36,270,1100,0011,1110,3950,33000,24000,12345678\r\n',
          device: '123456',
          fixes: [
            {
              time: '2014-01-01T10:11:32Z',
              latitude: 52.52,
              longitude: -13.41,
              altitude: 75,
              speed: kmh(36),
              heading: 270,
              said: { battery_voltage: 3.95, driver: '12345678' },
            },
          ],
        },
        { frame: 'AA55,XX\r\n' },
      ],
    },
  ],
  corrections: [
    {
      reason: '3578 is the battery in mV, and the digits in front of it are inputs; the card is the last number',
      says: eachSaid((_, { input }) => {
        const fields = (input.text ?? '').split(',')
        return { batteryV: Number(fields[14]) / 1000, driver: fields[17] }
      }),
    },
  ],
} satisfies ProtocolCases
