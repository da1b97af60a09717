import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const HEAD = '2026-11-20 15:00:10'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: -25.25,
  longitude: -45.75,
  speed: kmh(36),
  heading: 270,
  satellites: 7,
}

const PARKED = { ignition: false, moving: false, charging: false, external_voltage: 10.5 }

export default {
  costly: { commas: `[${HEAD},T9${many(',')}]`, 'one number': `[${HEAD},T9,1,V1,42,59,10.50,701,${many('1')}]` },
  frames: [
    {
      title: 'positions and other reports',
      frames: [
        {
          frame: `[${HEAD},T9,1,V1.2.3,42,59,10.50,701,-25.250000,-45.750000,36,270]`,
          device: '42',
          fixes: [{ ...FIX, said: { ...PARKED, moving: true, alarms: ['vibration'] } }],
          reply: `[${HEAD},S9]`,
        },
        {
          frame: `[${HEAD},T21,1,V1.2.3,42,59,10.50,092,-25.250000,-45.750000,36,270,4.08,0,19516]`,
          device: '42',
          fixes: [{ ...FIX, satellites: 0, said: { ...PARKED, moving: true, battery_voltage: 4.08 } }],
          reply: `[${HEAD},S21]`,
        },
        {
          frame: `[${HEAD},T9,1,V1.2.3,42,06,10.50,,-25.250000,-45.750000,36]`,
          device: '42',
          fixes: [
            {
              ...FIX,
              satellites: undefined,
              heading: undefined,
              said: { ...PARKED, ignition: true, charging: true, alarms: ['vibration'] },
            },
          ],
          reply: `[${HEAD},S9]`,
        },
        {
          frame: `[${HEAD},T21,1,V1.2.3,42,x,,701,-25.250000,-45.750000,36,270]`,
          device: '42',
          fixes: [FIX],
          reply: `[${HEAD},S21]`,
        },
        {
          frame: `[${HEAD},T14,1,V1.3.5,42,53,12.18]`,
          device: '42',
          none: 'status',
          said: { ignition: false, moving: false, charging: true, external_voltage: 12.18 },
          reply: `[${HEAD},S14]`,
        },
        {
          frame: `[${HEAD},T1,1,V1.1.1,42,,,12345678,724108005415815,359366080211420]`,
          device: '42',
          none: 'status',
          reply: `[${HEAD},S1]`,
        },
        { frame: `[${HEAD},T8,1,V1.2.3,42,3596]`, device: '42', none: 'status', reply: `[${HEAD},S8]` },
        { frame: `[${HEAD},T77,1,V1.2.3,42,3596]`, device: '42', reply: `[${HEAD},S77]` },
        { frame: '[0,T8,1]', reply: '[0,S8]' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a voltage of 9 to 26 V, which is cut to 0.5 V, is that of the vehicle',
      says: ({ positions }) => ({
        positions: positions.map(({ said, ...position }) => ({
          ...position,
          said: said && { ...said, batteryV: undefined, powerV: said.batteryV },
        })),
      }),
    },
  ],
} satisfies ProtocolCases
