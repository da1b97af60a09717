import { mph } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const DATE = '2026/11/20,17:14:18'
const FIX = {
  time: '2026-11-20T17:14:18Z',
  latitude: 52.52,
  longitude: -13.41,
  altitude: 34.5,
  speed: mph(36),
  heading: 270,
  satellites: 9,
  hdop: 0.8,
}

const VOLTS = { ...FIX, said: { external_voltage: 11.1 } }

export default {
  costly: { commas: `$$${ID},4001${many(',')}##`, 'one number': `$$${ID},4001,${DATE},${many('1')}##` },
  frames: [
    {
      title: 'positions',
      transport: 'udp',
      frames: [
        {
          frame: `$$${ID},4001,${DATE},52.52,-13.41,34.5,36,0,0,598,270,9,0.8,765840,7.0,14.5,19##`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, external_voltage: 14.5 } }],
          reply: '!UDP_ACK,4001,19',
        },
        {
          frame: `$$${ID},6001,${DATE},52.52,-13.41,34.5,36,270.0,9,0.8,11.1,17##`,
          device: ID,
          fixes: [VOLTS],
          reply: '!UDP_ACK,6001,17',
        },
        {
          frame: `$$${ID},6001,${DATE},52.52,-13.41,34.5,36,270.0,9,1,11.1,17,1,1,3.9,2##`,
          device: ID,
          fixes: [{ ...VOLTS, hdop: 1 }],
          reply: '!UDP_ACK,6001,2',
        },
        {
          frame: `$$${ID},4002,11/20/2026,17:14:18,52.52,-13.41,34.5,36,270.0,9,0.8,11.1,17##`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false, external_voltage: 11.1 } }],
          reply: '!UDP_ACK,4002,17',
        },
        {
          frame: `$$${ID},6031,${DATE},52.52,-13.41,34.5,36,0,0,598,270,9,0.8##`,
          device: ID,
          fixes: [{ ...FIX, said: { moving: false } }],
        },
        {
          frame: `$$${ID},4001,${DATE},52.52,-13.41,34.5,36,0,0,598,270,9,0.8,765840,7.0,14.5V,19##`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
          reply: '!UDP_ACK,4001,19',
        },
        { frame: `$$${ID},6115,Y1##`, device: ID },
        { frame: `$$${ID},6115,Y1,7##`, device: ID, reply: '!UDP_ACK,6115,7' },
        {
          frame: `$$${ID},4006,11/20/2026;17:14:18,52520000,-13410000,345,36,27,9,8,14659,5,0,3,2##`,
          device: ID,
          fixes: [{ ...FIX, speed: undefined, heading: undefined, said: { external_voltage: 14.659 } }],
          reply: '!UDP_ACK,4006,2',
        },
        {
          frame: `$$${ID},6017,${DATE},52.52,-13.41,34.5,36,270.0,9,0.8,11.1,17##`,
          device: ID,
          fixes: [{ ...FIX, said: { external_voltage: 11.1, alarms: ['tow'] } }],
          reply: '!UDP_ACK,6017,17',
        },
        {
          frame: '$$4242????????&A9955&B150010.000,A,5231.5000,N,01324.6000,W,12.50,270.00,201126##',
          error: 'unsupported',
        },
      ],
    },
    {
      title: 'positions of a form',
      settings: { form: 'UID,EV,T,D,LN,LT,SV,BV' },
      frames: [
        {
          frame: `$$${ID},4001,17:14:18,11/20/2026,-13.41,52.52,9,12.5##`,
          device: ID,
          fixes: [
            {
              time: FIX.time,
              latitude: 52.52,
              longitude: -13.41,
              satellites: 9,
              said: { ignition: true, external_voltage: 12.5 },
            },
          ],
        },
        {
          frame: `$$${ID},6001,17:14:18,11/20/2026,-13.41,52.52,9,12.5V##`,
          device: ID,
          fixes: [{ time: FIX.time, latitude: 52.52, longitude: -13.41, satellites: 9 }],
        },
        {
          frame: `$$${ID},6001,17:14:18,2026/11/20,-13.41,52.52,9##`,
          device: ID,
          fixes: [{ time: FIX.time, latitude: 52.52, longitude: -13.41, satellites: 9 }],
        },
        { frame: `$$${ID},6115,Y1##`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the name BV of the form, and 9 to 14.5 V, say that it is the battery of the vehicle',
      says: eachPosition(({ said }) => ({ said: { ...said, batteryV: undefined, powerV: said?.batteryV } })),
    },
    {
      reason:
        'this frame has the fields of the newer layout: the peer reads it by the order that it took from the one before',
      frames: ['xirgo-013'],
      says: eachPosition(({ said }) => ({ valid: true, hdop: 1.2, sat: 7, said: { ...said, powerV: 12.2 } })),
    },
  ],
} satisfies ProtocolCases
