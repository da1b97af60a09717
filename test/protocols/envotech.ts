import { knots } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `$80SLM${many(',')}#`, digits: `$80SLM,62,F,AB1,1'${many('1')}#` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame:
            "$80SLM,62,000F,F015727,201126171420,611000000,126391,C080,000,80028900,85010000'20112617141815252000N01341000W036270*E0C2#",
          device: 'F015727',
          fixes: [
            {
              time: '2026-11-20T17:14:18Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: knots(36),
              heading: 270,
              said: { external_voltage: 12.6, battery_voltage: 3.91 },
            },
          ],
        },
        {
          frame: "$80SLM,62,000F,F015727,201126171420,611'20112617141835252000N01341000W036270@B0,F*E0C2#",
          device: 'F015727',
          fixes: [
            {
              time: '2026-11-20T17:14:18Z',
              latitude: 52.52,
              longitude: -13.41,
              speed: knots(36),
              heading: 270,
              valid: false,
            },
          ],
        },
        { frame: '$81XXX,1,2,F015727,1#', device: 'F015727' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the vehicle with this power has 12.6 V, not 1.26 V',
      says: eachPosition(({ said }) =>
        said?.powerV === undefined ? {} : { said: { ...said, powerV: said.powerV * 10 } },
      ),
    },
  ],
} satisfies ProtocolCases
