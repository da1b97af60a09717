import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2026-11-20T11:44:18Z',
  latitude: 52.52,
  longitude: -13.41,
  speed: kmh(36),
  heading: 270,
  altitude: 34,
  satellites: 9,
}

export default {
  costly: { commas: `$SIWI,2845${many(',')}\n`, 'one number': `$SIWI,2845,1320,Q,10,a,1,1,0,0,1,${many('1')}\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame:
            '$SIWI,2845,1320,Q,10,airtelgprs.com,1,1,0,0,876578,36,9,A,52.52,-13.41,34,270,171418,201126,22,5,1,0,3700,1.1,4.0,1!\r\n',
          device: '2845',
          fixes: [{ ...FIX, said: { ignition: true, battery_voltage: 3.7 } }],
        },
        {
          frame: '$RTPL,2845,45,E,,8991,0,1,0,12.36,14,36,9,V,52.52,-13.41,34,270,171418,201126,17,1\r\n',
          device: '2845',
          fixes: [{ ...FIX, valid: false, said: { ignition: false } }],
        },
        { frame: '$SIWI,2845,1!\r\n', device: '2845' },
      ],
    },
    {
      title: 'a position with a zone of its own',
      settings: { timeZone: 'Europe/Berlin' },
      frames: [
        {
          frame: '$SIWI,2845,1320,Q,10,,1,1,0,0,876578,36,9,A,52.52,-13.41,34,270,171418,201126,22!\r\n',
          device: '2845',
          fixes: [{ ...FIX, time: '2026-11-20T17:14:18Z', said: { ignition: true } }],
        },
      ],
    },
  ],
} satisfies ProtocolCases
