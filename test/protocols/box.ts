import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: kmh(36), heading: 270 }

export default {
  costly: { commas: `L,261120150010,G${many(',')}\r`, 'one number': `L,261120150010,G,${many('1')}\r` },
  frames: [
    {
      title: 'a login, positions, the end',
      frames: [
        { frame: 'H,BT,N42,261120150000,D63E6DD9,6D6E6DC2,8944\r', device: 'N42', none: 'login' },
        {
          frame: 'L,261120150010,G,52.525,-13.41,36,270,0,1,3\r',
          fixes: [{ ...FIX, said: { ignition: true, moving: true } }],
        },
        {
          frame: 'L,261120150010,G,52.525,-13.41,36,270,0.12,53,20;A,0;D,0;I,0\r',
          fixes: [{ ...FIX, valid: false, said: { ignition: false, moving: false } }],
        },
        { frame: 'L,261120150010,G,52.525,-13.41,36,270;A,0\r', fixes: [FIX] },
        {
          frame: 'L,261120150010,G,52.525,-13.41,36,270,0,5,1\r',
          fixes: [{ ...FIX, said: { ignition: true, moving: false, alarms: ['sos'] } }],
        },
        { frame: 'H,BT,N42\r', device: 'N42', none: 'login' },
        { frame: 'L,261120150010,AI1,145.56\r', none: 'status' },
        { frame: 'L,261120150010,X\r' },
        { frame: 'E,7\r', none: 'status', reply: 'A,7\r' },
      ],
    },
  ],
} satisfies ProtocolCases
