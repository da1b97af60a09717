import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, eachSaid, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '20/11/26,4:01:32,52.52,-13.41,36,270'
const FIX = { time: '2026-11-20T04:01:32Z', latitude: 52.52, longitude: -13.41, speed: kmh(36), heading: 270 }

export default {
  costly: { commas: `!D${many(',')};`, 'one number': `!D,01/01/26,1:1:1,${many('1')};` },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        { frame: `!1,${ID},V07S.5701.1621,100;`, device: ID, none: 'login' },
        {
          frame: `!D,${PLACE},180001,680.5,8,9,13,0;`,
          fixes: [{ ...FIX, altitude: 680.5, satellites: 9, said: { battery_percent: 8 } }],
        },
        {
          frame: `!C,${PLACE},100001,25.3,100,0.03,0.01,0;`,
          fixes: [{ ...FIX, altitude: 25.3, said: { battery_percent: 100 } }],
        },
        {
          frame: `!D,${PLACE},1f9141,680.5,8,9,13,0;`,
          fixes: [
            {
              ...FIX,
              altitude: 680.5,
              satellites: 9,
              said: { battery_percent: 8, alarms: ['sos', 'accident', 'low_battery', 'movement'] },
            },
          ],
        },
        { frame: `!A,${PLACE},0;`, fixes: [{ ...FIX, valid: false }] },
        { frame: `!D,${PLACE},180001,680.5;`, fixes: [{ ...FIX, altitude: 680.5 }] },
        { frame: `!D,${PLACE},180001,680.5,8%,9,13,0;`, fixes: [{ ...FIX, altitude: 680.5, satellites: 9 }] },
        { frame: `!C,${PLACE},100001,25.3,low,0.03;`, fixes: [{ ...FIX, altitude: 25.3 }] },
        { frame: `!F,${PLACE},1;`, fixes: [FIX] },
        { frame: '!5,17,V,50;', none: 'status', said: { battery_percent: 50 } },
        { frame: '!5,17;', none: 'status' },
        { frame: '!Z,17;' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'V1.27 names no bit of the flags that would be the charging',
      says: eachSaid((each) => ({ ...each, charging: undefined })),
    },
    {
      reason: 'this position has a speed and a course too',
      frames: ['minifinder-013'],
      says: eachPosition(() => ({ speedKnots: 0.054, course: 281.6 })),
    },
  ],
} satisfies ProtocolCases
