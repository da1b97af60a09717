import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

export default {
  costly: { digits: `${many('1')}\r\n`, commas: `42,20261120150010${many(',')}\r\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: '42,20261120150010,-13.41,52.525,36,270,34,9,3,0.0,0,0.02,14.01,0,0,26,0,219-2,65534\r\n',
          device: '42',
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              satellites: 9,
              said: { external_voltage: 14.01 },
            },
          ],
        },
        {
          frame: '42,20261120150010,-13.41,52.525,36,270,34,9,3,0.0,0,0.02V,14.01V,0\r\n',
          device: '42',
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              satellites: 9,
              said: { external_voltage: 14.01 },
            },
          ],
        },
        ...['466-5,10275,0,0.01,65EB812A,8000001234,Joe', '46608,F8BC,F9AD,65EB812A'].map((rest) => ({
          frame: `42,20261120150010,-13.41,52.525,36,270,34,9,3,0.0,0,0.02,14.01,0,0,26,0,${rest}\r\n`,
          device: '42',
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              satellites: 9,
              said: { external_voltage: 14.01, driver: '65EB812A' },
            },
          ],
        })),
        { frame: '42,20261120150010,1\r\n', device: '42', fixes: [] },
      ],
    },
  ],
  corrections: [
    {
      reason: '0.01 is a reading of an input in each frame: neither a battery nor a card',
      says: eachSaid(({ driver, ...others }) => ({
        ...others,
        batteryV: undefined,
        driver: driver === '0.01' ? undefined : driver,
      })),
    },
  ],
} satisfies ProtocolCases
