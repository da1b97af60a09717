import { knots } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { blanks: `1 ${many(' ')}`, 'one number': `1 1446536867 ${many('1')}` },
  frames: [
    {
      title: 'a position',
      transport: 'udp',
      frames: [
        {
          frame: 'phone 1795178119 52.52 -13.41 12 270 22 34 10 12 24 0 0',
          device: 'phone',
          reply: '1795178119',
          fixes: [
            {
              time: 1795178119000,
              latitude: 52.52,
              longitude: -13.41,
              speed: knots(12),
              heading: 270,
              accuracy: 22,
              altitude: 34,
              said: { battery_percent: 12, charging: false },
            },
          ],
        },
        {
          frame: 'phone 1795178119 52.52 -13.41 12 270 22 34',
          device: 'phone',
          reply: '1795178119',
          fixes: [
            {
              time: 1795178119000,
              latitude: 52.52,
              longitude: -13.41,
              speed: knots(12),
              heading: 270,
              accuracy: 22,
              altitude: 34,
            },
          ],
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no flag says that a fix is invalid, and nobody would ever see a position of this app',
      says: eachPosition(() => ({ valid: true })),
    },
  ],
} satisfies ProtocolCases
