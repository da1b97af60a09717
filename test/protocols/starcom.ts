import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `|unit=1${many(',')}|`, pairs: `|unit=1,${many('a=b,')}|` },
  frames: [
    {
      title: 'positions',
      transport: 'udp',
      frames: [
        {
          frame:
            '|unit=42,kind=1,longitude=13.41,latitude=-52.52,altitude=34,gps_valid=1,satellites=7,velocity=36,heading=270,datetime_utc=2026/11/20 14:56:29,datetime_actual=2026/11/20 14:56:23,network=TCPIP 6600|\r\n',
          device: '42',
          fixes: [
            {
              time: '2026-11-20T14:56:23Z',
              latitude: -52.52,
              longitude: 13.41,
              altitude: 34,
              speed: kmh(36),
              heading: 270,
              satellites: 7,
            },
          ],
        },
        {
          frame: '|unit=42,kind=14,longitude=13.41,latitude=-52.52,datetime_actual=2026/11/20 14:56:23|\r\n',
          device: '42',
          fixes: [{ time: '2026-11-20T14:56:23Z', valid: false, latitude: -52.52, longitude: 13.41 }],
        },
        {
          frame:
            '|unit=42,longitude=13.41,latitude=-52.52,emergency=1,driver=A17,ignition=0,main_voltage=14.11,backup_voltage=96.00,datetime_actual=2026/11/20 14:56:23|\r\n',
          device: '42',
          fixes: [
            {
              time: '2026-11-20T14:56:23Z',
              valid: false,
              latitude: -52.52,
              longitude: 13.41,
              said: { ignition: false, external_voltage: 14.11, battery_percent: 96, driver: 'A17', alarms: ['sos'] },
            },
          ],
        },
        {
          frame: '|unit=42,ignition=1,driver=0,main_voltage=12.06,backup_voltage=4.10|\r\n',
          device: '42',
          none: 'no place',
          said: { ignition: true, external_voltage: 12.06, battery_voltage: 4.1 },
        },
        { frame: '|unit=42,backup_voltage=-1.00|\r\n', device: '42', none: 'no place' },
        { frame: '|unit=42,kind=9|\r\n', device: '42', none: 'no place' },
        { frame: 'hello', error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no backup battery has 96 or 100 V: these are percent',
      says: eachSaid(({ batteryV = -1, ...rest }) => ({ ...rest, batteryPercent: batteryV })),
    },
  ],
} satisfies ProtocolCases
