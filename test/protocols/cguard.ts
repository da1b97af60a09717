import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: kmh(36) }

export default {
  costly: { colons: `NV${many(':')}\n`, 'one number': `NV:261120 150010:${many('1')}\n` },
  frames: [
    {
      title: 'a login, positions, other reports',
      frames: [
        { frame: `IDRO:${ID}\r\n`, device: ID, none: 'login' },
        { frame: 'VERSION:3.3\r\n', none: 'status' },
        {
          frame: 'NV:261120 150010:52.525:-13.41:36:NAN:270:34.5\r\n',
          fixes: [{ ...FIX, heading: 270, altitude: 34.5 }],
        },
        { frame: 'NV:261120 150010:52.525:-13.41:36:NAN:NAN:NAN\r\n', fixes: [FIX] },
        { frame: 'NV:261120 150010:52.525:-13.41:36\r\n', fixes: [FIX] },
        { frame: 'BC:261120 150010:NSQ2:0\r\n', none: 'status' },
        {
          frame: 'BC:261120 150010:CSQ1:48:NSQ2:1:BAT1:98:PWR1:11.7:CLG1:NAN\r\n',
          none: 'status',
          said: { battery_percent: 98, external_voltage: 11.7 },
        },
        { frame: 'BC:1\r\n', none: 'status' },
        { frame: 'NV:1\r\n', fixes: [] },
        { frame: 'PING\r\n', none: 'heartbeat' },
      ],
    },
  ],
} satisfies ProtocolCases
