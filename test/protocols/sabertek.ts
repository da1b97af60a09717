import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const PLACE = '60,75,15,1,1,-52.52,13.41,36,270,34,8,24844'
const FIX = {
  latitude: -52.52,
  longitude: 13.41,
  speed: kmh(36),
  heading: 270,
  altitude: 34,
  satellites: 8,
  said: { ignition: true, charging: true, battery_percent: 60, alarms: ['jamming', 'tampering'] as const },
}

export default {
  costly: { commas: `\x02,1,3${many(',')}\x03`, 'one number': `\x02,1,3,40,65,7,0,1,${many('1')}\x03` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: `\x02,42,3,${PLACE},\x03`,
          device: '42',
          fixes: [{ ...FIX, time: '2026-11-20T12:00:00Z' }],
          reply: '\x06',
        },
        {
          frame: `\x02,42,4,356307042441013,89270200120171498287,+27821234123,20261120145412,${PLACE},\x03`,
          device: '42',
          fixes: [{ ...FIX, time: '2026-11-20T14:54:12Z' }],
          reply: '\x06',
        },
        {
          frame: '\x02,42,3,,65,7,1,1,-52.52,13.41,36,270,34,8,24844,\x03',
          device: '42',
          fixes: [
            { ...FIX, time: '2026-11-20T12:00:00Z', said: { ignition: true, charging: true, alarms: ['jamming'] } },
          ],
          reply: '\x06',
        },
        {
          frame: `\x02,42,3,${PLACE.replace('75,15', '75,8')},\x03`,
          device: '42',
          fixes: [
            {
              ...FIX,
              time: '2026-11-20T12:00:00Z',
              said: { ignition: false, charging: false, battery_percent: 60, alarms: ['tampering'] },
            },
          ],
          reply: '\x06',
        },
        {
          frame: `\x02,42,3,${PLACE.replace('75,15', '75,5')},\x03`,
          device: '42',
          fixes: [{ ...FIX, time: '2026-11-20T12:00:00Z', said: { battery_percent: 60 } }],
          reply: '\x06',
        },
        ...['60,75,-1', '60,75,x', '60,75,'].map((state) => ({
          frame: `\x02,42,3,${PLACE.replace('60,75,15', state)},\x03`,
          device: '42',
          fixes: [{ ...FIX, time: '2026-11-20T12:00:00Z', said: { battery_percent: 60 } }],
          reply: '\x06',
        })),
        {
          frame: `\x02,42,3,${PLACE.replace('60', 'x')},\x03`,
          device: '42',
          fixes: [
            { ...FIX, time: '2026-11-20T12:00:00Z', said: { ignition: true, charging: true, alarms: FIX.said.alarms } },
          ],
          reply: '\x06',
        },
        { frame: '\x02,42,9,1\x03', device: '42' },
      ],
    },
  ],
} satisfies ProtocolCases
