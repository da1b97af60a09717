import { knots } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const ID = '8800000001'
const V19: Readonly<Record<string, string>> = {
  'h02-018': '2017-04-20T21:44:52Z',
  'h02-033': '2017-02-10T10:37:32Z',
  'h02-047': '2016-09-13T09:30:43Z',
}
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: knots(12.5),
  heading: 270,
}
const OFF = { ignition: false }
const PARKED = { ...FIX, said: OFF }
const PLACE = 'A,5231.5000,N,01324.6000,E,12.5,270'

export default {
  costly: {
    'fields without content': `*HQ,1,V1${many(',')}#`,
    'a field without end': `*HQ,1,V1,1,A,${many('1')},N,1,E,1,1,1#`,
    'one number of hyphens': `*HQ,1,V1,1,A,-${many('1')},N,1,E,1,1,1#`,
  },
  frames: [
    {
      title: 'types that no document names, other makers, no end',
      frames: [
        {
          frame: `*XM,${ID},D1,101530,A,5231.5000,S,01324.6000,W,12.5,270,010524,FFFFFBFF,1,2,3#`,
          device: ID,
          fixes: [{ ...PARKED, latitude: -52.525, longitude: -13.41 }],
          reply: `*HQ,${ID},R12,120000#`,
        },
        {
          frame: `*HQ,${ID},BC,V,5231.5000,S,01324.6000,W,12.5,270,010524,1#`,
          device: ID,
          fixes: [{ ...FIX, time: '2024-05-01T00:00:00Z', latitude: -52.525, longitude: -13.41, valid: false }],
        },
        { frame: `*HQ,${ID},D1,101530,5,80#`, device: ID },
      ],
    },
    {
      title: 'positions as text and in packed decimals',
      frames: [
        {
          frame: `*HQ,${ID},V1,101530,A,5231.5000,N,01324.6000,E,012.50,270,010524,FFFFFBFF,262,1,0,0,6#`,
          device: ID,
          fixes: [PARKED],
          reply: `*HQ,${ID},V4,V1,20261120120000#`,
        },
        {
          frame: `*HQ,${ID},V1,101530,A,5231.5000,N,01324.6000,E,012.50,270,-12.5,010524,,262,1,#`,
          device: ID,
          fixes: [FIX],
          reply: `*HQ,${ID},V4,V1,20261120120000#`,
        },
        {
          frame: `*HQ,${ID},V1,101530,A,5231.5000,N,01324.6000,E,012.50,270,010524,,262,1,#`,
          device: ID,
          fixes: [FIX],
          reply: `*HQ,${ID},V4,V1,20261120120000#`,
        },
        {
          frame: `*HQ,${ID},V19,101530,V,5231.5000,N,01324.6000,E,012.50,270,010524,,00000000,895060300000000000,FFFFFBFF#`,
          device: ID,
          fixes: [{ ...PARKED, valid: false }],
          reply: `*HQ,${ID},R12,120000#`,
        },
        {
          frame: bytes(`24 ${ID} 101530 010524 52315000 06 013246000e 012270 fffffbff ff 0000`),
          device: ID,
          fixes: [{ ...FIX, speed: knots(12), said: { ...OFF, battery_percent: 100 } }],
          reply: `*HQ,${ID},R12,120000#`,
        },
        {
          frame: bytes(`24 ${ID} 101530 010524 52315000 57 013246000e 012270 ffe7ffdd ff 0000`),
          device: ID,
          fixes: [
            {
              ...FIX,
              speed: knots(12),
              said: { ignition: true, battery_percent: 87, alarms: ['sos', 'power_cut', 'gps_antenna_cut'] },
            },
          ],
          reply: `*HQ,${ID},R12,120000#`,
        },
        {
          frame: bytes(`24 ${ID} 101530 010524 52315000 06 013246000e ffffff fffffbff ff 0000`),
          device: ID,
          fixes: [{ ...FIX, speed: undefined, heading: undefined, said: { ...OFF, battery_percent: 100 } }],
          reply: `*HQ,${ID},R12,120000#`,
        },
        {
          frame: bytes(`24 ${ID} 101530 310224 52315000 06 013246000e 012270 fffffbff ff 0000`),
          error: 'malformed',
          envelope: { device: ID, reply: `*HQ,${ID},R12,120000#` },
        },
      ],
    },
    {
      title: 'alarms, positions of the past, answers to commands, states without a position',
      frames: [
        {
          frame: `*HQ,${ID},ALRM,1,101530,${PLACE},010524,FFFFFFFE,1CC,0,25FC,F48,90#`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, alarms: ['sos', 'vibration'] } }],
          reply: `*HQ,${ID},R12,120000#`,
        },
        {
          frame: `*HQ,${ID},BC,101530,138,${PLACE},01101530,FFFFFFFF,262,1,1,1;${PLACE}, 21101530,FFFFFBFF,262,1,1,1#`,
          device: ID,
          fixes: [
            { ...FIX, time: '2026-11-01T10:15:30Z', said: { ignition: true } },
            { ...PARKED, time: '2026-11-21T10:15:30Z' },
          ],
        },
        {
          frame: `*HQ,${ID},BC,101530,138,${PLACE},22101530,FFFFFBFF#`,
          device: ID,
          fixes: [{ ...PARKED, time: '2026-10-22T10:15:30Z' }],
        },
        {
          frame: `*HQ,${ID},V4,SF,101530,${PLACE},010524,FFFFFBFF,262,1,1,1#`,
          device: ID,
          fixes: [PARKED],
          reply: `*HQ,${ID},R12,120000#`,
        },
        {
          frame: `*HQ,${ID},V1,101530,${PLACE},010524,FFFBFFFF,99,3,262,1,1,1#`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, battery_percent: 100, alarms: ['sos'] } }],
          reply: `*HQ,${ID},V4,V1,20261120120000#`,
        },
        {
          frame: `*HQ,${ID},VP1,${PLACE},010524,FFFFFFFF,90#`,
          device: ID,
          fixes: [{ ...FIX, time: '2024-05-01T00:00:00Z', said: { ignition: true, battery_percent: 90 } }],
        },
        {
          frame: `*HQ,${ID},HTBT,85#`,
          device: ID,
          none: 'heartbeat',
          said: { battery_percent: 85 },
          reply: `*HQ,${ID},HTBT#`,
        },
        {
          frame: `*HQ,${ID},LINK,101530,20,8,67,0,0,010524,FFFFFBFF#`,
          device: ID,
          none: 'status',
          said: { ...OFF, battery_percent: 67 },
        },
        {
          frame: `*HQ,${ID},NBR,101530,262,3,0,1,431,17003,26,010524,FFFFFBFF,2#`,
          device: ID,
          none: 'cells',
          said: OFF,
          reply: `*HQ,${ID},V4,NBR,20261120120000#`,
        },
        { frame: `*HQ,${ID},XT#`, device: ID, none: 'status' },
        {
          frame: `*HQ,${ID},V3,101530,26201,01,010278,045142,128,-92,02DE,0,X,010524,FFFFFBFF#`,
          device: ID,
          none: 'cells',
          said: OFF,
        },
      ],
    },
    {
      title: 'a status that was never filled in, and numbers that are no status',
      frames: [
        {
          frame: `*HQ,${ID},V1,101530,${PLACE},010524,00000000,262,1,0,0,6#`,
          device: ID,
          fixes: [FIX],
          reply: `*HQ,${ID},V4,V1,20261120120000#`,
        },
        {
          frame: bytes(`24 ${ID} 101530 010524 52315000 06 013246000e 012270 00000000 ff 0000`),
          device: ID,
          fixes: [{ ...FIX, speed: knots(12), said: { battery_percent: 100 } }],
          reply: `*HQ,${ID},R12,120000#`,
        },
        {
          frame: `*HQ,${ID},V1,101530,${PLACE},010524,262,01,10342,12345678#`,
          device: ID,
          fixes: [FIX],
          reply: `*HQ,${ID},V4,V1,20261120120000#`,
        },
        {
          frame: `*HQ,${ID},V1,101530,${PLACE},010524,262,123456,12345678,1#`,
          device: ID,
          fixes: [FIX],
          reply: `*HQ,${ID},V4,V1,20261120120000#`,
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'V3: 734 and 740 are no volts, and their unit is not known',
      frames: ['h02-025', 'h02-046'],
      says: eachSaid((each) => ({ ...each, batteryV: undefined })),
    },
    {
      reason: 'V19 has a time and a date of its own; the frames around one are of the same second',
      frames: Object.keys(V19),
      says: eachPosition((_, { id }) => ({ time: V19[id], timeIsNow: undefined })),
    },
  ],
} satisfies ProtocolCases
