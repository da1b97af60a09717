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

export default {
  costly: { commas: `[${HEAD},T9${many(',')}]`, 'one number': `[${HEAD},T9,1,V1,42,59,10.50,701,${many('1')}]` },
  frames: [
    {
      title: 'positions and other reports',
      frames: [
        {
          frame: `[${HEAD},T9,1,V1.2.3,42,59,10.50,701,-25.250000,-45.750000,36,270]`,
          device: '42',
          fixes: [FIX],
          reply: `[${HEAD},S9]`,
        },
        {
          frame: `[${HEAD},T21,1,V1.2.3,42,59,10.50,092,-25.250000,-45.750000,36,270,4.08,0,19516]`,
          device: '42',
          fixes: [{ ...FIX, satellites: 0 }],
          reply: `[${HEAD},S21]`,
        },
        {
          frame: `[${HEAD},T9,1,V1.2.3,42,59,10.50,,-25.250000,-45.750000,36]`,
          device: '42',
          fixes: [{ ...FIX, satellites: undefined, heading: undefined }],
          reply: `[${HEAD},S9]`,
        },
        {
          frame: `[${HEAD},T1,1,V1.1.1,42,,,12345678,724108005415815,359366080211420]`,
          device: '42',
          none: 'status',
          reply: `[${HEAD},S1]`,
        },
        { frame: `[${HEAD},T8,1,V1.2.3,42,3596]`, device: '42', none: 'status', reply: `[${HEAD},S8]` },
        { frame: `[${HEAD},T77,1,V1.2.3,42,3596]`, device: '42', reply: `[${HEAD},S77]` },
        { frame: '[0,T8,1]' },
      ],
    },
  ],
} satisfies ProtocolCases
