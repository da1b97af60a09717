import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `[1,2,3,42,710${many(',')}]`, 'one number': `[1,2,3,42,710,201126,40335,${many('1')}]` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: '[7061,3041,57,42,710,91126,40335,-523150000,132460000,3600,27000,20469,0,16,1]',
          device: '42',
          fixes: [{ time: '2026-11-09T04:03:35Z', latitude: -52.525, longitude: 13.41, speed: kmh(36), heading: 270 }],
          reply: '@',
        },
        {
          frame:
            '[7061,3041,57,42,710,91126,40335,-523150000,132460000,3600,27000,20469,16,1,0,0,11323,100,9,,32,4695]',
          device: '42',
          fixes: [
            {
              time: '2026-11-09T04:03:35Z',
              latitude: -52.525,
              longitude: 13.41,
              speed: kmh(36),
              heading: 270,
              said: { ignition: true, external_voltage: 11.323, battery_percent: 100 },
            },
          ],
          reply: '@',
        },
        { frame: '[7061,3041,57,42,999,1]', device: '42' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the field of 11 to 13 V in mV is two further on, and behind it a charge of 100',
      says: eachPosition(({ said }) => ({ said: { ...said, powerV: undefined, batteryPercent: 100 } })),
    },
  ],
} satisfies ProtocolCases
