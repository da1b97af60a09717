import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const PLACE = '201126,160435,5231.5000,N,01324.6000,W'
const FIX = { time: '2026-11-20T16:04:35Z', latitude: 52.525, longitude: -13.41 }

export default {
  costly: { commas: `*1,01${many(',')}#`, 'one number': `*1,01,A,201126,160435,${many('1')}#` },
  frames: [
    {
      title: 'a position and an alarm',
      frames: [
        {
          frame: `*042,01,A,${PLACE},36,0,270,034,05,28,26,1,075,59#`,
          device: '042',
          fixes: [{ ...FIX, speed: kmh(36), heading: 270, altitude: 34, satellites: 5, said: { battery_percent: 75 } }],
        },
        {
          frame: `*042,01,A,${PLACE},36,0,270,034,05,28,26,1,075,Y,1,0000,59#`,
          device: '042',
          fixes: [
            {
              ...FIX,
              speed: kmh(36),
              heading: 270,
              altitude: 34,
              satellites: 5,
              said: { battery_percent: 75, charging: true },
            },
          ],
        },
        {
          frame: `*042,01,A,${PLACE},36,0,270,034,05,28,26,1,075,N,1,0000,59#`,
          device: '042',
          fixes: [{ ...FIX, speed: kmh(36), heading: 270, altitude: 34, satellites: 5, said: { battery_percent: 75 } }],
        },
        {
          frame: `*042,01,A,${PLACE},36,0,270,034,05,59#`,
          device: '042',
          fixes: [{ ...FIX, speed: kmh(36), heading: 270, altitude: 34, satellites: 5 }],
        },
        { frame: `*042,03,${PLACE},1,58#`, device: '042', fixes: [{ ...FIX, said: { alarms: ['low_battery'] } }] },
        { frame: `*042,03,${PLACE},2,58#`, device: '042', fixes: [FIX] },
        { frame: `*042,03,${PLACE},58#`, device: '042', fixes: [FIX] },
        { frame: '*042,99,1#', device: '042' },
      ],
    },
  ],
} satisfies ProtocolCases
