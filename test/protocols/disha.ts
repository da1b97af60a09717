import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '5231.5000#S#01324.6000#W#012.5#270#09#00.8#1800#0#000#0000#9999#11.7'
const FIX = {
  time: '2026-11-20T05:35:23Z',
  latitude: -52.525,
  longitude: -13.41,
  speed: knots(12.5),
  heading: 270,
  satellites: 9,
  hdop: 0.8,
  said: { charging: false, battery_percent: 0 },
}

export default {
  costly: { marks: `$A#A#${ID}${many('#')}*`, 'one number': `$A#A#${ID}#A#053523#010216#${many('1')}*` },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: `$A#A#${ID}#A#053523#201126#${PLACE}*`, device: ID, fixes: [FIX] },
        { frame: `$A#B#${ID}#V#053523#201126#${PLACE}*`, device: ID, fixes: [{ ...FIX, valid: false }] },
        {
          frame: `$A#A#${ID}#A#053523#201126#${PLACE.replace('1800#0#000', '3000#2#100')}*`,
          device: ID,
          fixes: [{ ...FIX, said: { charging: true, battery_percent: 100 } }],
        },
        { frame: `$B#A#${ID}#1*`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
