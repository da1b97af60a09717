import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: kmh(36),
  heading: 270,
  satellites: 9,
}
const SAID = { ignition: false, charging: true, external_voltage: 12.16, battery_voltage: 4.16 }

export default {
  costly: { commas: `BSTPL$1,42${many(',')}#`, 'one number': `BSTPL$1,42,A,201126,150010,${many('1')}#` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: 'BSTPL$1,42,A,201126,150010,52.525000,N,13.410000,W,36,156,270,09,0,11,1,0,0,0,00.00#',
          device: '42',
          fixes: [FIX],
        },
        {
          frame: 'BSTPL$1,42,V,201126,150010,00.000000,0,00.00000,0,0,0,000,00,0,17,1,1#',
          device: '42',
          fixes: [
            {
              time: '2026-11-20T15:00:10Z',
              valid: false,
              latitude: 0,
              longitude: 0,
              speed: 0,
              heading: 0,
              satellites: 0,
            },
          ],
        },
        {
          frame:
            'BSTPL$1,42,A,201126,150010,52.525000,N,13.410000,W,36,156,270,09,0,11,1,0,0,0,0,00.00,04.16,15_V1,899,12.16#',
          device: '42',
          fixes: [{ ...FIX, said: SAID }],
        },
        {
          frame: 'BSTPL$1,42,A,201126,150010,52.525000,N,13.410000,W,36,156,270,09,20,0,04.16,1,0,12.16,0000,0,17L#',
          device: '42',
          fixes: [{ ...FIX, said: SAID }],
        },
        { frame: 'BSTPL$2,42,1#', device: '42' },
      ],
    },
  ],
} satisfies ProtocolCases
