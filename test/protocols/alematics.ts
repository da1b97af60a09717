import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `$T${many(',')}\r\n`, 'one number': `$T,2,552,${ID},1,20261120150010,${many('1')}\r\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `$T,2,552,${ID},20261120150012,20261120150010,52.525,-13.41,36,270,34,0.9,9,1,0,0.000,12.768\r\n`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              hdop: 0.9,
              satellites: 9,
              said: { external_voltage: 12.768 },
            },
          ],
        },
        {
          frame: `$T,2,552,${ID},20261120150012,20261120150010,52.525,-13.41,36,270,34,0.9,9,1,0,0.000,12.768,1629,38,12770,4109,9\r\n`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              hdop: 0.9,
              satellites: 9,
              said: { external_voltage: 12.768, battery_voltage: 4.109 },
            },
          ],
        },
        { frame: `$T,2,552,${ID},1\r\n`, device: ID, fixes: [] },
        { frame: '$X,1\r\n' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the voltages of the extension are mV: the same frame has the external one in volts',
      says: eachSaid(({ powerV = 0, batteryV, ...rest }) => ({
        ...rest,
        powerV: powerV > 100 ? powerV / 1000 : powerV,
        batteryV: batteryV && batteryV / 1000,
      })),
    },
  ],
} satisfies ProtocolCases
