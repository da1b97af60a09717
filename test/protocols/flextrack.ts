import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `-2,UNITSTAT${many(',')}\r`, 'one number': `-2,UNITSTAT,20261120,181923,1,N${many('1')}\r` },
  frames: [
    {
      title: 'a login and a position',
      frames: [
        { frame: '-1,LOGON,7000000123,8945000000\r', device: '8945000000', none: 'login', reply: '-1,ACK\r' },
        {
          frame:
            '-2,UNITSTAT,20261120,181923,7000004634,S52.31.5000,E013.24.6000,36,270,6,3934,-81,01A8,23802,213,55,37FD\r',
          reply: '-2,ACK\r',
          fixes: [
            {
              time: '2026-11-20T18:19:23Z',
              latitude: -52.525,
              longitude: 13.41,
              speed: kmh(36),
              heading: 270,
              satellites: 6,
              altitude: 213,
              hdop: 5.5,
              said: { battery_voltage: 3.934 },
            },
          ],
        },
        {
          frame:
            '-2,UNITSTAT,20261120,181923,7000004634,S52.31.5000,E013.24.6000,36,270,6,3934mV,-81,01A8,23802,213,55,37FD\r',
          reply: '-2,ACK\r',
          fixes: [
            {
              time: '2026-11-20T18:19:23Z',
              latitude: -52.525,
              longitude: 13.41,
              speed: kmh(36),
              heading: 270,
              satellites: 6,
              altitude: 213,
              hdop: 5.5,
            },
          ],
        },
        { frame: '-3,HELLO,1\r', reply: '-3,ACK\r' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the battery is in millivolts',
      says: eachPosition(({ said: { batteryV = Number.NaN } = {} }) => ({ said: { batteryV: batteryV / 1000 } })),
    },
  ],
} satisfies ProtocolCases
