import { kmh, knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { latitude: 52.525, longitude: -13.41, heading: 270 }

export default {
  costly: { dollars: `${ID}${many('$')}`, 'one number': `MT;6;${ID};R0;10+190109091803+${many('1')}` },
  frames: [
    {
      title: 'positions and reports without one',
      frames: [
        {
          frame: `MT;6;${ID};R0;10+261120091803+52.525+-13.41+36+270+2+3744+113`,
          device: ID,
          fixes: [
            { ...FIX, time: '2026-11-20T09:18:03Z', speed: kmh(36), satellites: 10, said: { battery_voltage: 3.744 } },
          ],
        },
        {
          frame: `MT;6;${ID};Y0;10+261120091803+52.525+-13.41+36+270`,
          device: ID,
          fixes: [{ ...FIX, time: '2026-11-20T09:18:03Z', speed: kmh(36), satellites: 10 }],
        },
        ...['3.7V', '37440', ''].map((battery) => ({
          frame: `MT;6;${ID};R0;10+261120091803+52.525+-13.41+36+270+2+${battery}+113`,
          device: ID,
          fixes: [{ ...FIX, time: '2026-11-20T09:18:03Z', speed: kmh(36), satellites: 10 }],
        })),
        {
          frame: `MT;6;${ID};R1;261120091803+6a:db:54:5a:79:6d,-91+3+3831+0`,
          device: ID,
          none: 'wifi',
          said: { battery_voltage: 3.831 },
        },
        {
          frame: `MT;1;${ID};R2;261120091803+0,21681,20616,460+4+3976+0`,
          device: ID,
          none: 'cells',
          said: { battery_voltage: 3.976 },
        },
        {
          frame: `MT;5;${ID};RH;5+261120091803+0+0+0+0+11+3954+1`,
          device: ID,
          none: 'heartbeat',
          said: { battery_voltage: 3.954 },
        },
        { frame: `MT;1;${ID};R2;261120091803`, device: ID, none: 'cells' },
        { frame: `MT;5;${ID};Z9;1`, device: ID },
        { frame: `${ID}$091803.00,V,,,,,,,,201126`, device: ID, none: 'no place' },
        { frame: 'mode=Success!', none: 'command answer' },
        {
          frame: `${ID}$091803.00,A,5231.5000,N,01324.6000,W,12.5,270,34.5,201126$091903.00,V,5231.5000,N,01324.6000,W,12.5,270,34.5,201126`,
          device: ID,
          fixes: [
            { ...FIX, time: '2026-11-20T09:18:03Z', speed: knots(12.5), altitude: 34.5 },
            { ...FIX, time: '2026-11-20T09:19:03Z', speed: knots(12.5), altitude: 34.5, valid: false },
          ],
        },
      ],
    },
  ],
} satisfies ProtocolCases
