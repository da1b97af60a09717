import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: 25.27973,
  speed: (12 / 3600) * 1852,
  altitude: 120,
  satellites: 8,
}

/** What the state behind a place has, of a card, external power and a battery. */
const STATE = '00000000001AF0C2,000,000,0,0,1,1213,0,416,0,255'

export default {
  costly: {
    'records without content': `$GPRMC,15,04,H,#,${many(',#,#,')}`,
    'one long record': `$GPRMC,15,04,H,#,${record('063015', 'A')}${many(',%')}`,
  },
  frames: [
    {
      title: 'login, positions, one cut off',
      frames: [
        {
          frame: `$GPRMC,12,201126,063000,${ID},\r\n`,
          device: ID,
          none: 'login',
          reply: answer('12'),
        },
        {
          frame: `$GPRMC,15,02,H,#,${record('063015', 'A')},#,${record('063016', 'V')}\r\n`,
          fixes: [FIX, { ...FIX, time: '2026-11-20T06:30:16Z', valid: false }],
          reply: answer('15'),
        },
        {
          frame: `$GPRMC,15,02,L,#,${record('063015', 'A')},#,${record('063016', 'A').slice(0, 80)}\r\n`,
          fixes: [FIX],
          unreadable: [1],
          reply: answer('15'),
        },
        {
          frame: `$GPRMC,15,01,L,#,${record('063015', 'A', STATE)}\r\n`,
          fixes: [{ ...FIX, said: { driver: '00000000001AF0C2', external_voltage: 12.13, battery_voltage: 4.16 } }],
          reply: answer('15'),
        },
        {
          frame: `$GPRMC,15,01,H,#,${record('063015', 'V').replace('5441.2323,N,02516.7838,E', ',,,')}\r\n`,
          none: 'no place',
          reply: answer('15'),
        },
        { frame: '$GPRMC,44,1\r\n', reply: answer('44') },
      ],
    },
    { title: 'positions before the login', frames: [{ frame: '$GPRMC,44,1\r\n' }] },
  ],
} satisfies ProtocolCases

function record(time: string, valid: string, state = '0000000000000000,000,000,0,0,1,,,,F3VF01,00000000'): string {
  const place = `${time},${valid},5441.2323,N,02516.7838,E,012,201126,0120,08`
  return `${place},1,00011,%,${state},%,#`
}

function answer(type: string): string {
  return `$GPRMC,${type},201126,120000,${ID},\r\n`
}
