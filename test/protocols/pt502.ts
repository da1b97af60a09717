import { knots } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '1360000777'
const PLACE = '231530.000,A,5231.5000,N,01324.6000,E,10.0,270.5,010524'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: knots(10), heading: 270.5 }

export default {
  costly: { 'one field': `$POS,${ID},${many('1')}`, 'empty fields': `$POS,${ID}${many(',')}` },
  frames: [
    {
      title: 'positions of all types',
      frames: [
        {
          frame: `$POS,${ID},${PLACE},,,A/00000,00000/142,0,0,0/62792900//f69//#\n`,
          device: ID,
          fixes: [{ ...FIX, satellites: 9 }],
        },
        {
          frame: `$POS,${ID},${PLACE},,,A/00000,00000/142,0,0,0/62792900/0A1B2C3D/f69//#\n`,
          device: ID,
          fixes: [{ ...FIX, satellites: 9, said: { driver: '0A1B2C3D' } }],
        },
        {
          frame: `$PHO3821-1,${ID},${PLACE},,,A/00000,00000/0,0,0,0/500//fdb/\r`,
          device: ID,
          fixes: [{ ...FIX, satellites: 11 }],
        },
        {
          frame: `$STP,${ID},231530.000,A,5231.5000,n,01324.6000,e,,270.5,010524\r`,
          device: ID,
          fixes: [{ ...FIX, speed: undefined }],
        },
        { frame: `$IN1,${ID},${PLACE},,,A/10000,00000/0//\r`, device: ID, fixes: [FIX] },
        { frame: `$POS,${ID},231530.000,V,,,,,0.0,0,010524,,,N/00000/0//\r`, device: ID, none: 'no place' },
        {
          frame: `$HDA,${ID},231530.000,V,5231.5000,S,01324.6000,W,10.0,,010524,,,A/00010,00000/0/0/\r`,
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, heading: undefined, valid: false }],
        },
      ],
    },
    {
      title: 'no position',
      frames: [
        { frame: `$FUS${ID},510-V1.12,A11-V3.0\r`, device: ID, none: 'login' },
        { frame: '$PHD0,5,a\r\nb$', none: 'photo' },
        { frame: `$POS,${ID},231530\r`, error: 'truncated', envelope: { device: ID } },
        { frame: '$GP\r', error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'one hexadecimal digit, f for a whole battery, is a level and no voltage',
      says: eachPosition(({ said }) => ({ said: { ...said, batteryV: undefined } })),
    },
    {
      reason: 'this is a request for a part of a photo, not an answer to a position',
      frames: ['pt502-003', 'pt502-011'],
      says: { replies: [] },
    },
  ],
} satisfies ProtocolCases
