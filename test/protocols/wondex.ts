import { kmh } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: kmh(72),
  heading: 270,
  satellites: 8,
}
const REPORT = '2000000099,20240501101530,-13.410000,52.525000,72,270,34,8,2,1,12.5'

export default {
  costly: {
    digits: `1,20240501101530,1.${many('1')}`,
    commas: many(',1'),
    reports: `$OK:${many('1,20240501101530,')}`,
  },
  frames: [
    {
      title: 'two reports in one datagram',
      transport: 'udp',
      frames: Array.from({ length: 2 }, () => ({ frame: `${REPORT}\r\n`, device: '2000000099', fixes: [FIX] })),
    },
    {
      title: 'reports, an answer and a keep-alive',
      frames: [
        { frame: `${REPORT}\r\n`, device: '2000000099', fixes: [FIX] },
        { frame: `$RP:12,${REPORT}\r\n`, device: '2000000099', fixes: [FIX] },
        {
          frame: '2000000099,20240501101530,0.000000,0.000000,0,0,0,0,2\r\n',
          device: '2000000099',
          fixes: [
            { ...FIX, latitude: 0, longitude: 0, altitude: 0, speed: 0, heading: 0, satellites: 0, valid: false },
          ],
        },
        {
          frame: '2000000099, 20240501101530, +13.41,-52.525,72.0,270.0,34,8\r\n',
          device: '2000000099',
          fixes: [{ ...FIX, latitude: -52.525, longitude: 13.41 }],
        },
        {
          frame: '2000000099,20240501101530,-13.410000,52.525000,,,,8,2\r\n',
          device: '2000000099',
          fixes: [{ ...FIX, altitude: undefined, speed: undefined, heading: undefined }],
        },
        {
          frame: `${REPORT.replace(',1,12.5', ',3.90V,0')}\r\n`,
          device: '2000000099',
          fixes: [{ ...FIX, said: { battery_voltage: 3.9 } }],
        },
        { frame: '$OK:REBOOT\r\n', none: 'command answer' },
        { frame: bytes('d0d7 0100 63943577'), device: '2000000099', none: 'heartbeat' },
        { frame: '2000000099,20240501101530,LBS,460,0\r\n', device: '2000000099', fixes: [] },
        { frame: 'hello\r\n', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases
