import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const POSITION = '1,12.5,270,34.5,2,-13.41,52.52,20261120171418,0460,0000,18d8,6141,00'
const FIX = {
  time: '2026-11-20T17:14:18Z',
  latitude: 52.52,
  longitude: -13.41,
  altitude: 34.5,
  speed: kmh(12.5),
  heading: 270,
  hdop: 2,
}

export default {
  costly: {
    commas: `+RESP:GTTRI,${ID}${many(',')}\0`,
    'one number': `+RESP:GTTRI,${ID},1,0,${many('1')}\0`,
    'many positions': `+RESP:GTTRI,${ID},1,0${many(',0,1,1,1,1,1.1,1.1,20261120171418')}\0`,
  },
  frames: [
    {
      title: 'positions and a heartbeat',
      frames: [
        { frame: `+RESP:GTRTL,${ID},1,0,0,${POSITION},11F0,0102120204\0`, device: ID, fixes: [FIX] },
        {
          frame: `+RESP:GTLBC,${ID},0301234567,${POSITION.replace('1', '0')},11F0,0102120204\0`,
          device: ID,
          fixes: [FIX],
        },
        {
          frame: `+RESP:GTRTL,${ID},1,0,0,${POSITION.replace('1,12.5,270,34.5,2', '0,-1,270,34.5,0')},11F0,0102120204\0`,
          device: ID,
          fixes: [{ ...FIX, valid: false, speed: undefined, hdop: undefined }],
        },
        {
          frame: `+RESP:GTTRI,${ID},2,0,0,${POSITION},${POSITION.replace('18,', '48,')},11F0,0102120204\0`,
          device: ID,
          fixes: [FIX, { ...FIX, time: '2026-11-20T17:14:48Z' }],
        },
        {
          frame: `AT+GTHBD=HeartBeat,${ID},20261120171418,11F0,0102120204\0`,
          device: ID,
          none: 'heartbeat',
          reply: `+RESP:GTHBD,GPRS ACTIVE,HeartBeat,${ID},20261120171418,11F0\0`,
        },
        {
          frame: `+BUFF:GTRTL,${ID},1,0,0,${POSITION.replace('270,', '270.5,')},11F0,0102120204\0`,
          device: ID,
          fixes: [{ ...FIX, heading: 270.5 }],
        },
        {
          frame: `+RESP:GTSOS,${ID},0,0,0,${POSITION},11F0,0102120204\0`,
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['sos'] } }],
        },
        { frame: `+ACK:GTRTO,${ID},0,0102120204\0`, device: ID, none: 'command answer' },
        {
          frame: `+RESP:GTRTL,${ID},1,0,0,1,,,,,,,,0460,0000,18d8,6141,00,11F0,0102120204\0`,
          device: ID,
          none: 'no place',
        },
        { frame: `+RESP:GTPNA,${ID},20261120171418,11F0,0102070202\0`, device: ID, none: 'power' },
        {
          frame: `+RESP:GTPLA,${ID},20261120171418,11F0,0102070202\0`,
          device: ID,
          none: 'power',
          said: { alarms: ['low_battery'] },
        },
        { frame: `+RESP:GTCSQ,${ID},16,0,11F0\0`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the specification has km/h, and 1 for a fix; the peer reads knots, and 0',
      says: eachPosition(({ speedKnots }) => ({ speedKnots: speedKnots / 1.852, valid: true })),
    },
    {
      reason: 'a report has as many positions as its number says, and the peer reads the first',
      frames: ['gl100-004'],
      says: ({ positions }) => ({
        positions: [
          ...positions,
          {
            ...positions[0],
            time: '2009-01-01T00:01:00.000Z',
            lat: 31.22194,
            lon: 121.354442,
            altitude: 30,
            speedKnots: 0,
            course: 145,
          },
        ],
      }),
    },
    {
      reason: 'GTSOS is the report of the SOS button',
      frames: ['gl100-006'],
      says: eachPosition(({ said }) => ({ said: { ...said, alarms: ['sos'] } })),
    },
  ],
} satisfies ProtocolCases
