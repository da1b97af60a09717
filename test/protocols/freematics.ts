import { kmh, sum8 } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const FIX = {
  time: '2026-11-20T09:05:10.250Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: kmh(36),
  satellites: 9,
}

export default {
  costly: {
    'records without content': sealed(`1#${many('0:1,')}`),
    'keys without content': sealed(`1#${many('A:,')}`),
    'one number': sealed(`1#0:1,A:${many('1')},B:2`),
  },
  frames: [
    {
      title: 'a login, data of the feed that it is given, a logout',
      frames: [
        {
          frame: sealed('0#EV=1,TS=100,ID=ABC,SK=KEY'),
          device: 'ABC',
          none: 'login',
          reply: sealed('1#EV=1,RX=1,TS=100'),
        },
        {
          frame: sealed('1#0:100,20:0;0;0,10:9051025,A:52.525000,B:-13.410000,C:34,D:36,F:9,24:1420,0:200'),
          fixes: [{ ...FIX, said: { external_voltage: 14.2 } }],
        },
        { frame: sealed('1#0:300,24:1246'), none: 'no place', said: { external_voltage: 12.46 } },
        { frame: sealed('1#EV=2,TS=400,ID=ABC'), device: 'ABC', none: 'status', reply: sealed('1#EV=2,RX=1,TS=400') },
      ],
    },
    {
      title: 'data under an id, with a date and other signs',
      frames: [
        {
          frame: sealed('ABC#0=100,11=201126,10=9051025,A=52.525,B=-13.41,C=34,D=36,E=270,F=9,12=0.9'),
          device: 'ABC',
          fixes: [{ ...FIX, heading: 270, hdop: 0.9 }],
        },
        { frame: sealed('ABC#0=100,A=1,B=2').replace('=1,', '=3,'), error: 'checksum' },
      ],
    },
  ],
  corrections: [
    {
      reason: "the maker's firmware measures the battery of the vehicle",
      says: eachSaid(({ batteryV, ...rest }) => ({ ...rest, powerV: batteryV })),
    },
    {
      reason: 'a record without a latitude is no position',
      frames: ['freematics-006'],
      says: { positions: [] },
    },
    {
      reason: 'the device repeats every event until it is answered',
      frames: ['freematics-011'],
      says: { replies: [{ text: '1#EV=1,RX=1,TS=20866*B7' }] },
    },
  ],
} satisfies ProtocolCases

function sealed(text: string): string {
  return `${text}*${sum8(Buffer.from(text)).toString(16).toUpperCase()}`
}
